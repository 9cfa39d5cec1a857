import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api, errorText, fieldError } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { Actions, Dialog } from '../../components/dialog.tsx';
import { TextArea, TextField } from '../../components/field.tsx';
import { Notice } from '../../components/notice.tsx';
import { useToast } from '../../components/toast.tsx';
import { parsePhoneNumbers } from '../../model/numbers.ts';
import { groupWords } from '../../strings/groups.ts';
import { words } from '../../strings/shared.ts';

interface GroupFormProps {
  readonly sessionId: string;
  readonly onClose: () => void;
}

export function CreateGroup({ open, ...rest }: GroupFormProps & { readonly open: boolean }) {
  return (
    <Dialog title={groupWords.createTitle} open={open} onOpenChange={rest.onClose}>
      <CreateForm {...rest} />
    </Dialog>
  );
}

function CreateForm({ sessionId, onClose }: GroupFormProps) {
  const [subject, setSubject] = useState('');
  const [numbers, setNumbers] = useState('');
  const queries = useQueryClient();
  const navigate = useNavigate();
  const toast = useToast();
  const create = useMutation({
    mutationFn: () => api.groups.create({ sessionId, subject, phoneNumbers: parsePhoneNumbers(numbers) }),
    onSuccess: ({ groupId }) => {
      void queries.invalidateQueries({ queryKey: ['groups'] });
      toast(groupWords.created);
      onClose();
      void navigate({ to: '/groups/$groupId', params: { groupId } });
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
        label={groupWords.subject}
        error={fieldError(create.error, 'subject')}
        required
        autoFocus
        maxLength={100}
        value={subject}
        onChange={(event) => setSubject(event.currentTarget.value)}
      />
      <TextArea
        label={groupWords.memberNumbers}
        hint={groupWords.memberNumbersHint}
        error={fieldError(create.error, 'phoneNumbers')}
        required
        rows={2}
        value={numbers}
        onChange={(event) => setNumbers(event.currentTarget.value)}
      />
      <Actions>
        <Button onClick={onClose}>{words.cancel}</Button>
        <Button type="submit" look="primary" busy={create.isPending}>
          {groupWords.create}
        </Button>
      </Actions>
    </form>
  );
}
