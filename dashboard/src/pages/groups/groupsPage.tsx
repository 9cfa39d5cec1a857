import type { Group, Session } from '@switchboard/sdk/api';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { Plus, Users } from 'lucide-react';
import { useMemo, useState } from 'react';
import { api } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog/dialog.tsx';
import { type Column, rowLinkClass } from '../../components/page/dataTable.tsx';
import { Card } from '../../components/page/layout.tsx';
import { ListTable } from '../../components/page/listPage.tsx';
import { Empty } from '../../components/page/states.tsx';
import { SessionScopedPage } from '../../components/session/sessionScopedPage.tsx';
import { Time } from '../../components/text/time.tsx';
import { displayName } from '../../model/displayName.ts';
import { usePaged } from '../../paged.ts';
import { chatStrings } from '../../strings/chats.ts';
import { useAbilities } from './abilities.ts';
import { CreateGroup } from './createGroup.tsx';
import { JoinGroup } from './joinGroup.tsx';
import { groupStrings } from './strings.ts';

const route = getRouteApi('/shell/groups');

export function GroupsPage() {
  const { session: wanted } = route.useSearch();
  const [open, setOpen] = useState<'create' | 'join'>();
  const navigate = useNavigate();
  const close = () => setOpen(undefined);

  return (
    <SessionScopedPage
      strings={groupStrings}
      wanted={wanted}
      onChoose={(session) => navigate({ to: '/groups', search: { session } })}
      actions={({ sessionId }) => (
        <>
          <JoinButton sessionId={sessionId} onOpen={() => setOpen('join')} />
          <Button look="primary" icon={<Plus className="size-4" />} onClick={() => setOpen('create')}>
            {groupStrings.create}
          </Button>
          <Dialog title={groupStrings.createTitle} open={open === 'create'} onOpenChange={close}>
            <CreateGroup sessionId={sessionId} onClose={close} />
          </Dialog>
          <Dialog title={groupStrings.joinTitle} open={open === 'join'} onOpenChange={close}>
            <JoinGroup sessionId={sessionId} onClose={close} />
          </Dialog>
        </>
      )}
    >
      {(session) => <Groups key={session.sessionId} session={session} />}
    </SessionScopedPage>
  );
}

function Groups({ session }: { readonly session: Session }) {
  const { sessionId, phoneNumber } = session;
  const groups = usePaged(['groups', 'of', sessionId], (page) => api.groups.list({ sessionId, ...page }));
  const columns = useMemo(() => columnsFor(phoneNumber), [phoneNumber]);
  return (
    <Card flush>
      <ListTable
        list={groups}
        label={groupStrings.title}
        columns={columns}
        rowKey={({ groupId }) => groupId}
        empty={
          <Empty icon={<Users />} title={groupStrings.empty}>
            {groupStrings.emptyHint}
          </Empty>
        }
      />
    </Card>
  );
}

function columnsFor(ownNumber: string | null): readonly Column<Group>[] {
  return [
    {
      id: 'subject',
      header: groupStrings.subject,
      width: 'minmax(0, 1fr)',
      cell: ({ groupId, subject }) => (
        <Link to="/groups/$groupId" params={{ groupId }} className={rowLinkClass}>
          {displayName(subject) || chatStrings.group}
        </Link>
      ),
    },
    {
      id: 'members',
      header: groupStrings.members,
      width: '6rem',
      cell: ({ participants }) => participants.length.toLocaleString('en'),
    },
    {
      id: 'role',
      header: groupStrings.role,
      width: '11rem',
      wideOnly: true,
      cell: ({ participants }) => {
        const own = participants.find(({ phoneNumber }) => phoneNumber === ownNumber);
        return own === undefined ? groupStrings.notMember : groupStrings.roles[own.role];
      },
    },
    {
      id: 'since',
      header: groupStrings.since,
      width: '9rem',
      wideOnly: true,
      cell: ({ createdAt }) => <Time at={createdAt} as="date" />,
    },
  ];
}

function JoinButton({ sessionId, onOpen }: { readonly sessionId: string; readonly onOpen: () => void }) {
  return useAbilities(sessionId)('group_join') ? <Button onClick={onOpen}>{groupStrings.join}</Button> : null;
}
