import type { Session } from '@switchboard/sdk/api';
import { LinkButton } from '../../components/linkButton.tsx';
import { Card } from '../../components/page/layout.tsx';
import { SessionStatus } from '../../components/session/sessionStatus.tsx';
import { sessionStatusLabels } from '../../strings/sessionStatus.ts';
import { overviewStrings } from './strings.ts';

/** The number of sessions by status. */
export function SessionsCard({ sessions }: { readonly sessions: readonly Session[] }) {
  const counts = Object.keys(sessionStatusLabels)
    .map((status) => [status, sessions.filter((session) => session.status === status).length] as const)
    .filter(([, count]) => count > 0);
  return (
    <Card
      title={overviewStrings.sessions}
      actions={
        <LinkButton to="/sessions" size="small">
          {overviewStrings.allSessions}
        </LinkButton>
      }
    >
      {counts.length === 0 ? (
        <p className="text-sm text-ink-soft">{overviewStrings.noSession}</p>
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
