import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { CodeSnippet } from '../../components/codeSnippet.tsx';
import { Question } from '../../components/dialog.tsx';
import { Card } from '../../components/layout.tsx';
import { Loaded } from '../../components/states.tsx';
import { useToast } from '../../components/toast.tsx';
import { groupWords } from '../../strings/groups.ts';

/** The link by which anybody can join. It is asked for on demand: a network may make one only then. */
export function InviteCard({ groupId }: { readonly groupId: string }) {
  const [isWanted, setWanted] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const queries = useQueryClient();
  const toast = useToast();
  const key = ['group_invites', groupId];
  const query = useQuery({ queryKey: key, queryFn: () => api.groups.getInviteLink({ groupId }), enabled: isWanted });

  async function revoke() {
    queries.setQueryData(key, await api.groups.revokeInviteLink({ groupId }));
    toast(groupWords.revoked);
  }

  return (
    <Card title={groupWords.inviteTitle} hint={groupWords.inviteLead}>
      {isWanted ? (
        <Loaded query={query}>
          {({ inviteLink }) => (
            <div className="grid grid-cols-1 justify-items-start gap-3">
              <div className="w-full">
                <CodeSnippet code={inviteLink} label={groupWords.invite} />
              </div>
              <Button size="small" onClick={() => setAsking(true)}>
                {groupWords.revoke}
              </Button>
            </div>
          )}
        </Loaded>
      ) : (
        <Button onClick={() => setWanted(true)}>{groupWords.showInvite}</Button>
      )}
      <Question
        title={groupWords.revokeTitle}
        confirm={groupWords.revoke}
        open={isAsking}
        onOpenChange={setAsking}
        onConfirm={revoke}
      >
        {groupWords.revokeHint}
      </Question>
    </Card>
  );
}
