import type { Chat } from '@switchboard/sdk/api';
import { useQuery } from '@tanstack/react-query';
import { api } from '../api.ts';
import { isNotFound } from '../components/states.tsx';
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

/** One chat: of those that were listed, or read on its own when it is further down. Undefined while nothing was written. */
export function useChat(sessionId: string, chatId: string, listed: readonly Chat[]): Chat | undefined {
  const found = listed.find((chat) => chat.chatId === chatId);
  const { data } = useQuery({
    queryKey: ['chats', sessionId, chatId],
    queryFn: () =>
      api.chats.get({ sessionId, chatId }).catch((error: unknown) => {
        if (isNotFound(error)) return null;
        throw error;
      }),
    enabled: found === undefined,
  });
  return found ?? data ?? undefined;
}
