import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { AppError } from '../../../errors.ts';
import type { NetworkGroup } from '../../contract/groups.ts';
import { isUserId } from '../../contract/people.ts';
import { withKnownParts } from '../inbound/knownParts.ts';
import type { CloudNumber } from '../number/cloudNumber.ts';
import { presentTime } from '../people.ts';

/*
 * Groups of the Cloud API: https://developers.facebook.com/documentation/business-messaging/whatsapp/groups/reference.
 * Only official business accounts have them. The business creates a group and is its only admin. Other people join with
 * the invite link.
 */

const Text = Type.Optional(Type.String());

/** A person in a group, or one who asks to join. A person with a user name can appear without a number. */
export const Person = Type.Object({
  input: Text,
  wa_id: Text,
  user_id: Text,
  parent_user_id: Text,
  username: Text,
});
export type Person = Static<typeof Person>;
const OnePerson = Compile(Person);

const Group = Compile(
  Type.Object({
    subject: Type.String(),
    description: Text,
    join_approval_mode: Text,
    creation_timestamp: Type.Optional(Type.Union([Type.Integer(), Type.String({ pattern: '^[0-9]{1,12}$' })])),
    participants: Type.Optional(Type.Array(Type.Unknown())),
  }),
);
const FIELDS = 'subject,description,join_approval_mode,creation_timestamp,participants';

type Members = Pick<CloudNumber, 'host' | 'graph' | 'people'>;

/** @throws {AppError} `fetch_failed`, and the errors of `Graph.call` */
export async function findGroup({ host, graph, people }: Members, id: string): Promise<NetworkGroup> {
  const found = await graph.call('GET', `${encodeURIComponent(id)}?fields=${FIELDS}`);
  if (!Group.Check(found)) throw new AppError('fetch_failed', 'WhatsApp did not return the group');
  const { subject, description, participants = [], creation_timestamp: createdAt } = found;
  const empty = emptyGroup(host, id);
  const members = new Set<string>();
  for (const participant of participants) {
    const person = withKnownParts(OnePerson, participant, {});
    const digits = person && (await digitsOf(person, people, presentTime(host)));
    if (digits !== undefined && digits !== host.phoneNumber) members.add(digits);
  }
  return {
    ...empty,
    subject,
    description: description || null,
    createdAt: createdAt === undefined ? empty.createdAt : Number(createdAt) * 1000,
    participants: [
      ...empty.participants,
      ...[...members].map((phoneNumber) => ({ phoneNumber, role: 'member' as const })),
    ],
    settings: { ...empty.settings, joinApproval: isApprovalRequired(found.join_approval_mode) },
  };
}

/** A placeholder for a group that Meta does not return, because its messages need one. */
export const placeholderGroup = (host: CloudNumber['host'], id: string): NetworkGroup => ({
  ...emptyGroup(host, id),
  isPlaceholder: true,
});

function emptyGroup({ phoneNumber, clock }: CloudNumber['host'], id: string): NetworkGroup {
  const owner = phoneNumber ?? '';
  return {
    networkId: id,
    subject: id,
    description: null,
    createdBy: owner,
    createdAt: clock.now(),
    participants: [{ phoneNumber: owner, role: 'owner' }],
    settings: { announce: false, locked: true, joinApproval: false },
    inviteCode: null,
    picture: null,
  };
}

export const isApprovalRequired = (mode: string | undefined): boolean => mode === 'approval_required';

/** Returns the code at the end of an invite link. */
export const codeOf = (link: string): string => link.slice(link.lastIndexOf('/') + 1);

/** Returns the digits of a person, and stores the ids. Returns undefined if nothing identifies the person. */
export async function digitsOf(
  { input = '', wa_id: waId, user_id: given, parent_user_id: parentUserId, username }: Person,
  people: CloudNumber['people'],
  at: number,
): Promise<string | undefined> {
  const phoneNumber = [waId, input].map((text) => text?.replace(/^\+/, '') ?? '').find((text) => NUMBER.test(text));
  const userId = given ?? [waId, input].find((text) => text !== undefined && isUserId(text));
  if (userId !== undefined) await people.meet({ userId, parentUserId, username, phoneNumber, at });
  if (phoneNumber === undefined) return userId && people.hide(userId);
  return userId === undefined ? phoneNumber : people.digitsOf(userId, phoneNumber);
}

const NUMBER = /^[1-9]\d{4,14}$/;
