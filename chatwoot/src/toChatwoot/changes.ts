import type { EventData } from '@switchboard/sdk/api';
import { ChatwootError } from '../chatwoot/client.ts';
import { laneOf, SOURCE_PREFIX } from '../parts.ts';
import { done, type Outcome } from '../queue/worker.ts';
import type { LinkRow } from '../state.ts';
import { toMarkdown } from '../text/markdown.ts';
import { digestOf } from '../toWhatsapp/digest.ts';
import { rename, setNumber } from './contacts.ts';
import type { Content } from './content.ts';
import type { Attempt } from './handler.ts';
import { MessageMirror } from './messages.ts';

/*
 * Changes of messages. Chatwoot has no reactions or edits for API inboxes, so they are replies to the message that they
 * change. Changes that the bridge made itself come back as events and are ignored.
 */

export const reactionEcho = (messageId: string, emoji: string) => `reaction:${messageId}:${emoji}`;
export const editEcho = (messageId: string, text: string) => `edit:${messageId}:${text}`;
export const deletionEcho = (messageId: string) => `deletion:${messageId}`;

type Change = EventData['message.deleted'];

export async function reacted(attempt: Attempt, data: EventData['message.reaction']): Promise<Outcome> {
  const isOwn = data.fromMe && (await attempt.parts.state.isEcho(reactionEcho(data.messageId, data.emoji ?? '')));
  if (isOwn) return done();
  return reply(attempt, data, { text: data.emoji ?? '_Reaction removed_' });
}

export async function changedText(attempt: Attempt, data: EventData['message.edited']): Promise<Outcome> {
  if (data.fromMe && (await attempt.parts.state.isEcho(editEcho(data.messageId, digestOf(data.message)))))
    return done();
  return reply(attempt, data, { text: `✏️ ${toMarkdown(data.message)}` });
}

export async function replacedFile(attempt: Attempt, data: EventData['message.media']): Promise<Outcome> {
  const media = data.media ?? data.livePhoto;
  if (media === undefined) return done();
  return reply(attempt, data, {
    text: '',
    media: { ...media, name: media.fileName ?? `better.${media.mimeType.split('/')[1] ?? 'bin'}` },
  });
}

/** Deletes the message in Chatwoot too, or adds a note, by the setting. */
export async function deleted(attempt: Attempt, data: Change): Promise<Outcome> {
  const { state, chatwoot, settings } = attempt.parts;
  if (await state.isEcho(deletionEcho(data.messageId))) return done();
  const link = await state.link(data.messageId);
  if (link === undefined || data.test) return done();
  if (settings.deletions === 'note') return reply(attempt, data, { text: '🗑️ _This message was deleted_' });
  // Chatwoot reports the deletion back in `message_updated`.
  await state.expectEcho(`chatwoot-deletion:${link.chatwootId}`);
  try {
    await chatwoot.deleteMessage(link.conversationId, link.chatwootId);
  } catch (error) {
    if (!(error instanceof ChatwootError && error.status === 404)) throw error;
  }
  return done();
}

/** Passes another name or number of a contact on. A contact that was deleted in Chatwoot has neither. */
export function changedContact(attempt: Attempt, data: EventData['contact.updated']): Promise<Outcome> {
  const { sessionId } = attempt.inbox;
  const ids = [data.previousPhoneNumber ?? data.phoneNumber, data.phoneNumber];
  return attempt.parts.locks.run(
    ids.map((id) => laneOf(sessionId, id)),
    () => changeContact(attempt, data),
  );
}

async function changeContact(attempt: Attempt, data: EventData['contact.updated']): Promise<Outcome> {
  const { parts, inbox } = attempt;
  const { sessionId } = inbox;
  const { networkChatId: networkId, phoneNumber: chatId, previousPhoneNumber: former } = data;
  if (data.test) return done();
  const person = { sessionId, chatId, networkId, name: data.name ?? undefined };
  const old = former === undefined || former === chatId ? undefined : await parts.state.chat(sessionId, former);
  if (old !== undefined) {
    const kept = await setNumber(parts, old.contactId, person);
    await parts.state.moveChat(old, chatId, kept);
    // The contact that was kept has its own name.
    if (kept !== undefined) return done();
  }
  const chat = await parts.state.chat(sessionId, chatId);
  if (chat === undefined || data.name === null || data.name === chat.name) return done();
  try {
    await rename(parts, chat.contactId, chat.name, data.name);
  } catch (error) {
    if (!(error instanceof ChatwootError && error.status === 404)) throw error;
  }
  await parts.state.setName(sessionId, chatId, data.name);
  return done();
}

/** Creates a message that replies to the changed one. A change of an unknown message is left out. */
async function reply(attempt: Attempt, data: Change, content: Content): Promise<Outcome> {
  const link = await attempt.parts.state.link(data.messageId);
  if (link === undefined || data.test) return done();
  const mirror = new MessageMirror(attempt);
  const chat = await mirror.openChat(data, undefined);
  await mirror.create(chat, content, data.fromMe ? 'outgoing' : 'incoming', {
    sourceId: `${SOURCE_PREFIX}${attempt.eventId}`,
    inReplyTo: targetOf(link, chat.conversationId),
  });
  return done();
}

const targetOf = (link: LinkRow, conversationId: number) =>
  link.conversationId === conversationId ? link.chatwootId : undefined;
