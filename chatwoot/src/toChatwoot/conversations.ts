import { ApiError } from '@switchboard/sdk/errors';
import { ChatwootError, type Conversation } from '../chatwoot/client.ts';
import { messageOf } from '../log.ts';
import { laneOf, type Parts } from '../parts.ts';
import { isPassing } from '../passing.ts';
import type { ChatRow, InboxRow } from '../state.ts';
import { isPhoneNumber } from '../text/phoneForms.ts';
import { ensureContact, nameOf, type Person } from './contacts.ts';

export type OpenChat = ChatRow & { readonly conversationId: number };

/**
 * Finds or creates the contact and the conversation of a chat. Safe to repeat after a crash in between. The lock keeps
 * jobs of other lanes from opening a second conversation.
 */
export function ensureConversation(parts: Parts, inbox: InboxRow, person: Person): Promise<OpenChat> {
  return parts.locks.run([laneOf(inbox.sessionId, person.chatId)], () => openConversation(parts, inbox, person));
}

async function openConversation(parts: Parts, inbox: InboxRow, person: Person): Promise<OpenChat> {
  const { state } = parts;
  const known = await state.chat(inbox.sessionId, person.chatId);
  const rule = parts.inboxes.get(inbox.sessionId)?.conversations ?? 'reopen';
  if (known?.conversationId !== undefined) {
    if (rule === 'reopen') return { ...known, conversationId: known.conversationId };
    const current = await currentOf(parts, known.conversationId);
    if (current !== undefined && current.status !== 'resolved') return { ...known, conversationId: current.id };
  }
  const { contactId, conversations } = await contactOf(parts, person, known?.contactId);
  const fits = ({ inbox_id, status }: Conversation) =>
    inbox_id === inbox.inboxId && (rule === 'reopen' || status !== 'resolved');
  const existing = conversations.filter(fits).toSorted((a, b) => b.id - a.id)[0];
  const ownSourceId = known?.sourceId ?? `${inbox.sessionId}:${person.chatId}`;
  const { conversation, sourceId } =
    existing === undefined
      ? await created(parts, inbox, person.chatId, contactId, ownSourceId)
      : { conversation: existing, sourceId: ownSourceId };
  const chat = {
    sessionId: inbox.sessionId,
    chatId: person.chatId,
    contactId,
    sourceId,
    conversationId: conversation.id,
    name: known?.name ?? nameOf(person),
  };
  await state.saveChat(chat);
  await linkConversation(parts, chat);
  if (known === undefined && parts.settings.typing) await followPresence(parts, chat);
  return chat;
}

/** Returns the contact and its conversations. A contact that was deleted in Chatwoot is created again. */
async function contactOf(parts: Parts, person: Person, knownId: number | undefined) {
  if (knownId !== undefined)
    try {
      return { contactId: knownId, conversations: await parts.chatwoot.listConversations(knownId) };
    } catch (error) {
      if (!(error instanceof ChatwootError && error.status === 404)) throw error;
    }
  const { id } = await ensureContact(parts, person);
  return { contactId: id, conversations: await parts.chatwoot.listConversations(id) };
}

async function currentOf({ chatwoot }: Parts, conversationId: number): Promise<Conversation | undefined> {
  try {
    return await chatwoot.getConversation(conversationId);
  } catch (error) {
    if (error instanceof ChatwootError && error.status === 404) return undefined;
    throw error;
  }
}

async function created(
  { chatwoot }: Parts,
  { inboxId, sessionId }: InboxRow,
  chatId: string,
  contactId: number,
  sourceId: string,
): Promise<{ conversation: Conversation; sourceId: string }> {
  const fields = {
    inbox_id: inboxId,
    contact_id: contactId,
    custom_attributes: { switchboard_session: sessionId, switchboard_chat: chatId },
  };
  try {
    return { conversation: await chatwoot.createConversation({ ...fields, source_id: sourceId }), sourceId };
  } catch (error) {
    // "source_id should be unique": it belongs to a contact that was merged (conversations_controller.rb).
    if (!(error instanceof ChatwootError && error.status === 422 && error.message.includes('source_id'))) throw error;
    const other = `${sourceId}:${contactId}`;
    return { conversation: await chatwoot.createConversation({ ...fields, source_id: other }), sourceId: other };
  }
}

/** Puts the address of the conversation into the metadata of the chat, which the dashboard shows as a link. */
export async function linkConversation(
  { switchboard, settings, log }: Parts,
  { sessionId, chatId, conversationId }: Pick<OpenChat, 'sessionId' | 'chatId' | 'conversationId'>,
): Promise<void> {
  const chatwoot = `${settings.chatwootUrl}/app/accounts/${settings.accountId}/conversations/${conversationId}`;
  try {
    await switchboard.chats.update({ sessionId, chatId, metadata: { chatwoot } });
  } catch (error) {
    log('info', 'cannot link a conversation', { sessionId, error: messageOf(error) });
  }
}

/** Sessions follow a limited number of contacts, so the one that was followed first makes room. */
export async function followPresence(
  { switchboard, state, log }: Pick<Parts, 'switchboard' | 'state' | 'log'>,
  { sessionId, chatId }: Pick<ChatRow, 'sessionId' | 'chatId'>,
): Promise<void> {
  if (!isPhoneNumber(chatId)) return;
  try {
    const followed = await state.followedChats(sessionId);
    if (followed.length >= MAX_FOLLOWED) {
      const [oldest = ''] = followed;
      await switchboard.contacts.followPresence({ sessionId, phoneNumber: oldest, followed: false }).catch((error) => {
        // A contact that was erased is no longer followed.
        if (!(error instanceof ApiError) || isPassing(error)) throw error;
      });
      await state.setFollowed(sessionId, oldest, null);
    }
    await switchboard.contacts.followPresence({ sessionId, phoneNumber: chatId, followed: true });
    await state.setFollowed(sessionId, chatId, Date.now());
  } catch (error) {
    // The Cloud API has no presence, and without it only typing is missing.
    log('info', 'cannot follow presence', { sessionId, error: messageOf(error) });
  }
}

/** Some below the 50 that a WhatsApp session follows, for other programs. */
const MAX_FOLLOWED = 40;
