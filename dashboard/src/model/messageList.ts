import type { Message } from '@switchboard/sdk/api';
import { useMemo } from 'react';
import { api } from '../api.ts';
import { isNotFound } from '../components/states.tsx';
import { useLivePaged } from '../livePaged.ts';

/** Reactions, edits and votes of others cause no event. */
const REFRESH_MS = 4000;
const idOf = ({ messageId }: Message) => messageId;

/**
 * Reads the messages of a chat, oldest first.
 * @param before ISO time at which they end
 */
export function useMessages(sessionId: string, chatId: string, before?: string) {
  const list = useLivePaged({
    key: ['messages', sessionId, chatId, before ?? null],
    read: (page) =>
      api.messages
        .list({ sessionId, chatId, ...(before !== undefined && { before }), ...page })
        .catch((error: unknown) => {
          if (isNotFound(error)) return { data: [], nextCursor: null }; // a chat exists from its first message on
          throw error;
        }),
    idOf,
    everyMs: REFRESH_MS,
  });
  const messages = useMemo(() => list.rows.toReversed(), [list.rows]);
  return { ...list, messages };
}

/** Describes a message in one line. */
export function messagePreview({ deleted, type, message }: Message, words: Words): string {
  if (deleted) return words.deleted;
  if (type === 'text') return message;
  return message === '' ? words.kinds[type] : `${words.kinds[type]}: ${message}`;
}

interface Words {
  readonly deleted: string;
  readonly kinds: Readonly<Record<Message['type'], string>>;
}
