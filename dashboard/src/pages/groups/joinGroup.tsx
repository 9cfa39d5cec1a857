import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api, errorText, fieldError } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { Actions, Dialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/field.tsx';
import { Notice } from '../../components/notice.tsx';
import { useToast } from '../../components/toast.tsx';
import { groupWords } from '../../strings/groups.ts';
import { words } from '../../strings/shared.ts';

interface JoinFormProps {
  readonly sessionId: string;
  readonly onClose: () => void;
}

export function JoinGroup({ open, ...rest }: JoinFormProps & { readonly open: boolean }) {
  return (
    <Dialog title={groupWords.joinTitle} open={open} onOpenChange={rest.onClose}>
      <JoinForm {...rest} />
    </Dialog>
  );
}

function JoinForm({ sessionId, onClose }: JoinFormProps) {
  const [invite, setInvite] = useState('');
  const queries = useQueryClient();
  const navigate = useNavigate();
  const toast = useToast();
  const join = useMutation({
    mutationFn: () => api.groups.join({ sessionId, invite }),
    onSuccess: ({ status, group }) => {
      void queries.invalidateQueries({ queryKey: ['groups'] });
      toast(groupWords[status]);
      onClose();
      if (group !== null) void navigate({ to: '/groups/$groupId', params: { groupId: group.groupId } });
    },
  });
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        join.mutate();
      }}
    >
      {join.error !== null && <Notice tone="bad">{errorText(join.error)}</Notice>}
      <TextField
        label={groupWords.invite}
        hint={groupWords.inviteHint}
        error={fieldError(join.error, 'invite')}
        required
        autoFocus
        value={invite}
        onChange={(event) => setInvite(event.currentTarget.value)}
      />
      <Actions>
        <Button onClick={onClose}>{words.cancel}</Button>
        <Button type="submit" look="primary" busy={join.isPending}>
          {groupWords.join}
        </Button>
      </Actions>
    </form>
  );
}
