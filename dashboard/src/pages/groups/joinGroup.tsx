import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api, fieldError } from '../../api.ts';
import { TextField } from '../../components/form/field.tsx';
import { Form } from '../../components/form/form.tsx';
import { useToast } from '../../components/toast.tsx';
import { useRefresh } from '../../model/actions.ts';
import { groupStrings } from './strings.ts';

interface JoinFormProps {
  readonly sessionId: string;
  readonly onClose: () => void;
}

export function JoinGroup({ sessionId, onClose }: JoinFormProps) {
  const [invite, setInvite] = useState('');
  const refresh = useRefresh();
  const navigate = useNavigate();
  const toast = useToast();
  const join = useMutation({
    mutationFn: () => api.groups.join({ sessionId, invite }),
    onSuccess: ({ status, group }) => {
      void refresh('groups');
      toast(groupStrings[status]);
      onClose();
      if (group !== null) void navigate({ to: '/groups/$groupId', params: { groupId: group.groupId } });
    },
  });
  return (
    <Form
      submit={groupStrings.join}
      error={join.error}
      fields={['invite']}
      busy={join.isPending}
      onCancel={onClose}
      onSubmit={() => join.mutate()}
    >
      <TextField
        label={groupStrings.invite}
        hint={groupStrings.inviteHint}
        error={fieldError(join.error, 'invite')}
        required
        autoFocus
        value={invite}
        onChange={(event) => setInvite(event.currentTarget.value)}
      />
    </Form>
  );
}
