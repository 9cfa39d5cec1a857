import type { Group, Session } from '@switchboard/sdk/api';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { Plus, Users } from 'lucide-react';
import { useMemo, useState } from 'react';
import { api } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { type Column, DataTable, rowLinkClass } from '../../components/dataTable.tsx';
import { Card, Page } from '../../components/layout.tsx';
import { NoSession, SessionSelect } from '../../components/sessionSelect.tsx';
import { Empty, Loaded } from '../../components/states.tsx';
import { Time } from '../../components/time.tsx';
import { useChosenSession } from '../../model/sessions.ts';
import { usePaged } from '../../paged.ts';
import { groupWords } from '../../strings/groups.ts';
import { CreateGroup } from './createGroup.tsx';
import { JoinGroup } from './joinGroup.tsx';

const route = getRouteApi('/shell/groups');

export function GroupsPage() {
  const { session: wanted } = route.useSearch();
  const [open, setOpen] = useState<'create' | 'join'>();
  const navigate = useNavigate();
  const { sessions, query } = useChosenSession(wanted);
  const chosen = query.data?.chosen;
  const close = () => setOpen(undefined);

  return (
    <Page
      title={groupWords.title}
      lead={groupWords.lead}
      actions={
        <>
          {query.data !== undefined && sessions.length > 0 && (
            <SessionSelect
              sessions={sessions}
              chosen={chosen}
              onChoose={(session) => navigate({ to: '/groups', search: { session } })}
            />
          )}
          {chosen !== undefined && (
            <>
              <Button onClick={() => setOpen('join')}>{groupWords.join}</Button>
              <Button look="primary" icon={<Plus className="size-4" />} onClick={() => setOpen('create')}>
                {groupWords.create}
              </Button>
            </>
          )}
        </>
      }
    >
      <Card flush>
        <Loaded query={query}>
          {() =>
            chosen === undefined ? <NoSession wanted={wanted} /> : <Groups key={chosen.sessionId} session={chosen} />
          }
        </Loaded>
      </Card>
      {chosen !== undefined && (
        <>
          <CreateGroup sessionId={chosen.sessionId} open={open === 'create'} onClose={close} />
          <JoinGroup sessionId={chosen.sessionId} open={open === 'join'} onClose={close} />
        </>
      )}
    </Page>
  );
}

function Groups({ session }: { readonly session: Session }) {
  const { sessionId, phoneNumber } = session;
  const groups = usePaged(['groups', 'of', sessionId], (page) => api.groups.list({ sessionId, ...page }));
  const columns = useMemo(() => columnsFor(phoneNumber), [phoneNumber]);
  return (
    <Loaded query={groups}>
      {() => (
        <DataTable
          label={groupWords.list}
          columns={columns}
          rows={groups.rows}
          rowKey={({ groupId }) => groupId}
          more={groups.more}
          empty={
            <Empty icon={<Users />} title={groupWords.empty}>
              {groupWords.emptyHint}
            </Empty>
          }
        />
      )}
    </Loaded>
  );
}

function columnsFor(ownNumber: string | null): readonly Column<Group>[] {
  return [
    {
      id: 'subject',
      header: groupWords.subject,
      width: 'minmax(0, 1fr)',
      cell: ({ groupId, subject }) => (
        <Link to="/groups/$groupId" params={{ groupId }} className={rowLinkClass}>
          {subject}
        </Link>
      ),
    },
    {
      id: 'members',
      header: groupWords.members,
      width: '6rem',
      cell: ({ participants }) => participants.length.toLocaleString('en'),
    },
    {
      id: 'role',
      header: groupWords.role,
      width: '11rem',
      wideOnly: true,
      cell: ({ participants }) => {
        const own = participants.find(({ phoneNumber }) => phoneNumber === ownNumber);
        return own === undefined ? groupWords.notMember : groupWords.roles[own.role];
      },
    },
    {
      id: 'since',
      header: groupWords.since,
      width: '9rem',
      wideOnly: true,
      cell: ({ createdAt }) => <Time at={createdAt} as="date" />,
    },
  ];
}
