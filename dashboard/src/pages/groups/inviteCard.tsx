import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { ConfirmButton } from '../../components/dialog/confirmDialog.tsx';
import { Card } from '../../components/page/layout.tsx';
import { Loaded } from '../../components/page/states.tsx';
import { CodeSnippet } from '../../components/schema/codeSnippet.tsx';
import { useToast } from '../../components/toast.tsx';
import { groupStrings } from './strings.ts';

/** The invite link of a group, fetched on demand: a network may create it only then. */
export function InviteCard({ groupId, needsApproval }: { readonly groupId: string; readonly needsApproval: boolean }) {
  const [isRequested, setRequested] = useState(false);
  const queries = useQueryClient();
  const toast = useToast();
  const queryKey = ['group_invites', groupId];
  const query = useQuery({ queryKey, queryFn: () => api.groups.getInviteLink({ groupId }), enabled: isRequested });

  async function reset() {
    queries.setQueryData(queryKey, await api.groups.revokeInviteLink({ groupId }));
    toast(groupStrings.revoked);
  }

  return (
    <Card title={groupStrings.invite} hint={needsApproval ? groupStrings.inviteLeadApproval : groupStrings.inviteLead}>
      {isRequested ? (
        <Loaded query={query}>
          {({ inviteLink }) => (
            <div className="grid grid-cols-1 justify-items-start gap-3">
              <div className="w-full">
                <CodeSnippet code={inviteLink} label={groupStrings.invite} />
              </div>
              <ConfirmButton
                look="secondary"
                size="small"
                title={groupStrings.revokeTitle}
                confirm={groupStrings.revoke}
                onConfirm={reset}
              >
                {groupStrings.revokeHint}
              </ConfirmButton>
            </div>
          )}
        </Loaded>
      ) : (
        <Button onClick={() => setRequested(true)}>{groupStrings.showInvite}</Button>
      )}
    </Card>
  );
}
