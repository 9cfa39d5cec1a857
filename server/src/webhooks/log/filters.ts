import type { EventKind } from '../../events/events.ts';
import { isChannelId, isGroupId } from '../../ids.ts';

type ChatType = 'direct' | 'group' | 'channel';

/** Selects the events of a webhook. A field that is left out selects all. */
export interface WebhookFilters {
  /** Chat ids, their beginnings followed by `*`, or user ids of people. */
  readonly chats?: readonly string[];
  readonly ignoredChats?: readonly string[];
  readonly chatTypes?: readonly ChatType[];
  /** Whether the session's own number caused the event. */
  readonly fromMe?: boolean;
  readonly messageTypes?: readonly string[];
  /** Whether the sender came through an ad or post. */
  readonly hasReferral?: boolean;
  /** The network's ids of ads and posts. */
  readonly adIds?: readonly string[];
  /** Phone number digits of the people who caused the event. Only for subscriptions of MCP clients. */
  readonly senders?: readonly string[];
}

/** An event as filters see it. */
export interface Filtered {
  readonly kind: EventKind;
  /** The chat of the event; empty if it has none. */
  readonly chatId: string;
  readonly fromMe: boolean | undefined;
  readonly messageType: string | undefined;
  readonly from: string | undefined;
  /** The ad or post that the sender tapped before writing. */
  readonly referral: Referral | undefined;
  /** The chat under which the person was known before the number was. */
  readonly previousChatId?: string | undefined;
  /** User ids of the person in the data of the event. */
  readonly userIds?: readonly string[] | undefined;
  /** User ids that the person of the chat has at present. */
  readonly chatUserIds?: readonly string[] | undefined;
}

/** Whether filters list people by user ids, the only entries with a dot. */
export const listsUserIds = ({ chats = [], ignoredChats = [] }: WebhookFilters): boolean =>
  [chats, ignoredChats].some((list) => list.some((entry) => entry.includes('.')));

/** Returns the parts of an event's `data` that filters look at. */
export function filteredBy(data: object): Omit<Filtered, 'kind' | 'chatId'> {
  const { fromMe, type: messageType, from, referral, previousPhoneNumber: previousChatId }: FilteredData = data;
  const { phoneNumber, userId, previousUserId }: FilteredData = data;
  // Only a contact: in groups, the chat is not the person.
  const userIds = phoneNumber === undefined ? [] : [userId, previousUserId].filter((id) => id !== undefined);
  return { fromMe, messageType, from, referral, previousChatId, userIds };
}

interface Referral {
  readonly adId?: string;
}

interface FilteredData {
  readonly fromMe?: boolean;
  readonly type?: string;
  readonly from?: string;
  readonly referral?: Referral;
  readonly phoneNumber?: string;
  readonly previousPhoneNumber?: string;
  readonly userId?: string;
  readonly previousUserId?: string;
}

/** Returns whether an event passes the filters. One without the property that a filter is about passes it. */
export function passesFilters(filters: WebhookFilters, event: Filtered): boolean {
  return isOfChats(filters, event) && isOfContent(filters, event) && isOfAds(filters, event);
}

function isOfChats({ chats, ignoredChats, chatTypes }: WebhookFilters, event: Filtered): boolean {
  const { chatId, previousChatId, userIds = [], chatUserIds = [] } = event;
  if (chatId === '') return true;
  const ids = [chatId, ...(previousChatId === undefined ? [] : [previousChatId]), ...userIds, ...chatUserIds];
  const isListed = (patterns: readonly string[]) =>
    patterns.some((pattern) => ids.some((id) => includesChat(pattern, id)));
  if (chats !== undefined && !isListed(chats)) return false;
  if (ignoredChats !== undefined && isListed(ignoredChats)) return false;
  return chatTypes?.includes(typeOf(chatId)) ?? true;
}

function typeOf(chatId: string): ChatType {
  if (isChannelId(chatId)) return 'channel';
  return isGroupId(chatId) ? 'group' : 'direct';
}

function isOfContent({ fromMe, messageTypes, senders }: WebhookFilters, event: Filtered): boolean {
  if (senders !== undefined && event.from !== undefined && !senders.includes(event.from)) return false;
  const isMine = event.fromMe ?? ownKinds.get(event.kind);
  if (fromMe !== undefined && isMine !== undefined && isMine !== fromMe) return false;
  return messageTypes === undefined || event.messageType === undefined || messageTypes.includes(event.messageType);
}

function isOfAds({ hasReferral, adIds }: WebhookFilters, { kind, referral }: Filtered): boolean {
  if (!referredKinds.includes(kind)) return true;
  if (hasReferral !== undefined && hasReferral !== (referral !== undefined)) return false;
  return adIds === undefined || (referral?.adId !== undefined && adIds.includes(referral.adId));
}

function includesChat(pattern: string, chatId: string): boolean {
  return pattern.endsWith('*') ? chatId.startsWith(pattern.slice(0, -1)) : pattern === chatId;
}

/** Event types that report an ad or post. The session's own messages never come through one. */
export const referredKinds: readonly EventKind[] = ['message.incoming', 'chat.opened'];

/** Event types that do not say in `fromMe` who caused them → whether it was the session. */
const ownKinds: ReadonlyMap<EventKind, boolean> = new Map([
  ['message.incoming', false],
  ['message.sent', true],
  ['message.delivered', true],
  ['message.read', true],
  ['message.failed', true],
  ['message.queued', true],
  ['message.approval', true],
  ['presence.updated', false],
  ['call.incoming', false],
  ['call.ended', false],
  ['chat.opened', false],
  ['call.permission', false],
  ['contact.marketing', false],
]);
