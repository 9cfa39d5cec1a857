import type { Session } from '@switchboard/sdk/api';
import { Link } from '@tanstack/react-router';
import { Plus, RadioTower } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { type Column, DataTable, rowLinkClass } from '../../components/dataTable.tsx';
import { Card, Page } from '../../components/layout.tsx';
import { SessionStatus } from '../../components/sessionStatus.tsx';
import { Empty, Loaded } from '../../components/states.tsx';
import { Time } from '../../components/time.tsx';
import { useLivePaged } from '../../livePaged.ts';
import { sessionWords } from '../../strings/sessions.ts';
import { words } from '../../strings/shared.ts';
import { networkName } from './connectors.ts';
import { CreateSession } from './createSession.tsx';

const columns: readonly Column<Session>[] = [
  {
    id: 'name',
    header: sessionWords.name,
    width: 'minmax(0, 1fr)',
    cell: ({ sessionId, name, phoneNumber }) => (
      <Link to="/sessions/$sessionId" params={{ sessionId }} className={rowLinkClass}>
        {name ?? (phoneNumber === null ? sessionWords.unnamed : `+${phoneNumber}`)}
      </Link>
    ),
  },
  {
    id: 'number',
    header: sessionWords.phoneNumber,
    width: '10rem',
    wideOnly: true,
    cell: ({ phoneNumber }) => (phoneNumber === null ? sessionWords.noNumber : `+${phoneNumber}`),
  },
  {
    id: 'network',
    header: sessionWords.network,
    width: '12rem',
    wideOnly: true,
    cell: ({ connector }) => networkName(connector),
  },
  {
    id: 'last',
    header: sessionWords.lastEvent,
    width: '7rem',
    wideOnly: true,
    cell: ({ lastEventAt }) => (lastEventAt === null ? words.never : <Time at={lastEventAt} as="relative" />),
  },
  {
    id: 'status',
    header: sessionWords.status,
    width: '10rem',
    cell: ({ status }) => <SessionStatus status={status} />,
  },
];

const REFRESH_MS = 5000;
const idOf = ({ sessionId }: Session) => sessionId;

export function SessionsPage() {
  const sessions = useLivePaged({
    key: ['sessions'],
    read: (page) => api.sessions.list(page),
    idOf,
    // Not every step of connecting is an event.
    everyMs: REFRESH_MS,
  });
  const [isCreating, setCreating] = useState(false);
  const create = (
    <Button look="primary" icon={<Plus className="size-4" />} onClick={() => setCreating(true)}>
      {sessionWords.create}
    </Button>
  );

  return (
    <Page title={sessionWords.title} lead={sessionWords.lead} actions={sessions.rows.length > 0 && create}>
      <Card flush>
        <Loaded query={sessions}>
          {() => (
            <DataTable
              label={sessionWords.list}
              columns={columns}
              rows={sessions.rows}
              rowKey={idOf}
              more={sessions.more}
              empty={
                <Empty icon={<RadioTower />} title={sessionWords.empty} action={create}>
                  {sessionWords.emptyHint}
                </Empty>
              }
            />
          )}
        </Loaded>
      </Card>
      <CreateSession open={isCreating} onClose={() => setCreating(false)} />
    </Page>
  );
}
