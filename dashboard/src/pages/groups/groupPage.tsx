import type { Group } from '@switchboard/sdk/api';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api.ts';
import { Button, buttonClass } from '../../components/button.tsx';
import { Question } from '../../components/dialog.tsx';
import { Page } from '../../components/layout.tsx';
import { Loaded } from '../../components/states.tsx';
import { useToast } from '../../components/toast.tsx';
import { sessionQuery } from '../../model/sessions.ts';
import { groupWords } from '../../strings/groups.ts';
import { AboutCard } from './aboutCard.tsx';
import { InviteCard } from './inviteCard.tsx';
import { MembersCard } from './membersCard.tsx';

const route = getRouteApi('/shell/groups/$groupId');

/** One group: what it is called, who is in it, and how to get in. */
export function GroupPage() {
  const { groupId } = route.useParams();
  const query = useQuery({ queryKey: ['groups', groupId], queryFn: () => api.groups.get({ groupId }) });
  return (
    <Page
      title={query.data?.subject ?? groupWords.title}
      actions={
        <>
          <Link to="/groups" search={{ session: query.data?.sessionId }} className={buttonClass()}>
            {groupWords.back}
          </Link>
          {query.data !== undefined && (
            <Link to="/chats" search={{ session: query.data.sessionId, chat: groupId }} className={buttonClass()}>
              {groupWords.openChat}
            </Link>
          )}
        </>
      }
    >
      {/* Keyed: the forms of one group are not those of another. */}
      <Loaded query={query} gone={groupWords.notFound}>
        {(group) => <Parts key={groupId} group={group} />}
      </Loaded>
    </Page>
  );
}

function Parts({ group }: { readonly group: Group }) {
  const session = useQuery(sessionQuery(group.sessionId)).data;
  const own = group.participants.find(({ phoneNumber }) => phoneNumber === session?.phoneNumber);
  const isAdmin = own !== undefined && own.role !== 'member';
  return (
    <>
      <div className="grid grid-cols-1 items-start gap-6 wide:grid-cols-2">
        <AboutCard
          group={group}
          canChange={isAdmin || (own !== undefined && !group.settings.locked)}
          isAdmin={isAdmin}
        />
        {isAdmin && <InviteCard groupId={group.groupId} />}
      </div>
      <MembersCard group={group} ownNumber={session?.phoneNumber ?? null} isAdmin={isAdmin} />
      {own !== undefined && <Leave groupId={group.groupId} />}
    </>
  );
}

function Leave({ groupId }: { readonly groupId: string }) {
  const [isAsking, setAsking] = useState(false);
  const queries = useQueryClient();
  const toast = useToast();

  async function leave() {
    await api.groups.leave({ groupId });
    await queries.invalidateQueries({ queryKey: ['groups'] });
    toast(groupWords.left);
  }

  return (
    <div>
      <Button look="danger" onClick={() => setAsking(true)}>
        {groupWords.leave}
      </Button>
      <Question
        title={groupWords.leaveTitle}
        confirm={groupWords.leave}
        open={isAsking}
        onOpenChange={setAsking}
        onConfirm={leave}
      >
        {groupWords.leaveHint}
      </Question>
    </div>
  );
}
