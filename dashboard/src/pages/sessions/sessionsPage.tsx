import type { Session } from '@switchboard/sdk/api';
import { Link } from '@tanstack/react-router';
import { RadioTower } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../api.ts';
import { type Column, rowLinkClass } from '../../components/page/dataTable.tsx';
import { ListPage } from '../../components/page/listPage.tsx';
import { SessionRisk } from '../../components/session/sessionRisk.tsx';
import { SessionStatus } from '../../components/session/sessionStatus.tsx';
import { Time } from '../../components/text/time.tsx';
import { useLivePaged } from '../../live/livePaged.ts';
import { displayName } from '../../model/displayName.ts';
import { sessionStrings } from '../../strings/sessions.ts';
import { networkName } from './connectors.ts';
import { CreateSession } from './createSession.tsx';

const columns: readonly Column<Session>[] = [
  {
    id: 'name',
    header: sessionStrings.name,
    width: 'minmax(0, 1fr)',
    cell: ({ sessionId, name, phoneNumber }) => (
      <Link to="/sessions/$sessionId" params={{ sessionId }} className={rowLinkClass}>
        {(name && displayName(name)) || (phoneNumber === null ? sessionStrings.unnamed : `+${phoneNumber}`)}
      </Link>
    ),
  },
  {
    id: 'number',
    header: sessionStrings.phoneNumber,
    width: '10rem',
    wideOnly: true,
    cell: ({ phoneNumber }) => (phoneNumber === null ? sessionStrings.noNumber : `+${phoneNumber}`),
  },
  {
    id: 'network',
    header: sessionStrings.network,
    width: '12rem',
    wideOnly: true,
    cell: ({ connector }) => networkName(connector),
  },
  {
    id: 'last',
    header: sessionStrings.lastEvent,
    width: '7rem',
    wideOnly: true,
    cell: ({ lastEventAt }) => <Time at={lastEventAt} as="relative" />,
  },
  {
    id: 'status',
    header: sessionStrings.status,
    width: '12rem',
    cell: ({ status, health }) => (
      <div className="grid gap-1">
        <SessionStatus status={status} />
        <SessionRisk health={health} />
      </div>
    ),
  },
];

const REFRESH_MS = 5000;
/** Two lines: the status, and the risk of a ban. */
const ROW_HEIGHT = 64;
const idOf = ({ sessionId }: Session) => sessionId;

export function SessionsPage() {
  const sessions = useLivePaged({
    key: ['sessions'],
    read: (page) => api.sessions.list(page),
    idOf,
    // Not every step of connecting causes an event.
    everyMs: REFRESH_MS,
  });
  const [isCreating, setCreating] = useState(false);

  return (
    <ListPage
      strings={sessionStrings}
      icon={<RadioTower />}
      list={sessions}
      columns={columns}
      rowKey={idOf}
      rowHeight={ROW_HEIGHT}
      onCreate={() => setCreating(true)}
    >
      <CreateSession open={isCreating} onClose={() => setCreating(false)} />
    </ListPage>
  );
}
