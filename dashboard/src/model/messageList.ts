import type { Message } from '@switchboard/sdk/api';
import { useMemo } from 'react';
import { api } from '../api.ts';
import { isNotFound } from '../components/states.tsx';
import { useLivePaged } from '../livePaged.ts';

/** Reactions, edits and votes of others come without an event. */
const REFRESH_MS = 4000;
const idOf = ({ messageId }: Message) => messageId;

/** The messages of a chat, oldest first, as far back as they were read. @param before an ISO time that they end at */
export function useMessages(sessionId: string, chatId: string, before?: string) {
  const list = useLivePaged({
    key: ['messages', sessionId, chatId, before ?? null],
    read: (page) =>
      api.messages
        .list({ sessionId, chatId, ...(before !== undefined && { before }), ...page })
        .catch((error: unknown) => {
          if (isNotFound(error)) return { data: [], nextCursor: null }; // a chat begins with its first message
          throw error;
        }),
    idOf,
    everyMs: REFRESH_MS,
  });
  const messages = useMemo(() => list.rows.toReversed(), [list.rows]);
  return { ...list, messages };
}

/** A message in one line, whatever it is. */
export function messagePreview({ deleted, type, message }: Message, words: Words): string {
  if (deleted) return words.deleted;
  if (type === 'text') return message;
  return message === '' ? words.kinds[type] : `${words.kinds[type]}: ${message}`;
}

interface Words {
  readonly deleted: string;
  readonly kinds: Readonly<Record<Message['type'], string>>;
}
