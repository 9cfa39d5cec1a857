import { badRequest, unprocessable } from './wahaErrors.ts';

/*
 * Ids of WAHA. A chat is `491707654321@c.us`, `…@g.us` or `…@lid`. A message is `{fromMe}_{chat}_{id}`
 * (`buildMessageId` and `parseMessageIdSerialized` in `session.noweb.core.ts` of devlikeapro/waha). Its last part is
 * our id without `msg_`: it exists as soon as a message is stored, and finds the message without a search.
 */

const MAX_ID = 300;
const OWN_ID = /^[0-9A-HJKMNP-TV-Z]{26}$/;

/**
 * The chat as the API takes it. WAHA completes bare numbers (`ensureSuffix`).
 * @throws {WahaError} 400, or 422 for a status or channel
 */
export function chatOf(chatId: string): string {
  const chat = chatId.trim();
  if (chat === '' || chat.length > MAX_ID || /[\s/]/.test(chat)) throw badRequest('chatId must be a chat id');
  if (chat.endsWith('@broadcast')) throw unprocessable(`${chat} is not supported; use /status of Switchboard`);
  if (chat.endsWith('@newsletter')) throw unprocessable(`${chat} is not supported; use /channels of Switchboard`);
  // A group whose address is not known, as `wahaChat` returns it.
  return chat.includes('@') || chat.startsWith('grp_') ? chat : `${bareNumber(chat)}@c.us`;
}

const bareNumber = (text: string) => text.trim().replace(/^\+/, '');

/** The digits of a person. WAHA accepts the id of their chat, too. */
export const numberOf = (person: string) => bareNumber(person.split('@')[0] ?? '');

export const isLid = (person: string) => person.trim().endsWith('@lid');

interface Mentions {
  readonly mentions?: string[];
  readonly mentionAll?: true;
}

/** `all` mentions everyone in a group, since WAHA 2025.11.1 (devlikeapro/waha#1377). A LID stays whole. */
export function mentionsOf(given: readonly string[] = []): Mentions {
  const people = given.filter((one) => one !== 'all');
  return {
    ...(people.length > 0 && {
      mentions: [...new Set(people.map((one) => (isLid(one) ? one.trim() : numberOf(one))))],
    }),
    ...(people.length < given.length && { mentionAll: true }),
  };
}

/** WAHA writes `@c.us` where the network writes `@s.whatsapp.net` (`toCusFormat`). */
export function wahaChat(address: string): string {
  if (address.startsWith('grp_')) return address; // a group whose address is not known
  return address.includes('@') ? address.replace(/@s\.whatsapp\.net$/, '@c.us') : `${address}@c.us`;
}

/** The last part of a message id. */
export const bareId = (messageId: string) => messageId.replace(/^msg_/, '');

export function wahaMessageId(fromMe: boolean, chat: string, messageId: string): string {
  return `${fromMe}_${chat}_${bareId(messageId)}`;
}

export interface MessageRef {
  /** Id at Switchboard, if the id has it. */
  readonly messageId: string | undefined;
  /** Id on the network, if the id comes from WAHA. */
  readonly networkId: string;
  /** Undefined for a bare id. */
  readonly chat: string | undefined;
}

/** @throws {WahaError} 400 */
export function messageRefOf(given: string): MessageRef {
  if (given.length > MAX_ID) throw badRequest('messageId is too long');
  const bare = given.startsWith('msg_') ? given.slice(4) : given;
  // The id of a message in a group has the participant as its fourth part.
  const [, chat, id = bare] = /^(?:true|false)_((?:grp_)?[^_]+)_([^_]+)(?:_[^_]+)?$/.exec(given) ?? [];
  if (!/^[\w.:-]+$/.test(id)) throw badRequest('Message id be in format false_11111111111@c.us_AAAAAAAAAAAAAAAAAAAA');
  return { messageId: OWN_ID.test(id) ? `msg_${id}` : undefined, networkId: id, chat: chat && chatOf(chat) };
}
