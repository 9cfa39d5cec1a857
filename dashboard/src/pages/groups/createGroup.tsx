import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api, fieldError } from '../../api.ts';
import { TextArea, TextField } from '../../components/form/field.tsx';
import { Form } from '../../components/form/form.tsx';
import { useToast } from '../../components/toast.tsx';
import { useRefresh } from '../../model/actions.ts';
import { parsePhoneNumbers } from '../../model/numbers.ts';
import { useAbilities } from './abilities.ts';
import { groupStrings } from './strings.ts';

interface GroupFormProps {
  readonly sessionId: string;
  readonly onClose: () => void;
}

export function CreateGroup({ sessionId, onClose }: GroupFormProps) {
  const [subject, setSubject] = useState('');
  const [numbers, setNumbers] = useState('');
  const refresh = useRefresh();
  const navigate = useNavigate();
  const toast = useToast();
  const canAdd = useAbilities(sessionId)('group_add_members');
  const create = useMutation({
    mutationFn: () =>
      api.groups.create({ sessionId, subject, ...(canAdd && { phoneNumbers: parsePhoneNumbers(numbers) }) }),
    onSuccess: ({ groupId }) => {
      void refresh('groups');
      toast(groupStrings.created);
      onClose();
      void navigate({ to: '/groups/$groupId', params: { groupId } });
    },
  });
  return (
    <Form
      submit={groupStrings.create}
      error={create.error}
      fields={['subject', 'phoneNumbers']}
      busy={create.isPending}
      onCancel={onClose}
      onSubmit={() => create.mutate()}
    >
      <TextField
        label={groupStrings.subject}
        error={fieldError(create.error, 'subject')}
        required
        autoFocus
        maxLength={100}
        value={subject}
        onChange={(event) => setSubject(event.currentTarget.value)}
      />
      {canAdd ? (
        <TextArea
          label={groupStrings.memberNumbers}
          hint={groupStrings.memberNumbersHint}
          error={fieldError(create.error, 'phoneNumbers')}
          required
          rows={2}
          value={numbers}
          onChange={(event) => setNumbers(event.currentTarget.value)}
        />
      ) : (
        <p className="text-ink-faint">{groupStrings.joinByInvite}</p>
      )}
    </Form>
  );
}
