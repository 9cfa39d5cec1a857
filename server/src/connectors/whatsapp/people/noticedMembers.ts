import type { BinaryNode, GroupMetadata, GroupParticipant } from 'baileys';

/** Changes of a group that leave its members and their addresses as they are. */
const WITHOUT_MEMBERS: ReadonlySet<string> = new Set([
  'subject',
  'description',
  'announcement',
  'not_announcement',
  'locked',
  'unlocked',
  'invite',
  'member_add_mode',
  'membership_approval_mode',
  'created_membership_requests',
  'revoked_membership_requests',
  // A role is read with the group. Sending does not need it.
  'promote',
  'demote',
]);

/** Returns an address without a device. */
type Normalize = (jid: string) => string;

/**
 * Returns a group as sending needs it after a notice about it, or undefined if only a read can tell. whatsmeow keeps
 * the members of its sends in the same way (group.go: `parseGroupChange`, `updateGroupParticipantCache`).
 */
export function afterNotice(
  group: GroupMetadata,
  { attrs, content }: BinaryNode,
  normalize: Normalize,
): GroupMetadata | undefined {
  const mode = attrs['addressing_mode'];
  const isLid = isLidGroup(group);
  // Groups are moved from numbers to LIDs one by one.
  if (isLid === undefined || (mode !== undefined && (mode === 'lid') !== isLid)) return undefined;
  if (!Array.isArray(content)) return undefined;
  return content.reduce<GroupMetadata | undefined>(
    (after, change) => after && afterChange(after, change, normalize),
    group,
  );
}

/** Not `addressingMode`: Baileys takes a group without that attribute for an old one. */
const isLidGroup = ({ participants: [first] }: GroupMetadata) => first && isLid(first);

const isLid = ({ id }: GroupParticipant) => id.endsWith('@lid');

function afterChange(group: GroupMetadata, { tag, attrs, content }: BinaryNode, normalize: Normalize) {
  if (WITHOUT_MEMBERS.has(tag)) return group;
  // Messages carry the timer of their group.
  if (tag === 'not_ephemeral') return { ...group, ephemeralDuration: 0 };
  if (tag === 'ephemeral') {
    const ephemeralDuration = Number(attrs['expiration']);
    return Number.isSafeInteger(ephemeralDuration) ? { ...group, ephemeralDuration } : undefined;
  }
  const listed = (Array.isArray(content) ? content : []).flatMap((node) => participantOf(node) ?? []);
  if (listed.length === 0) return undefined;
  const addressesOf = ({ id, phoneNumber, lid }: GroupParticipant) =>
    [id, phoneNumber, lid].flatMap((address) => (address === undefined ? [] : normalize(address)));
  const addresses = new Set(listed.flatMap(addressesOf));
  const others = group.participants.filter((member) => !addressesOf(member).some((address) => addresses.has(address)));
  if (tag === 'add') {
    if (listed.some((member) => isLid(member) !== isLidGroup(group))) return undefined;
    return { ...group, participants: [...others, ...listed] };
  }
  if (tag !== 'remove' && tag !== 'leave') return undefined;
  // Somebody is listed by an address that the group does not have.
  if (others.length + listed.length !== group.participants.length) return undefined;
  return { ...group, participants: others };
}

/** Like Baileys reads a participant of a group. */
function participantOf({ tag, attrs }: BinaryNode): GroupParticipant | undefined {
  const { jid, phone_number: phoneNumber, lid, type } = attrs;
  if (tag !== 'participant' || jid === undefined) return undefined;
  const admin = type === 'admin' || type === 'superadmin' ? type : null;
  return { id: jid, admin, ...(phoneNumber !== undefined && { phoneNumber }), ...(lid !== undefined && { lid }) };
}
