import type { Chat, Label } from '@switchboard/sdk/api';
import { useQuery } from '@tanstack/react-query';
import { api } from '../api.ts';
import { isNotFound } from '../components/page/states.tsx';
import { useLivePaged } from '../live/livePaged.ts';

const idOf = ({ chatId }: Chat) => chatId;

/** The chats of a session, most recent first. */
export function useChats(sessionId: string, filter: { hasReferral?: true; adId?: string } = {}) {
  return useLivePaged({
    key: ['chats', sessionId, filter],
    read: (page) => api.chats.list({ sessionId, ...filter, ...page }),
    idOf,
  });
}

/** The labels of a session by their ids. */
export function useLabels(sessionId: string): ReadonlyMap<string, Label> {
  const { data = [] } = useQuery({
    queryKey: ['labels', sessionId],
    queryFn: async () => (await api.labels.list({ sessionId })).data,
  });
  return new Map(data.map((label) => [label.labelId, label]));
}

/** Finds a chat in the list, or fetches it if it is further down. Undefined until its first message. */
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
