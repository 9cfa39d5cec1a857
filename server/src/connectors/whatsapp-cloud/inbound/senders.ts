import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { Ids, Move } from '../people.ts';
import type { Change, Contact } from './callbacks.ts';

/*
 * The ids of people in callbacks: a phone number, a business-scoped user id, or both.
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/business-scoped-user-ids
 */

const Text = Type.Optional(Type.String());

const Sender = Compile(
  Type.Object({ from: Text, from_user_id: Type.String(), from_parent_user_id: Text, group_id: Text }),
);
const Recipient = Compile(
  Type.Object({ recipient_id: Text, recipient_user_id: Type.String(), recipient_parent_user_id: Text }),
);
/** A member of the group that a message was sent to. */
const Member = Compile(
  Type.Object({
    recipient_participant_id: Text,
    recipient_participant_user_id: Type.String(),
    recipient_participant_parent_user_id: Text,
  }),
);

/** Returns the ids of the people in a callback, each person once. */
export function idsIn(
  { messages = [], statuses = [] }: Pick<Change['value'], 'messages' | 'statuses'>,
  contacts: readonly Contact[],
): Ids[] {
  const found = new Map<string, Ids>();
  const add = ({ userId, ...more }: Ids) => {
    const known = Object.entries({ ...found.get(userId), ...more }).filter(([, value]) => value !== undefined);
    const ids = Object.fromEntries([...Object.entries(found.get(userId) ?? {}), ...known]);
    found.set(userId, { ...ids, userId });
  };
  const changed = new Set(messages.map((message) => moveOf(message)?.userId));
  // The notice of a new id comes first: it joins the person who had the number with the id.
  for (const { user_id: userId, parent_user_id: parentUserId, wa_id: waId, username, profile } of contacts)
    if (userId && !changed.has(userId))
      add({
        userId,
        ...(parentUserId !== userId && { parentUserId }),
        username: profile?.username ?? username,
        name: profile?.name,
        phoneNumber: digitsOf(waId),
      });
  for (const message of messages)
    if (Sender.Check(message) && !isNotice(message))
      add({
        userId: message.from_user_id,
        parentUserId: message.from_parent_user_id,
        phoneNumber: digitsOf(message.from),
      });
  for (const status of statuses) {
    if (Recipient.Check(status))
      add({
        userId: status.recipient_user_id,
        parentUserId: status.recipient_parent_user_id,
        phoneNumber: digitsOf(status.recipient_id),
      });
    if (Member.Check(status))
      add({
        userId: status.recipient_participant_user_id,
        parentUserId: status.recipient_participant_parent_user_id,
        phoneNumber: digitsOf(status.recipient_participant_id),
      });
  }
  return [...found.values()];
}

const Notice = Compile(
  Type.Object({
    id: Type.String(),
    type: Type.Literal('system'),
    from: Text,
    from_user_id: Text,
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
export function moveOf(message: unknown): (Move & { readonly networkId: string }) | undefined {
  if (!Notice.Check(message)) return undefined;
  const { id: networkId, from, from_user_id: fromUserId, system } = message;
  const { user_id: userId, parent_user_id: parentUserId, previous_user_id: previousUserId } = system;
  // Until v12.0, the new number was `new_wa_id`.
  const phoneNumber = digitsOf(system.new_wa_id ?? system.wa_id);
  const isOfNumber = system.type.endsWith('_number');
  const formerNumber = digitsOf(from) ?? (isOfNumber ? undefined : phoneNumber);
  const formerUserId = previousUserId ?? (fromUserId === userId ? undefined : fromUserId);
  // Otherwise only its text has the change.
  const isReadable = phoneNumber !== undefined || userId !== undefined;
  return isReadable ? { networkId, formerNumber, formerUserId, phoneNumber, userId, parentUserId } : undefined;
}

const CONTACT_REQUEST = 'contact_request';

const Shared = Compile(
  Type.Object({
    type: Type.Literal('contacts'),
    from: Text,
    from_user_id: Text,
    origin: Text,
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
export function sharedIdsOf(message: unknown, contacts: readonly Contact[]): Ids | undefined {
  if (!Shared.Check(message)) return undefined;
  const [card] = message.contacts;
  if ((message.origin ?? card?.origin) !== CONTACT_REQUEST) return undefined;
  const userId = message.from_user_id ?? (contacts.length === 1 ? contacts[0]?.user_id : undefined);
  const numbers = new Set(card?.phones.flatMap(({ wa_id: waId, phone }) => digitsOf(waId ?? phone) ?? []));
  const [phoneNumber] = numbers;
  return userId && numbers.size === 1 ? { userId, phoneNumber } : undefined;
}

const NUMBER = /^[1-9]\d{4,14}$/;

function digitsOf(text: string | undefined): string | undefined {
  const digits = text?.replace(/[\s()+.-]/g, '') ?? '';
  return NUMBER.test(digits) ? digits : undefined;
}
