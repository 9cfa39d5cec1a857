import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { NetworkEvent } from '../../contract/events.ts';
import type { Contact } from './callbacks.ts';
import { withKnownParts } from './knownParts.ts';

/*
 * Calls of the Calling API:
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/calling/reference. Meta's pages put the
 * person in `from` or in `to`, so it is the one that is not the number itself.
 */

const Text = Type.Optional(Type.String());

const Call = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 200 }),
  from: Text,
  to: Text,
  from_user_id: Text,
  event: Type.String(),
  direction: Text,
  status: Text,
  timestamp: Type.Optional(Type.Union([Type.String({ pattern: '^[0-9]{1,12}$' }), Type.Integer({ minimum: 0 })])),
});
const OneCall = Compile(Call);

type CallEvent = Extract<NetworkEvent, { type: 'call' | 'call_ended' }>;

interface CallLookUps {
  hide(userId: string): Promise<string>;
  digitsOf(userId: string, stated: string): Promise<string>;
  now(): number;
}

/** Returns the start or end of a call to the number; undefined for one by the number, and for an unknown shape. */
export async function readCall(
  given: unknown,
  contacts: readonly Contact[],
  ownNumber: string,
  { hide, digitsOf, now }: CallLookUps,
): Promise<CallEvent | undefined> {
  const call = withKnownParts(OneCall, given, {});
  if (call === undefined || call.direction === 'BUSINESS_INITIATED') return undefined;
  const caller = callerOf(call, contacts, ownNumber);
  if (caller === undefined) return undefined;
  const userId = call.from_user_id ?? contacts.find(({ wa_id: waId }) => waId === caller)?.user_id;
  const isNumber = /^\d+$/.test(caller);
  const from = !isNumber ? await hide(caller) : userId ? await digitsOf(userId, caller) : caller;
  const timestamp = call.timestamp === undefined ? now() : Number(call.timestamp) * 1000;
  const about = { callId: call.id, chat: { type: 'direct' as const, id: from }, from, isVideo: false, timestamp };
  if (call.event === 'connect') return { type: 'call', ...about };
  if (call.event !== 'terminate') return undefined;
  // A completed call was answered by other software of the business.
  return { type: 'call_ended', ...about, outcome: call.status?.toUpperCase() === 'COMPLETED' ? 'answered' : 'missed' };
}

function callerOf({ from, to, from_user_id: userId }: Static<typeof Call>, contacts: readonly Contact[], own: string) {
  // A person who hides the number may be in them by id.
  const parties = [from, to].map((party = '') => (/[a-z]/i.test(party) ? party : party.replace(/\D/g, '')));
  const other = parties.find((party) => party !== '' && party !== own);
  return other ?? userId ?? (contacts.length === 1 ? contacts[0]?.user_id : undefined);
}
