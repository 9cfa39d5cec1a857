import type { Group } from '@switchboard/sdk/api';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { EllipsisVertical, UserPlus } from 'lucide-react';
import { useState } from 'react';
import { api, errorText, fieldError } from '../../api.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { type Column, DataTable } from '../../components/dataTable.tsx';
import { Actions, Dialog, Question } from '../../components/dialog.tsx';
import { TextArea } from '../../components/field.tsx';
import { Tag } from '../../components/lamp.tsx';
import { Card } from '../../components/layout.tsx';
import { Menu, MenuItem } from '../../components/menu.tsx';
import { Notice } from '../../components/notice.tsx';
import { useToast } from '../../components/toast.tsx';
import { type NameOf, useNames } from '../../model/names.ts';
import { parsePhoneNumbers } from '../../model/numbers.ts';
import { groupWords } from '../../strings/groups.ts';
import { words } from '../../strings/shared.ts';

type Participant = Group['participants'][number];
type Action = Parameters<typeof api.groups.updateParticipants>[0]['action'];

interface MembersProps {
  readonly group: Group;
  readonly ownNumber: string | null;
  readonly isAdmin: boolean;
}

/** Who is in the group, and with what role. */
export function MembersCard({ group: { groupId, sessionId, participants }, ownNumber, isAdmin }: MembersProps) {
  const [isAdding, setAdding] = useState(false);
  const [leaving, setLeaving] = useState<string>();
  const nameOf = useNames(sessionId);
  const change = useChange(groupId);
  const toast = useToast();
  const act = useMutation({
    mutationFn: ({ action, number }: { readonly action: Action; readonly number: string }) => change(action, [number]),
    onSuccess: () => toast(groupWords.done),
    onError: (error) => toast(problemOf(error), 'bad'),
  });
  const menu = ({ phoneNumber, role }: Participant) =>
    isAdmin && phoneNumber !== ownNumber ? (
      <Menu
        trigger={
          <IconButton label={groupWords.actions(nameOf(phoneNumber))}>
            <EllipsisVertical />
          </IconButton>
        }
      >
        {role === 'member' && (
          <MenuItem onSelect={() => act.mutate({ action: 'promote', number: phoneNumber })}>
            {groupWords.promote}
          </MenuItem>
        )}
        {role === 'admin' && (
          <MenuItem onSelect={() => act.mutate({ action: 'demote', number: phoneNumber })}>
            {groupWords.demote}
          </MenuItem>
        )}
        <MenuItem isDangerous onSelect={() => setLeaving(phoneNumber)}>
          {groupWords.remove}
        </MenuItem>
      </Menu>
    ) : null;

  return (
    <Card
      flush
      title={groupWords.members}
      actions={
        isAdmin && (
          <Button size="small" icon={<UserPlus className="size-4" />} onClick={() => setAdding(true)}>
            {groupWords.add}
          </Button>
        )
      }
    >
      <DataTable
        label={groupWords.members}
        columns={columnsFor(nameOf, ownNumber, menu)}
        rows={participants}
        rowKey={({ phoneNumber }) => phoneNumber}
      />
      <Dialog title={groupWords.add} open={isAdding} onOpenChange={setAdding}>
        <AddForm
          onCancel={() => setAdding(false)}
          onAdd={async (numbers) => {
            await change('add', numbers);
            toast(groupWords.done);
            setAdding(false);
          }}
        />
      </Dialog>
      <Question
        title={groupWords.removeTitle(nameOf(leaving ?? ''))}
        confirm={groupWords.remove}
        open={leaving !== undefined}
        onOpenChange={() => setLeaving(undefined)}
        // Why it was refused is said by the toast.
        onConfirm={() => act.mutateAsync({ action: 'remove', number: leaving ?? '' }).catch(() => {})}
      >
        {groupWords.removeHint}
      </Question>
    </Card>
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
      header: groupWords.members,
      width: 'minmax(0, 1fr)',
      cell: ({ phoneNumber }) => (
        <>
          {nameOf(phoneNumber)} {phoneNumber === ownNumber && <Tag>{groupWords.you}</Tag>}
        </>
      ),
    },
    { id: 'role', header: groupWords.memberRole, width: '6rem', cell: ({ role }) => groupWords.roles[role] },
    { id: 'menu', header: groupWords.change, width: '3.5rem', cell: menu },
  ];
}

/** What the network has refused, number by number. */
class Refused extends Error {}

/** An error of the request, or what was refused of it. */
function problemOf(error: unknown): string {
  return error instanceof Refused ? error.message : errorText(error);
}

/** Does something with members. Rejects with all that was refused. */
function useChange(groupId: string) {
  const queries = useQueryClient();
  return async (action: Action, phoneNumbers: string[]) => {
    const { results } = await api.groups.updateParticipants({ groupId, action, phoneNumbers });
    await queries.invalidateQueries({ queryKey: ['groups'] });
    const refused = results.filter(({ ok }) => !ok);
    if (refused.length > 0)
      throw new Refused(
        refused.map(({ phoneNumber, reason }) => groupWords.refused(phoneNumber, reason ?? '')).join('. '),
      );
  };
}

function AddForm({
  onCancel,
  onAdd,
}: {
  readonly onCancel: () => void;
  readonly onAdd: (numbers: string[]) => Promise<void>;
}) {
  const [numbers, setNumbers] = useState('');
  const add = useMutation({ mutationFn: () => onAdd(parsePhoneNumbers(numbers)) });
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        add.mutate();
      }}
    >
      {add.error !== null && <Notice tone="bad">{problemOf(add.error)}</Notice>}
      <TextArea
        label={groupWords.memberNumbers}
        hint={groupWords.memberNumbersHint}
        error={fieldError(add.error, 'phoneNumbers')}
        required
        autoFocus
        rows={2}
        value={numbers}
        onChange={(event) => setNumbers(event.currentTarget.value)}
      />
      <Actions>
        <Button onClick={onCancel}>{words.cancel}</Button>
        <Button type="submit" look="primary" busy={add.isPending}>
          {groupWords.add}
        </Button>
      </Actions>
    </form>
  );
}
