import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { AppError } from '../../errors.ts';
import type { NetworkGroup } from '../contract/groups.ts';
import type { Graph } from './graph.ts';

/*
 * Groups of the Cloud API: https://developers.facebook.com/documentation/business-messaging/whatsapp/groups. Few
 * accounts have them, members join only by an invite link, and only the business can change them.
 */

const Group = Compile(
  Type.Object({
    subject: Type.String(),
    description: Type.Optional(Type.String()),
    join_approval_mode: Type.Optional(Type.String()),
    creation_timestamp: Type.Optional(Type.Union([Type.Integer(), Type.String({ pattern: '^[0-9]{1,12}$' })])),
    participants: Type.Optional(Type.Array(Type.Object({ wa_id: Type.Optional(Type.String()) }))),
  }),
);
const FIELDS = 'subject,description,join_approval_mode,creation_timestamp,participants';

/** @throws {AppError} `fetch_failed`, and the errors of `Graph.call` */
export async function findGroup(graph: Graph, id: string, ownNumber: string, now: number): Promise<NetworkGroup> {
  const found = await graph.call('GET', `${encodeURIComponent(id)}?fields=${FIELDS}`);
  if (!Group.Check(found)) throw new AppError('fetch_failed', 'WhatsApp did not return the group');
  const { subject, description, participants = [], creation_timestamp: createdAt } = found;
  const placeholder = placeholderGroup(id, ownNumber, now);
  const others = participants.map(({ wa_id: number = '' }) => number).filter((number) => number !== ownNumber);
  const members = others.filter((number) => /^\d+$/.test(number));
  return {
    ...placeholder,
    subject,
    description: description || null,
    createdAt: createdAt === undefined ? now : Number(createdAt) * 1000,
    participants: [
      ...placeholder.participants,
      ...members.map((phoneNumber) => ({ phoneNumber, role: 'member' as const })),
    ],
    settings: { ...placeholder.settings, joinApproval: found.join_approval_mode === 'approval_required' },
  };
}

/** A placeholder for a group that Meta does not return, because its messages need one. */
export function placeholderGroup(id: string, ownNumber: string, now: number): NetworkGroup {
  return {
    networkId: id,
    subject: id,
    description: null,
    createdBy: ownNumber,
    createdAt: now,
    participants: [{ phoneNumber: ownNumber, role: 'owner' }],
    settings: { announce: false, locked: true, joinApproval: false },
    inviteCode: null,
    picture: null,
  };
}
