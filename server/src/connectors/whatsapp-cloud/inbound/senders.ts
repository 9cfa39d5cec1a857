import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { Ids, Move } from '../people.ts';
import type { Change, Contact } from './callbacks.ts';

/*
 * The ids of people in callbacks: a phone number, a business-scoped user id, or both.
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/business-scoped-user-ids
 */

const Text = Type.Optional(Type.String());
const At = Type.Optional(Type.Unknown());

const DAY_MS = 24 * 3600_000;

const Sender = Compile(Type.Object({ from: Text, from_user_id: Text, from_parent_user_id: Text, timestamp: At }));
const Caller = Compile(Type.Object({ from: Text, to: Text, from_user_id: Text, timestamp: At }));
/** A person who chooses about marketing messages. */
const Chooser = Compile(Type.Object({ wa_id: Text, user_id: Text, parent_user_id: Text, timestamp: At }));
const Recipient = Compile(
  Type.Object({ recipient_id: Text, recipient_user_id: Text, recipient_parent_user_id: Text, timestamp: At }),
);
/** A member of the group that a message was sent to. */
const Member = Compile(
  Type.Object({
    recipient_participant_id: Text,
    recipient_participant_user_id: Text,
    recipient_participant_parent_user_id: Text,
    timestamp: At,
  }),
);

type Parts = Partial<Pick<Change['value'], 'messages' | 'statuses' | 'calls' | 'user_preferences'>>;

/** A part of a callback about a person, with or without an id. */
type Statement = Omit<Ids, 'userId'> & { readonly userId: string | undefined };

/** Returns the ids of the people in a callback, each person once. */
export function idsIn(parts: Parts, contacts: readonly Contact[], ownNumber: string, now: number): Ids[] {
  const found = new Map<string, Ids>();
  const add = (ids: Ids) => {
    const known = found.get(ids.userId);
    found.set(ids.userId, known === undefined ? ids : joined(known, ids));
  };
  const { messages = [] } = parts;
  const statements = statementsIn(parts, ownNumber, now);
  const changed = new Set(messages.map((message) => moveOf(message, now)?.userId));
  // The notice of a new id comes first: it joins the person who had the number with the id.
  for (const { user_id: userId, parent_user_id: parentUserId, wa_id: waId, username, profile } of contacts)
    if (userId && !changed.has(userId)) {
      const phoneNumber = digitsOf(waId);
      add({
        userId,
        ...(parentUserId !== userId && { parentUserId }),
        username: profile?.username ?? username,
        name: profile?.name,
        phoneNumber,
        ...originOf(statements, userId, phoneNumber, now),
      });
    }
  for (const { userId, ...statement } of statements) if (userId) add({ ...statement, userId });
  return [...found.values()];
}

function statementsIn({ messages = [], statuses = [], calls = [], ...parts }: Parts, ownNumber: string, now: number) {
  const found: Statement[] = [];
  for (const message of messages)
    if (Sender.Check(message) && !isNotice(message))
      found.push({
        userId: message.from_user_id,
        parentUserId: message.from_parent_user_id,
        phoneNumber: digitsOf(message.from),
        at: timeOf(message, now),
      });
  for (const call of calls)
    if (Caller.Check(call)) {
      const phoneNumber = [call.from, call.to].map(digitsOf).find((digits) => digits && digits !== ownNumber);
      found.push({ userId: call.from_user_id, phoneNumber, at: timeOf(call, now) });
    }
  const ofPast = (part: Timed) => ({ at: timeOf(part, now), isOfPast: true });
  for (const choice of parts.user_preferences ?? [])
    if (Chooser.Check(choice)) {
      const { user_id: userId, parent_user_id: parentUserId, wa_id: waId } = choice;
      found.push({ userId, parentUserId, phoneNumber: digitsOf(waId), ...ofPast(choice) });
    }
  for (const status of statuses) {
    if (Recipient.Check(status))
      found.push({
        userId: status.recipient_user_id,
        parentUserId: status.recipient_parent_user_id,
        phoneNumber: digitsOf(status.recipient_id),
        ...ofPast(status),
      });
    if (Member.Check(status))
      found.push({
        userId: status.recipient_participant_user_id,
        parentUserId: status.recipient_participant_parent_user_id,
        phoneNumber: digitsOf(status.recipient_participant_id),
        ...ofPast(status),
      });
  }
  return found;
}

/** Joins two statements about a person. The newer number stays, unless only that one can be a former one. */
function joined(one: Ids, other: Ids): Ids {
  const [older, newer] = one.at <= other.at ? [one, other] : [other, one];
  const shown = [newer, older].filter(({ phoneNumber }) => phoneNumber !== undefined);
  const { phoneNumber, at, isOfPast } = shown.find((ids) => !ids.isOfPast) ?? shown[0] ?? newer;
  return { ...given(older), ...given(newer), userId: one.userId, phoneNumber, at, ...(isOfPast && { isOfPast }) };
}

const given = (ids: Ids): Partial<Ids> =>
  Object.fromEntries(Object.entries(ids).filter(([, value]) => value !== undefined));

/** Returns the time of an entry in `contacts`, which has none: that of the part about the same person. */
function originOf(statements: readonly Statement[], userId: string, phoneNumber: string | undefined, now: number) {
  const isSame = (one: Statement) => one.userId === userId || (one.userId === undefined && !isOther(one));
  const isOther = (one: Statement) => one.phoneNumber !== undefined && one.phoneNumber !== phoneNumber;
  const same = statements.filter((one) => isSame(one) && !isOther(one));
  const about = same.length > 0 ? same : statements;
  const at = same.length > 0 ? Math.max(...same.map((one) => one.at)) : Math.min(now, ...about.map((one) => one.at));
  const isOfPast = about.length > 0 && about.every((one) => one.isOfPast);
  return { at, ...(isOfPast && { isOfPast }) };
}

interface Timed {
  readonly timestamp?: unknown;
}

/** Returns the time of a part in milliseconds. One in the far future would outlast all later statements. */
function timeOf({ timestamp }: Timed, now: number): number {
  const seconds = typeof timestamp === 'string' || typeof timestamp === 'number' ? Number(timestamp) : Number.NaN;
  return Number.isSafeInteger(seconds) && seconds >= 0 ? Math.min(seconds * 1000, now + DAY_MS) : now;
}

const Notice = Compile(
  Type.Object({
    id: Type.String(),
    type: Type.Literal('system'),
    from: Text,
    from_user_id: Text,
    timestamp: At,
    system: Type.Object({
      type: Type.String({ pattern: '^(user|customer)_changed_(number|user_id)$' }),
      wa_id: Text,
      new_wa_id: Text,
      user_id: Text,
      parent_user_id: Text,
      previous_user_id: Text,
    }),
  }),
);

const isNotice = (message: unknown) => Notice.Check(message);

/**
 * Returns the change of a number or an id that a message announces; undefined for other messages.
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/messages/system
 */
export function moveOf(message: unknown, now: number): (Move & { readonly networkId: string }) | undefined {
  if (!Notice.Check(message)) return undefined;
  const { id: networkId, from, from_user_id: fromUserId, system } = message;
  const { user_id: userId, parent_user_id: parentUserId, previous_user_id: previousUserId } = system;
  // Until v12.0, the new number was `new_wa_id`.
  const phoneNumber = digitsOf(system.new_wa_id ?? system.wa_id);
  const isOfNumber = system.type.endsWith('_number');
  const formerNumber = digitsOf(from) ?? (isOfNumber ? undefined : phoneNumber);
  const formerUserId = previousUserId ?? (fromUserId === userId && !isOfNumber ? undefined : fromUserId);
  // Otherwise only its text has the change.
  const isReadable = phoneNumber !== undefined || userId !== undefined;
  if (!isReadable) return undefined;
  const at = timeOf(message, now);
  return { networkId, formerNumber, formerUserId, phoneNumber, userId, parentUserId, at };
}

const CONTACT_REQUEST = 'contact_request';

const Shared = Compile(
  Type.Object({
    type: Type.Literal('contacts'),
    from: Text,
    from_user_id: Text,
    origin: Text,
    timestamp: At,
    contacts: Type.Array(
      Type.Object({ origin: Text, phones: Type.Array(Type.Object({ phone: Text, wa_id: Text }), { maxItems: 10 }) }),
      { minItems: 1, maxItems: 1 },
    ),
  }),
);

/**
 * Returns the ids of a person who answers a request for the phone number. Other cards can belong to
 * someone else.
 */
export function sharedIdsOf(message: unknown, contacts: readonly Contact[], now: number): Ids | undefined {
  if (!Shared.Check(message)) return undefined;
  const [card] = message.contacts;
  if ((message.origin ?? card?.origin) !== CONTACT_REQUEST) return undefined;
  const userId = message.from_user_id ?? (contacts.length === 1 ? contacts[0]?.user_id : undefined);
  const numbers = new Set(card?.phones.flatMap(({ wa_id: waId, phone }) => digitsOf(waId ?? phone) ?? []));
  const [phoneNumber] = numbers;
  return userId && numbers.size === 1 ? { userId, phoneNumber, at: timeOf(message, now) } : undefined;
}

const NUMBER = /^[1-9]\d{4,14}$/;

function digitsOf(text: string | undefined): string | undefined {
  const digits = text?.replace(/[\s()+.-]/g, '') ?? '';
  return NUMBER.test(digits) ? digits : undefined;
}
