import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { errorText } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { Actions, Dialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/field.tsx';
import { Notice } from '../../components/notice.tsx';
import { useToast } from '../../components/toast.tsx';
import { parsePhoneNumbers } from '../../model/numbers.ts';
import { chatWords } from '../../strings/chats.ts';
import { words } from '../../strings/shared.ts';
import { simulatorWords } from '../../strings/simulator.ts';
import { useSimulate } from './simulate.ts';

/** Somebody else creates a group that the session is in. */
export function GroupDialog({
  sessionId,
  open,
  onClose,
}: {
  readonly sessionId: string;
  readonly open: boolean;
  readonly onClose: () => void;
}) {
  return (
    <Dialog
      title={simulatorWords.createGroup}
      description={simulatorWords.createGroupLead}
      open={open}
      onOpenChange={onClose}
    >
      <GroupForm sessionId={sessionId} onClose={onClose} />
    </Dialog>
  );
}

function GroupForm({ sessionId, onClose }: { readonly sessionId: string; readonly onClose: () => void }) {
  const [from, setFrom] = useState('');
  const [subject, setSubject] = useState('');
  const [members, setMembers] = useState('');
  const simulate = useSimulate(sessionId);
  const toast = useToast();
  const create = useMutation({
    mutationFn: () => simulate({ action: 'group_create', from, subject, phoneNumbers: parsePhoneNumbers(members) }),
    onSuccess: () => {
      toast(simulatorWords.groupCreated);
      onClose();
    },
  });
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        create.mutate();
      }}
    >
      {create.error !== null && <Notice tone="bad">{errorText(create.error)}</Notice>}
      <TextField
        label={simulatorWords.subject}
        required
        autoFocus
        maxLength={100}
        value={subject}
        onChange={(event) => setSubject(event.currentTarget.value)}
      />
      <TextField
        label={simulatorWords.creator}
        hint={chatWords.numberHint}
        type="tel"
        required
        value={from}
        onChange={(event) => setFrom(event.currentTarget.value)}
      />
      <TextField
        label={simulatorWords.members}
        hint={simulatorWords.membersHint}
        isOptional
        value={members}
        onChange={(event) => setMembers(event.currentTarget.value)}
      />
      <Actions>
        <Button onClick={onClose}>{words.cancel}</Button>
        <Button type="submit" look="primary" busy={create.isPending}>
          {simulatorWords.createGroup}
        </Button>
      </Actions>
    </form>
  );
}
