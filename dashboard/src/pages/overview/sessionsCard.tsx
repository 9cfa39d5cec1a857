import type { Session } from '@switchboard/sdk/api';
import { Card } from '../../components/layout.tsx';
import { LinkButton } from '../../components/linkButton.tsx';
import { SessionStatus } from '../../components/sessionStatus.tsx';
import { overviewWords } from '../../strings/overview.ts';
import { sessionStatusWords } from '../../strings/sessionStatus.ts';

/** The number of sessions by status. */
export function SessionsCard({ sessions }: { readonly sessions: readonly Session[] }) {
  const counts = Object.keys(sessionStatusWords)
    .map((status) => [status, sessions.filter((session) => session.status === status).length] as const)
    .filter(([, count]) => count > 0);
  return (
    <Card
      title={overviewWords.sessions}
      actions={
        <LinkButton to="/sessions" size="small">
          {overviewWords.allSessions}
        </LinkButton>
      }
    >
      {counts.length === 0 ? (
        <p className="text-sm text-ink-soft">{overviewWords.noSession}</p>
      ) : (
        <ul className="grid gap-2">
          {counts.map(([status, count]) => (
            <li key={status} className="flex items-center justify-between gap-4">
              <SessionStatus status={status} />
              <span className="font-medium tabular-nums">{count.toLocaleString('en')}</span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
