import type { BinaryNode } from 'baileys';
import { childOf, childrenOf, GROUPS, stanza, textOf } from '../stanza.ts';
import type { Change, Group, GroupQuery } from './groups.ts';
import { nowS } from './linking.ts';
import { type Answer, QueryError } from './queries.ts';

/* Communities: groups with a list of groups, among them one for announcements. */

/** The place in a community that a query gives to the group that it creates. */
export function placeOf(ask: BinaryNode): Group['place'] {
  return {
    isCommunity: childOf(ask, 'parent') !== undefined,
    isAnnouncementGroup: childOf(ask, 'default_sub_group') !== undefined,
    community: childOf(ask, 'linked_parent')?.attrs['jid'],
  };
}

export function placeStanzas({ place: { isCommunity, isAnnouncementGroup, community } }: Group): BinaryNode[] {
  return [
    ...(isCommunity ? [stanza('parent', { default_membership_approval_mode: 'request_required' })] : []),
    ...(isAnnouncementGroup ? [stanza('default_sub_group')] : []),
    ...(community === undefined ? [] : [stanza('linked_parent', { jid: community })]),
  ];
}

/** A community is created with its description, and only its admins may change it. */
export function describeCommunity(group: Group, ask: BinaryNode): void {
  const description = childOf(ask, 'description');
  const text = textOf(childOf(description, 'body'));
  if (text) group.description = { id: description?.attrs['id'] ?? '', text };
  Object.assign(group, { isAnnounceOnly: true, isLocked: true, needsApproval: true, canMembersAdd: false });
}

export function addAnnouncementGroup(
  { network, account }: Pick<GroupQuery, 'network' | 'account'>,
  community: Group,
  create: (query: GroupQuery & { ask: BinaryNode }) => Answer,
): void {
  const ask = stanza('create', { subject: community.subject }, [
    stanza('default_sub_group'),
    stanza('linked_parent', { jid: community.id }),
  ]);
  const iq = stanza('iq', { to: `@${GROUPS}`, type: 'set' }, [ask]);
  const [created] = create({ network, account, iq, ask }) ?? [];
  const group = network.groups.get(`${created?.attrs['id']}@${GROUPS}`);
  if (group !== undefined) group.isAnnounceOnly = true;
}

export const linkGroups = (change: Change): Answer =>
  setCommunity(change, childOf(change.ask, 'link'), change.group.id);

export const unlinkGroups = (change: Change): Answer => setCommunity(change, change.ask, undefined);

/** The server answers without an error for a group that it leaves as it is. */
function setCommunity(
  { network, group, account }: Change,
  list: BinaryNode | undefined,
  to: string | undefined,
): Answer {
  const isAdminOf = ({ members }: Group) => (members.get(account) ?? 'member') !== 'member';
  if (!group.place.isCommunity) throw new QueryError(400, 'bad-request');
  if (!isAdminOf(group)) throw new QueryError(401, 'not-authorized');
  for (const { attrs } of childrenOf(list, 'group')) {
    const linked = network.groups.get(attrs['jid'] ?? '');
    if (linked === undefined || linked.place.isAnnouncementGroup || !isAdminOf(linked)) continue;
    if (linked.place.community !== (to === undefined ? group.id : undefined)) continue;
    linked.place.community = to;
  }
  return undefined;
}

export function listLinkedGroups({ network, group }: Change): Answer {
  const linked = [...network.groups.values()].filter(({ place }) => place.community === group.id);
  return [
    stanza(
      'sub_groups',
      {},
      linked.map(({ id, subject, members, owner, createdAtS }) =>
        stanza('group', {
          id: id.split('@')[0],
          subject,
          size: String(members.size),
          creation: String(createdAtS),
          creator: owner.lidJid,
          s_t: String(nowS()),
        }),
      ),
    ),
  ];
}
