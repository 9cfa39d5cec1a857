import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { CodeSnippet } from '../../components/codeSnippet.tsx';
import { ConfirmButton } from '../../components/confirmDialog.tsx';
import { Card } from '../../components/layout.tsx';
import { Loaded } from '../../components/states.tsx';
import { useToast } from '../../components/toast.tsx';
import { groupWords } from '../../strings/groups.ts';

/** The invite link of a group, fetched on demand: a network may create it only then. */
export function InviteCard({ groupId }: { readonly groupId: string }) {
  const [isRequested, setRequested] = useState(false);
  const queries = useQueryClient();
  const toast = useToast();
  const queryKey = ['group_invites', groupId];
  const query = useQuery({ queryKey, queryFn: () => api.groups.getInviteLink({ groupId }), enabled: isRequested });

  async function reset() {
    queries.setQueryData(queryKey, await api.groups.revokeInviteLink({ groupId }));
    toast(groupWords.revoked);
  }

  return (
    <Card title={groupWords.invite} hint={groupWords.inviteLead}>
      {isRequested ? (
        <Loaded query={query}>
          {({ inviteLink }) => (
            <div className="grid grid-cols-1 justify-items-start gap-3">
              <div className="w-full">
                <CodeSnippet code={inviteLink} label={groupWords.invite} />
              </div>
              <ConfirmButton
                look="secondary"
                size="small"
                title={groupWords.revokeTitle}
                confirm={groupWords.revoke}
                onConfirm={reset}
              >
                {groupWords.revokeHint}
              </ConfirmButton>
            </div>
          )}
        </Loaded>
      ) : (
        <Button onClick={() => setRequested(true)}>{groupWords.showInvite}</Button>
      )}
    </Card>
  );
}
