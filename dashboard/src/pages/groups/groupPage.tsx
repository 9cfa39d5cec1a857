import type { Group } from '@switchboard/sdk/api';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { api } from '../../api.ts';
import { ConfirmButton } from '../../components/dialog/confirmDialog.tsx';
import { LinkButton } from '../../components/linkButton.tsx';
import { Page } from '../../components/page/layout.tsx';
import { Loaded } from '../../components/page/states.tsx';
import { useToast } from '../../components/toast.tsx';
import { useRefresh } from '../../model/actions.ts';
import { displayName } from '../../model/displayName.ts';
import { sessionQuery } from '../../model/sessions.ts';
import { useAbilities } from './abilities.ts';
import { AboutCard } from './aboutCard.tsx';
import { InviteCard } from './inviteCard.tsx';
import { JoinRequestsCard } from './joinRequestsCard.tsx';
import { MembersCard } from './membersCard.tsx';
import { groupStrings } from './strings.ts';

const route = getRouteApi('/shell/groups/$groupId');

/** One group: its profile, settings, members, invite link and those who wait to join. */
export function GroupPage() {
  const { groupId } = route.useParams();
  const query = useQuery({ queryKey: ['groups', groupId], queryFn: () => api.groups.get({ groupId }) });
  return (
    <Page
      title={displayName(query.data?.subject ?? '') || groupStrings.title}
      actions={
        <>
          <LinkButton to="/groups" search={{ session: query.data?.sessionId }}>
            {groupStrings.back}
          </LinkButton>
          {query.data !== undefined && (
            <LinkButton to="/chats" search={{ session: query.data.sessionId, chat: groupId }}>
              {groupStrings.openChat}
            </LinkButton>
          )}
        </>
      }
    >
      {/* Keyed, so that the forms of one group do not keep what was entered for another. */}
      <Loaded query={query} notFound={groupStrings.notFound}>
        {(group) => <Parts key={groupId} group={group} />}
      </Loaded>
    </Page>
  );
}

function Parts({ group }: { readonly group: Group }) {
  const session = useQuery(sessionQuery(group.sessionId)).data;
  const own = group.participants.find(({ phoneNumber }) => phoneNumber === session?.phoneNumber);
  const isAdmin = own !== undefined && own.role !== 'member';
  const can = useAbilities(group.sessionId);
  return (
    <>
      <div className="grid grid-cols-1 items-start gap-6 wide:grid-cols-2">
        <AboutCard
          group={group}
          canChange={isAdmin || (own !== undefined && !group.settings.locked)}
          isAdmin={isAdmin}
        />
        {isAdmin && (
          <div className="grid grid-cols-1 gap-6">
            {group.settings.joinApproval && <JoinRequestsCard group={group} />}
            <InviteCard groupId={group.groupId} needsApproval={group.settings.joinApproval} />
          </div>
        )}
      </div>
      <MembersCard group={group} ownNumber={session?.phoneNumber ?? null} isAdmin={isAdmin} />
      <div className="flex flex-wrap gap-2">
        {own !== undefined && can('group_leave') && <LeaveGroup groupId={group.groupId} />}
        {own?.role === 'owner' && can('group_delete') && <DeleteGroup groupId={group.groupId} />}
      </div>
    </>
  );
}

function LeaveGroup({ groupId }: { readonly groupId: string }) {
  const refresh = useRefresh();
  const toast = useToast();

  async function leave() {
    await api.groups.leave({ groupId });
    await refresh('groups');
    toast(groupStrings.left);
  }

  return (
    <div>
      <ConfirmButton title={groupStrings.leaveTitle} confirm={groupStrings.leave} onConfirm={leave}>
        {groupStrings.leaveHint}
      </ConfirmButton>
    </div>
  );
}

function DeleteGroup({ groupId }: { readonly groupId: string }) {
  const refresh = useRefresh();
  const toast = useToast();

  async function remove() {
    await api.groups.delete({ groupId });
    await refresh('groups');
    toast(groupStrings.deleted);
  }

  return (
    <div>
      <ConfirmButton title={groupStrings.deleteTitle} confirm={groupStrings.delete} onConfirm={remove}>
        {groupStrings.deleteHint}
      </ConfirmButton>
    </div>
  );
}
