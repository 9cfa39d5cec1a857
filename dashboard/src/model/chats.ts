import type { Chat } from '@switchboard/sdk/api';
import { api } from '../api.ts';
import { useLivePaged } from '../livePaged.ts';

/** What others edit or delete comes without an event. */
const REFRESH_MS = 10_000;
const idOf = ({ chatId }: Chat) => chatId;

/** The chats of a session, the latest first. */
export function useChats(sessionId: string) {
  return useLivePaged({
    key: ['chats', sessionId],
    read: (page) => api.chats.list({ sessionId, ...page }),
    idOf,
    everyMs: REFRESH_MS,
  });
}
