import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { TextField } from '../../components/form/field.tsx';
import { Form } from '../../components/form/form.tsx';
import { useToast } from '../../components/toast.tsx';
import { parsePhoneNumbers } from '../../model/numbers.ts';
import { chatStrings } from '../../strings/chats.ts';
import { useSimulate } from './simulate.ts';
import { simulatorStrings } from './strings.ts';

/** Creates a group with the session in it, as another person. */
export function GroupForm({ sessionId, onClose }: { readonly sessionId: string; readonly onClose: () => void }) {
  const [from, setFrom] = useState('');
  const [subject, setSubject] = useState('');
  const [members, setMembers] = useState('');
  const simulate = useSimulate(sessionId);
  const toast = useToast();
  const create = useMutation({
    mutationFn: () => simulate({ action: 'group_create', from, subject, phoneNumbers: parsePhoneNumbers(members) }),
    onSuccess: () => {
      toast(simulatorStrings.groupCreated);
      onClose();
    },
  });
  return (
    <Form
      submit={simulatorStrings.createGroup}
      error={create.error}
      busy={create.isPending}
      onCancel={onClose}
      onSubmit={() => create.mutate()}
    >
      <TextField
        label={simulatorStrings.subject}
        required
        autoFocus
        maxLength={100}
        value={subject}
        onChange={(event) => setSubject(event.currentTarget.value)}
      />
      <TextField
        label={simulatorStrings.creator}
        hint={chatStrings.numberHint}
        type="tel"
        required
        value={from}
        onChange={(event) => setFrom(event.currentTarget.value)}
      />
      <TextField
        label={simulatorStrings.members}
        hint={simulatorStrings.membersHint}
        isOptional
        value={members}
        onChange={(event) => setMembers(event.currentTarget.value)}
      />
    </Form>
  );
}
