import type { EventData } from '@switchboard/sdk/api';
import type { ChatwootTyping } from './chatwoot/payload.ts';
import type { Parts } from './parts.ts';

/** Older reports are of no use: an indicator disappears after about 25 s. */
const MAX_AGE_MS = 20_000;
const MAX_AT_ONCE = 20;

/**
 * Passes on who is typing. It is not stored: a report that is lost or late is worth nothing. Only the last report of a
 * chat waits while another one is on its way.
 */
export class Typing {
  readonly #parts: Parts;
  readonly #running = new Map<string, Promise<void>>();
  readonly #next = new Map<string, () => Promise<void>>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  ofContact(sessionId: string, data: EventData['presence.updated']): void {
    const { chatId, presence, timestamp, groupId } = data;
    if (!this.#parts.settings.typing || groupId !== undefined) return;
    if (Math.abs(Date.now() - Date.parse(timestamp)) > MAX_AGE_MS) return;
    const isTyping = presence === 'typing' || presence === 'recording';
    this.#run(`contact:${sessionId}:${chatId}`, async () => {
      const { state, chatwoot } = this.#parts;
      const [inbox, chat] = await Promise.all([state.inbox(sessionId), state.chat(sessionId, chatId)]);
      if (inbox === undefined || chat?.conversationId === undefined) return;
      await chatwoot.setContactTyping(inbox.identifier, chat.sourceId, chat.conversationId, isTyping);
    });
  }

  ofAgent(sessionId: string, { event, conversation }: ChatwootTyping): void {
    if (!this.#parts.settings.typing) return;
    this.#run(`agent:${sessionId}:${conversation.id}`, async () => {
      const chat = await this.#parts.state.chatOfConversation(sessionId, conversation.id);
      if (chat === undefined) return;
      const state = event === 'conversation_typing_on' ? 'typing' : 'paused';
      await this.#parts.switchboard.chats.setTyping({ chatId: chat.chatId, sessionId, state });
    });
  }

  async stop(): Promise<void> {
    this.#next.clear();
    await Promise.all(this.#running.values());
  }

  #run(key: string, report: () => Promise<void>): void {
    if (this.#running.has(key)) {
      this.#next.set(key, report);
      return;
    }
    if (this.#running.size >= MAX_AT_ONCE) return;
    const running = report()
      .catch(() => {}) // the other side is down, or does not support it
      .finally(() => {
        this.#running.delete(key);
        const next = this.#next.get(key);
        this.#next.delete(key);
        if (next !== undefined) this.#run(key, next);
      });
    this.#running.set(key, running);
  }
}
