import type { Group } from '@switchboard/sdk/api';
import { useMutation } from '@tanstack/react-query';
import { EllipsisVertical, UserPlus } from 'lucide-react';
import { useState } from 'react';
import { api, fieldError, ServerError } from '../../api.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { ConfirmDialog } from '../../components/dialog/confirmDialog.tsx';
import { Dialog } from '../../components/dialog/dialog.tsx';
import { TextArea } from '../../components/form/field.tsx';
import { Form } from '../../components/form/form.tsx';
import { Tag } from '../../components/lamp.tsx';
import { Menu, MenuItem } from '../../components/menu.tsx';
import { type Column, DataTable } from '../../components/page/dataTable.tsx';
import { Card } from '../../components/page/layout.tsx';
import { useToast } from '../../components/toast.tsx';
import { useAction, useRefresh } from '../../model/actions.ts';
import { type NameOf, useNames } from '../../model/names.ts';
import { parsePhoneNumbers } from '../../model/numbers.ts';
import { useAbilities } from './abilities.ts';
import { groupStrings } from './strings.ts';

type Participant = Group['participants'][number];
type Action = Parameters<typeof api.groups.updateParticipants>[0]['action'];

interface MembersProps {
  readonly group: Group;
  readonly ownNumber: string | null;
  readonly isAdmin: boolean;
}

/** The members of a group with their roles. */
export function MembersCard({ group: { groupId, sessionId, participants }, ownNumber, isAdmin }: MembersProps) {
  const [isAdding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<string>();
  const nameOf = useNames(sessionId);
  const can = useAbilities(sessionId);
  const change = useMemberChange(groupId);
  const { run } = useAction();
  const toast = useToast();

  async function finish(changing: Promise<void>) {
    await changing;
    toast(groupStrings.done);
    setAdding(false);
  }

  const menu = (member: Participant) =>
    isAdmin && member.phoneNumber !== ownNumber ? (
      <MemberMenu
        member={member}
        name={nameOf(member.phoneNumber)}
        canPromote={can('group_admins')}
        onChange={(action) => run(() => change(action, [member.phoneNumber]), groupStrings.done)}
        onRemove={() => setRemoving(member.phoneNumber)}
      />
    ) : null;

  return (
    <Card
      flush
      title={groupStrings.members}
      actions={
        isAdmin &&
        can('group_add_members') && (
          <Button size="small" icon={<UserPlus className="size-4" />} onClick={() => setAdding(true)}>
            {groupStrings.add}
          </Button>
        )
      }
    >
      <DataTable
        label={groupStrings.members}
        columns={columnsFor(nameOf, ownNumber, menu)}
        rows={participants}
        rowKey={({ phoneNumber }) => phoneNumber}
      />
      <Dialog title={groupStrings.add} open={isAdding} onOpenChange={setAdding}>
        <AddForm onCancel={() => setAdding(false)} onAdd={(numbers) => finish(change('add', numbers))} />
      </Dialog>
      <ConfirmDialog
        title={groupStrings.removeTitle(nameOf(removing ?? ''))}
        confirm={groupStrings.remove}
        open={removing !== undefined}
        onOpenChange={() => setRemoving(undefined)}
        onConfirm={() => finish(change('remove', [removing ?? '']))}
      >
        {groupStrings.removeHint}
      </ConfirmDialog>
    </Card>
  );
}

interface MemberMenuProps {
  readonly member: Participant;
  readonly name: string;
  readonly canPromote: boolean;
  readonly onChange: (action: 'promote' | 'demote') => void;
  readonly onRemove: () => void;
}

function MemberMenu({ member: { role }, name, canPromote, onChange, onRemove }: MemberMenuProps) {
  return (
    <Menu
      trigger={
        <IconButton label={groupStrings.actions(name)}>
          <EllipsisVertical />
        </IconButton>
      }
    >
      {role === 'member' && canPromote && (
        <MenuItem onSelect={() => onChange('promote')}>{groupStrings.promote}</MenuItem>
      )}
      {role === 'admin' && <MenuItem onSelect={() => onChange('demote')}>{groupStrings.demote}</MenuItem>}
      <MenuItem isDangerous onSelect={onRemove}>
        {groupStrings.remove}
      </MenuItem>
    </Menu>
  );
}

function columnsFor(
  nameOf: NameOf,
  ownNumber: string | null,
  menu: (participant: Participant) => React.ReactNode,
): readonly Column<Participant>[] {
  return [
    {
      id: 'who',
      header: groupStrings.members,
      width: 'minmax(0, 1fr)',
      cell: ({ phoneNumber }) => (
        <>
          {nameOf(phoneNumber)} {phoneNumber === ownNumber && <Tag>{groupStrings.you}</Tag>}
        </>
      ),
    },
    { id: 'role', header: groupStrings.memberRole, width: '6rem', cell: ({ role }) => groupStrings.roles[role] },
    { id: 'menu', header: groupStrings.change, width: '3.5rem', cell: menu },
  ];
}

/** Changes members. Throws if the network refused any of the changes. */
function useMemberChange(groupId: string) {
  const refresh = useRefresh();
  return async (action: Action, phoneNumbers: string[]) => {
    const { results } = await api.groups.updateParticipants({ groupId, action, phoneNumbers });
    await refresh('groups');
    const refused = results.filter(({ ok }) => !ok);
    if (refused.length > 0)
      throw new ServerError(
        refused.map(({ phoneNumber, reason }) => groupStrings.refused(phoneNumber, reason ?? '')).join('. '),
      );
  };
}

interface AddFormProps {
  readonly onCancel: () => void;
  readonly onAdd: (numbers: string[]) => Promise<void>;
}

function AddForm({ onCancel, onAdd }: AddFormProps) {
  const [numbers, setNumbers] = useState('');
  const add = useMutation({ mutationFn: () => onAdd(parsePhoneNumbers(numbers)) });
  return (
    <Form
      submit={groupStrings.add}
      error={add.error}
      fields={['phoneNumbers']}
      busy={add.isPending}
      onCancel={onCancel}
      onSubmit={() => add.mutate()}
    >
      <TextArea
        label={groupStrings.memberNumbers}
        hint={groupStrings.memberNumbersHint}
        error={fieldError(add.error, 'phoneNumbers')}
        required
        autoFocus
        rows={2}
        value={numbers}
        onChange={(event) => setNumbers(event.currentTarget.value)}
      />
    </Form>
  );
}
