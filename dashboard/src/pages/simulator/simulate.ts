import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, errorText } from '../../api.ts';
import { useToast } from '../../components/toast.tsx';

export type Action = Omit<Parameters<typeof api.sessions.simulate>[0], 'sessionId'>;

/** Plays the other side of a session, and reads again what may have changed by it. Rejects when it was refused. */
export function useSimulate(sessionId: string): (...actions: readonly Action[]) => Promise<void> {
  const queries = useQueryClient();
  return async (...actions) => {
    try {
      for (const action of actions) await api.sessions.simulate({ sessionId, ...action });
    } finally {
      refresh();
    }
  };

  function refresh() {
    for (const resource of ['messages', 'chats', 'groups', 'sessions', 'contacts'])
      void queries.invalidateQueries({ queryKey: [resource] });
  }
}

/** The same for a button: what happened, or why it did not, is said. */
export function useSimulateButton(sessionId: string) {
  const simulate = useSimulate(sessionId);
  const toast = useToast();
  return useMutation({
    mutationFn: ({ action }: { readonly action: Action | readonly Action[]; readonly done?: string }) =>
      simulate(...[action].flat()),
    onSuccess: (_, { done }) => done !== undefined && toast(done),
    onError: (error) => toast(errorText(error), 'bad'),
  });
}
