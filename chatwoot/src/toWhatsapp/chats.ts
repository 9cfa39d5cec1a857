import type { Client } from '@switchboard/sdk';
import { ApiError } from '@switchboard/sdk/errors';
import type { ChatwootConversation } from '../chatwoot/payload.ts';
import { laneOf, type Parts } from '../parts.ts';
import { isPassing } from '../passing.ts';
import { isPhoneNumber } from '../text/phoneForms.ts';

export interface SentTo {
  readonly sessionId: string;
  readonly chatId: string;
  /** Whether an agent has opened the conversation, which the chat does not link yet. */
  readonly isNew: boolean;
}

/**
 * Finds the chat of a conversation. One that an agent has opened is unknown until its first message: its contact has
 * the number, or the identifier of a group or person.
 */
export async function resolveChat(
  parts: Parts,
  sessionId: string,
  conversation: ChatwootConversation,
): Promise<SentTo | undefined> {
  const { state } = parts;
  const known = await state.chatOfConversation(sessionId, conversation.id);
  if (known !== undefined) return { sessionId, chatId: known.chatId, isNew: false };
  const prefix = `${sessionId}:`;
  const fromSource = conversation.sourceId?.startsWith(prefix)
    ? conversation.sourceId.slice(prefix.length).split(':')[0]
    : undefined;
  const { id: contactId, phoneNumber, identifier } = conversation.contact;
  const digits = phoneNumber?.replace(/\D/g, '') ?? '';
  const address = identifier?.replace(/^switchboard:/, '') ?? '';
  let chatId = fromSource;
  if (chatId === undefined && isPhoneNumber(digits)) {
    // The network decides which form of a Brazilian number is the chat; Switchboard knows it.
    chatId = await knownForm(parts.switchboard, sessionId, digits);
  }
  chatId ??= /^grp_\w+$|@/.test(address) ? address.replace(/@s\.whatsapp\.net$/, '') : undefined;
  if (chatId === undefined) return undefined;
  await parts.locks.run([laneOf(sessionId, chatId)], async () => {
    const existing = await state.chat(sessionId, chatId);
    // The newest conversation gets the answers.
    await state.saveChat({
      sessionId,
      chatId,
      contactId,
      sourceId: conversation.sourceId ?? existing?.sourceId ?? `${prefix}${chatId}`,
      conversationId: conversation.id,
      name: existing?.name,
    });
  });
  return { sessionId, chatId, isNew: true };
}

async function knownForm({ contacts }: Client, sessionId: string, digits: string): Promise<string> {
  try {
    return (await contacts.get({ contactId: digits, sessionId })).phoneNumber;
  } catch (error) {
    if (error instanceof ApiError && !isPassing(error)) return digits;
    throw error;
  }
}
