import type { Session } from '@switchboard/sdk/api';
import { RadioTower } from 'lucide-react';
import { sessionName } from '../../model/sessions.ts';
import { chatStrings } from '../../strings/chats.ts';
import { sessionStrings } from '../../strings/sessions.ts';
import { LinkButton } from '../linkButton.tsx';
import { Empty } from '../page/states.tsx';

/** Selects the session of the page. */
export function SessionSelect({
  sessions,
  chosen,
  onChoose,
}: {
  readonly sessions: readonly Session[];
  readonly chosen: Session | undefined;
  readonly onChoose: (sessionId: string) => void;
}) {
  const isListed = sessions.some(({ sessionId }) => sessionId === chosen?.sessionId);
  return (
    <select
      aria-label={chatStrings.session}
      value={chosen?.sessionId ?? ''}
      onChange={(event) => onChoose(event.currentTarget.value)}
      className="h-10 max-w-72 rounded-lg border border-line-strong bg-surface px-3 text-sm"
    >
      {!isListed && (
        <option value={chosen?.sessionId ?? ''}>
          {chosen === undefined ? chatStrings.chooseSession : sessionName(chosen)}
        </option>
      )}
      {sessions.map((session) => (
        <option key={session.sessionId} value={session.sessionId}>
          {sessionName(session)}
        </option>
      ))}
    </select>
  );
}

/** The empty state of a page about a session: the account has none, or not the one in the address. */
export function NoSession({ isUnknown = false }: { readonly isUnknown?: boolean }) {
  if (isUnknown) return <Empty icon={<RadioTower />} title={sessionStrings.notFound} />;
  return (
    <Empty
      icon={<RadioTower />}
      title={chatStrings.noSession}
      action={
        <LinkButton to="/sessions" look="primary">
          {chatStrings.toSessions}
        </LinkButton>
      }
    >
      {chatStrings.noSessionHint}
    </Empty>
  );
}
