import { api } from '../../api.ts';
import { useAction, useRefresh } from '../../model/actions.ts';

export type Action = Omit<Parameters<typeof api.sessions.simulate>[0], 'sessionId'>;

/** The resources that an action of the other side may change. */
const RESOURCES = ['messages', 'chats', 'groups', 'sessions', 'contacts'];

/** Plays the other side of a session. Rejects if the server refuses an action. */
export function useSimulate(sessionId: string): (action: Action) => Promise<void> {
  const refresh = useRefresh();
  return async (action) => {
    try {
      await api.sessions.simulate({ sessionId, ...action });
    } finally {
      void refresh(...RESOURCES);
    }
  };
}

/** Plays the other side from a button or a menu item, and reports in a toast how it went. */
export function useSimulateAction(sessionId: string) {
  const { run, isPending } = useAction(...RESOURCES);
  return {
    isPending,
    run: (actions: Action | readonly Action[], done?: string) =>
      run(async () => {
        for (const action of [actions].flat()) await api.sessions.simulate({ sessionId, ...action });
      }, done),
  };
}
