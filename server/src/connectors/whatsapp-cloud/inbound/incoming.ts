import { type Static, type TProperties, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { type MessageContent, mediaTypes } from '../../contract/content.ts';
import type { ContactCard } from '../../contract/contentParts.ts';
import type { NetworkEvent } from '../../contract/events.ts';
import type { NetworkMedia } from '../../contract/networkMedia.ts';
import { isUserId } from '../../contract/people.ts';
import { codeOfFailure, describe } from '../errors.ts';
import { UNDELIVERABLE, warningOf } from '../number/standing.ts';
import { approachOf } from './approaches.ts';
import type { Contact } from './callbacks.ts';
import { withKnownParts } from './knownParts.ts';
import { choiceOf, orderOf, productOf, referralOf } from './structured.ts';

/* https://developers.facebook.com/docs/whatsapp/cloud-api/webhooks/components */

// Fields and parts that a callback may lack.
const Text = Type.Optional(Type.String());
const Flag = Type.Optional(Type.Boolean());
const OptionalObject = <T extends TProperties>(properties: T) => Type.Optional(Type.Object(properties));
const Amount = Type.Union([Type.Number(), Type.String()]);
const Seconds = Type.Union([Type.String({ pattern: '^[0-9]{1,12}$' }), Type.Integer({ minimum: 0 })]);
const Body = OptionalObject({ body: Type.String() });
const Caption = OptionalObject({ caption: Text });
const Choice = OptionalObject({ id: Text, title: Type.String(), description: Text });
const File = OptionalObject({ id: Type.String(), caption: Text, filename: Text, voice: Flag, animated: Flag });

const Card = Type.Object({
  name: OptionalObject({ formatted_name: Text, first_name: Text, last_name: Text }),
  org: OptionalObject({ company: Text }),
  phones: Type.Optional(Type.Array(Type.Object({ phone: Text, wa_id: Text }))),
});

/** https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/messages/text */
const Referral = OptionalObject({
  source_url: Text,
  source_id: Text,
  source_type: Text,
  headline: Text,
  body: Text,
  image_url: Text,
  video_url: Text,
  thumbnail_url: Text,
  ctwa_clid: Text,
});

/** https://developers.facebook.com/documentation/business-messaging/whatsapp/calling/user-call-permissions */
const CallPermission = OptionalObject({
  response: Type.String(),
  is_permanent: Flag,
  expiration_timestamp: Type.Optional(Seconds),
});

const OrderedItem = Type.Object({
  product_retailer_id: Type.String(),
  quantity: Amount,
  item_price: Type.Optional(Amount),
  currency: Text,
});

const Problem = Type.Object({
  code: Type.Integer(),
  title: Text,
  message: Text,
  error_data: OptionalObject({ details: Text }),
});

const Message = Type.Object({
  id: Type.String(),
  from: Text,
  to: Text,
  from_user_id: Text,
  group_id: Text,
  timestamp: Seconds,
  type: Type.String(),
  context: OptionalObject({
    id: Text,
    from: Text,
    forwarded: Flag,
    frequently_forwarded: Flag,
    referred_product: OptionalObject({ catalog_id: Text, product_retailer_id: Text }),
  }),
  referral: Referral,
  text: Body,
  image: File,
  video: File,
  audio: File,
  voice: File,
  document: File,
  sticker: File,
  location: OptionalObject({ latitude: Type.Number(), longitude: Type.Number(), name: Text, address: Text }),
  contacts: Type.Optional(Type.Array(Type.Unknown())),
  reaction: OptionalObject({ message_id: Type.String(), emoji: Text }),
  revoke: OptionalObject({ original_message_id: Type.String() }),
  edit: OptionalObject({
    original_message_id: Type.String(),
    message: Type.Object({ text: Body, image: Caption, video: Caption, document: Caption }),
  }),
  button: OptionalObject({ text: Type.String(), payload: Text }),
  interactive: OptionalObject({
    button_reply: Choice,
    list_reply: Choice,
    nfm_reply: OptionalObject({ name: Text, body: Text, response_json: Text }),
    call_permission_reply: CallPermission,
  }),
  order: OptionalObject({ catalog_id: Text, text: Text, product_items: Type.Array(OrderedItem) }),
  system: OptionalObject({ body: Text, type: Text, marketing: Text }),
  unsupported: OptionalObject({ type: Text }),
  errors: Type.Optional(Type.Array(Problem)),
});
type Message = Static<typeof Message>;

const Status = Type.Object({
  id: Type.String(),
  status: Type.String(),
  timestamp: Seconds,
  biz_opaque_callback_data: Text,
  recipient_type: Text,
  recipient_participant_id: Text,
  participant_recipient_id: Text,
  recipient_participant_user_id: Text,
  pricing: OptionalObject({ billable: Flag, category: Text, type: Text, pricing_model: Text }),
  errors: Type.Optional(Type.Array(Problem)),
});

const OneMessage = Compile(Message);
const OneCard = Compile(Card);
const OneStatus = Compile(Status);

export type MessageEvent = Extract<
  NetworkEvent,
  { type: 'message' | 'reaction' | 'edited' | 'deleted' | 'chat_opened' | 'call_permission' | 'marketing_choice' }
>;

export interface LookUps {
  /** Returns the placeholder number of a person whom Meta identifies only by an id. */
  hide(userId: string): Promise<string>;
  /** Returns the digits of a person with an id and a number, which is a former one in a late callback. */
  digitsOf(userId: string, stated: string): Promise<string>;
  /** Looks up a file by its id; undefined if the message, sent at that time, is reported without it. */
  findFile(id: string, fileName: string | null, sentAt: number): Promise<NetworkMedia | undefined>;
  now(): number;
}

/** Stands for the person of a message that identifies nobody. */
const UNIDENTIFIED = 'unidentified';

/** The reason why a message cannot become an event, for the log. */
interface Unreadable {
  readonly problem: string;
}

const PART = '#';

/** The network's id of the message that one of ours is, or is a part of. */
export function wamidOf(networkId: string): string {
  return networkId.split(PART, 1)[0] ?? networkId;
}

/** @param ownNumber only for an echo, which is a message that the number itself sent with the WhatsApp Business app */
export async function toEvents(
  given: unknown,
  contacts: readonly Contact[],
  lookUps: LookUps,
  ownNumber?: string,
): Promise<MessageEvent[] | Unreadable> {
  const now = Math.floor(lookUps.now() / 1000);
  const received = withKnownParts(OneMessage, given, { type: 'unknown', timestamp: now });
  if (received === undefined) return { problem: 'a message without an id' };
  const { id: networkId, type, context, reaction } = received;
  const groupId = received.group_id || undefined;
  const isOwn = ownNumber !== undefined;
  const identified = isOwn ? (received.to?.replace(/^\+/, '') ?? groupId) : senderOf(received, contacts);
  const other = identified || UNIDENTIFIED;
  const isSender = ({ wa_id: waId, user_id: userId }: Contact) => !isOwn && (other === waId || other === userId);
  const sender = contacts.find(isSender) ?? (!isOwn && contacts.length === 1 ? contacts[0] : undefined);
  const ids = isOwn ? {} : idsOf(received, sender);
  const person = other === groupId ? other : await personOf(other, ids.userId, lookUps);
  const from = ownNumber ?? person;
  const timestamp = toMs(received.timestamp);
  if (type === 'reaction' && reaction !== undefined) {
    return [{ type: 'reaction', networkId: reaction.message_id, from, emoji: reaction.emoji || null, timestamp }];
  }
  if (type === 'revoke' && received.revoke !== undefined)
    return [{ type: 'deleted', networkId: received.revoke.original_message_id, from, timestamp }];
  if (type === 'edit' && received.edit !== undefined) {
    const { original_message_id: edited, message } = received.edit;
    const file = message.image ?? message.video ?? message.document;
    // A file without a caption is one whose caption was removed.
    const text = message.text?.body || (file && (file.caption ?? ''));
    return text === undefined
      ? { problem: 'an edit without a text' }
      : [{ type: 'edited', networkId: edited, from, text, timestamp }];
  }
  const chat =
    groupId === undefined ? { type: 'direct' as const, id: person } : { type: 'group' as const, id: groupId };
  const approach = isOwn ? undefined : approachOf(received, { networkId, chat, from, timestamp });
  if (approach !== undefined) return [approach];
  const name = sender?.profile?.name;
  const isForwarded = context?.forwarded === true || context?.frequently_forwarded === true;
  const contents = await contentsOf(received, lookUps);
  return contents.map((content, index) => ({
    type: 'message' as const,
    // A message with several contacts becomes several messages.
    networkId: index === 0 ? networkId : `${networkId}${PART}${index + 1}`,
    chat,
    from,
    ...(isOwn && { isOwn }),
    ...(name !== undefined && { senderName: name }),
    ...ids,
    content: {
      ...content,
      ...productOf(context),
      ...quotedOf(context),
      ...referralOf(received.referral),
      ...(isForwarded && { isForwarded }),
    },
    timestamp,
    replyTo: context?.id ?? null,
  }));
}

/** Meta shows the user name of a sender in the callbacks of all incoming messages. */
function idsOf({ from_user_id: given }: Message, sender: Contact | undefined) {
  const userId = given ?? sender?.user_id;
  const username = sender?.profile?.username ?? sender?.username;
  return {
    ...(userId !== undefined && isUserId(userId) && { userId }),
    ...(username !== undefined && username !== '' && { username }),
  };
}

/** Returns the message that a message replies to. Meta reports its id and sender, and not its content. */
function quotedOf(context: Message['context']): Pick<MessageContent, 'quoted'> {
  if (context?.id === undefined) return {};
  const from = context.from?.replace(/^\+/, '');
  return { quoted: { networkId: context.id, ...(from !== undefined && /^\d+$/.test(from) && { from }) } };
}

/** The phone number of the sender, or Meta's id of a sender who hides it. */
function senderOf({ from = '', from_user_id: userId }: Message, contacts: readonly Contact[]): string | undefined {
  if (/^\d+$/.test(from)) return from;
  return userId ?? (contacts.length === 1 ? contacts[0]?.user_id : undefined) ?? (from || undefined);
}

/** @param other a phone number, or Meta's id of a person who hides it */
async function personOf(other: string, userId: string | undefined, lookUps: Pick<LookUps, 'hide' | 'digitsOf'>) {
  if (!/^\d+$/.test(other)) return lookUps.hide(other);
  return userId === undefined ? other : lookUps.digitsOf(userId, other);
}

async function contentsOf(received: Message, { findFile }: LookUps): Promise<MessageContent[]> {
  const { type, text, location, contacts = [] } = received;
  const fileType = mediaTypes.find((one) => one === type);
  const file = fileType && received[fileType];
  if (file !== undefined && fileType !== undefined) {
    const media = await findFile(file.id, file.filename ?? null, toMs(received.timestamp));
    const isVoice = fileType === 'audio' && file.voice === true;
    const isAnimated = file.animated === true && { isAnimated: true };
    return [{ type: isVoice ? 'voice' : fileType, text: file.caption ?? '', ...(media && { media }), ...isAnimated }];
  }
  if (type === 'text' && text !== undefined) return [{ type, text: text.body }];
  if (type === 'location' && location !== undefined) {
    const { latitude, longitude, name, address } = location;
    return [{ type, text: '', location: { latitude, longitude, ...(name && { name }), ...(address && { address }) } }];
  }
  if (type === 'contacts' && contacts.length > 0) return contacts.map((contact) => contactOf(contact, received));
  return [answerOf(received) ?? orderedOf(received) ?? unsupportedOf(received)];
}

function contactOf(contact: unknown, received: Message): MessageContent {
  const card = withKnownParts(OneCard, contact, {});
  return card === undefined ? unsupportedOf(received) : { type: 'contact', text: '', contact: toCard(card) };
}

/** Meta leaves out the name of a contact who was saved without one. */
function toCard({ name = {}, org, phones = [] }: Static<typeof Card>): ContactCard {
  const phoneNumbers = phones.map(({ wa_id: waId, phone = '' }) => waId ?? phone.replace(/\D/g, ''));
  const parts = [name.first_name, name.last_name].filter(Boolean).join(' ');
  return {
    name: name.formatted_name || parts || org?.company || phones[0]?.phone || 'Contact',
    phoneNumbers: phoneNumbers.filter((digits) => /^\d+$/.test(digits)),
  };
}

function payloadOf({ button, interactive }: Message): string | undefined {
  return (interactive?.button_reply ?? interactive?.list_reply)?.id ?? button?.payload;
}

/** The answer to buttons, a list, a template or a form. */
function answerOf(received: Message): MessageContent | undefined {
  const { button, interactive } = received;
  const form = interactive?.nfm_reply;
  const text =
    (interactive?.button_reply ?? interactive?.list_reply)?.title ??
    button?.text ??
    (form && (form.response_json ?? form.body ?? ''));
  if (text === undefined) return undefined;
  const payload = payloadOf(received);
  return { type: 'text', text, ...choiceOf(received), ...(payload !== undefined && { payload }) };
}

function orderedOf({ order }: Message): MessageContent | undefined {
  if (order === undefined) return undefined;
  const items = order.product_items.map(
    ({ quantity, product_retailer_id: product, item_price: price, currency = '' }) =>
      `${quantity} × ${product}${price === undefined ? '' : ` (${price} ${currency})`}`,
  );
  return { type: 'order', text: [...(order.text ? [order.text] : []), ...items].join('\n'), order: orderOf(order) };
}

/** A notice, or a kind that the network does not pass on, with its reason. */
function unsupportedOf({ type, system, unsupported, errors: [error] = [] }: Message): MessageContent {
  const reason = error?.error_data?.details ?? error?.message ?? error?.title;
  const rawType = unsupported?.type ?? type;
  const text =
    system?.body ??
    `[a message of type ${rawType}, which WhatsApp does not deliver in a known form${reason ? `: ${reason}` : ''}]`;
  return { type: 'unsupported', text, rawType };
}

type ReceiptEvent = Extract<NetworkEvent, { type: 'receipt' }>;

export interface Receipt {
  /** Our own id of the message, if the status has it. */
  readonly ownId: string | undefined;
  readonly networkId: string;
  /** Meta had accepted the message, and could not use its file. */
  readonly isFileLost: boolean;
  /** Undefined for a status that is not about the progress of the message. */
  readonly event: ReceiptEvent | undefined;
}

const STATUSES: Readonly<Record<string, ReceiptEvent['status']>> = {
  sent: 'sent',
  delivered: 'delivered',
  read: 'read',
  played: 'read',
  failed: 'failed',
};

/** Meta's codes for a file that could not be fetched or uploaded. */
const FILE_CODES: ReadonlySet<number> = new Set([131052, 131053]);

export async function toReceipt(given: unknown, lookUps: LookUps): Promise<Receipt | Unreadable> {
  const received = withKnownParts(OneStatus, given, {});
  if (received === undefined) return { problem: 'a status of an unknown shape' };
  const { id: networkId, biz_opaque_callback_data: ownId, errors: [error] = [] } = received;
  const status = STATUSES[received.status];
  const isFileLost = error !== undefined && FILE_CODES.has(error.code);
  const by = await memberOf(received, lookUps);
  // The message reached the group if only one member did not get it.
  if (status === undefined || (status === 'failed' && by !== undefined))
    return { ownId, networkId, isFileLost, event: undefined };
  const { category, billable = false, type: priceType, pricing_model: model } = received.pricing ?? {};
  const priced = { ...(priceType && { type: priceType }), ...(model && { model }) };
  const warning = status === 'failed' ? warningOf(error?.code) : undefined;
  const message = error?.error_data?.details ?? error?.message ?? error?.title ?? 'the message could not be delivered';
  return {
    ownId,
    networkId,
    isFileLost,
    event: {
      type: 'receipt',
      networkIds: [ownId ?? networkId],
      status,
      timestamp: toMs(received.timestamp),
      ...(by !== undefined && { by }),
      // Its message may be an echo, or the answer with its id may still be on its way.
      ...(ownId === undefined && { isEarly: true }),
      ...(category !== undefined && { pricing: { category, billable, ...priced } }),
      ...(warning !== undefined && { warning }),
      ...(status === 'failed' && error?.code === UNDELIVERABLE && { isUnreachable: true }),
      ...(status === 'failed' && {
        error: describe({ code: error?.code ?? 0, message }),
        errorCode: codeOfFailure(error?.code ?? 0),
      }),
    },
  };
}

/**
 * Returns the digits of the group member whom a status is about. Meta's pages name the field in both ways:
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/messages/status and
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/groups/webhooks
 */
async function memberOf(
  {
    recipient_type: type,
    recipient_participant_id: id,
    participant_recipient_id: otherId,
    recipient_participant_user_id: userId,
  }: Static<typeof Status>,
  lookUps: LookUps,
): Promise<string | undefined> {
  if (type !== 'group') return undefined;
  const digits = (id ?? otherId)?.replace(/^\+/, '') ?? '';
  if (/^\d+$/.test(digits)) return personOf(digits, userId, lookUps);
  return userId === undefined ? undefined : lookUps.hide(userId);
}

function toMs(seconds: string | number): number {
  return Number(seconds) * 1000;
}
