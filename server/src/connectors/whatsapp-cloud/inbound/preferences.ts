import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { CustomerEvent } from '../../contract/business.ts';
import { isUserId } from '../../contract/people.ts';
import { isStop } from './approaches.ts';
import { withKnownParts } from './knownParts.ts';

/* https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/user_preferences */

const Text = Type.Optional(Type.String());

const Preference = Type.Object({
  wa_id: Text,
  user_id: Text,
  category: Type.String(),
  value: Type.String(),
  timestamp: Type.Optional(Type.Union([Type.String({ pattern: '^[0-9]{1,12}$' }), Type.Integer({ minimum: 0 })])),
});
const OnePreference = Compile(Preference);

export type MarketingChoice = Extract<CustomerEvent, { type: 'marketing_choice' }>;

interface ChoiceLookUps {
  hide(userId: string): Promise<string>;
  digitsOf(userId: string, stated: string): Promise<string>;
}

/** Reads a choice about marketing messages; undefined for other choices, and for an unknown shape. */
export async function readPreference(
  given: unknown,
  lookUps: ChoiceLookUps,
  now: number,
): Promise<MarketingChoice | undefined> {
  const preference = withKnownParts(OnePreference, given, {});
  if (preference?.category !== 'marketing_messages') return undefined;
  const isStopped = isStop(preference.value);
  const from = await personOf(preference, lookUps);
  if (isStopped === undefined || from === undefined) return undefined;
  const { timestamp: seconds } = preference;
  const timestamp = seconds === undefined ? now : Number(seconds) * 1000;
  return { type: 'marketing_choice', networkId: '', chat: { type: 'direct', id: from }, from, isStopped, timestamp };
}

async function personOf(
  { wa_id: waId = '', user_id: userId }: Static<typeof Preference>,
  { hide, digitsOf }: ChoiceLookUps,
): Promise<string | undefined> {
  if (/^\d{1,40}$/.test(waId)) return userId && isUserId(userId) ? digitsOf(userId, waId) : waId;
  const id = userId || waId;
  return id === '' ? undefined : hide(id);
}
