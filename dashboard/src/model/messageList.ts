import type { Message } from '@switchboard/sdk/api';
import { useMemo } from 'react';
import { api } from '../api.ts';
import { isNotFound } from '../components/page/states.tsx';
import { useLivePaged } from '../live/livePaged.ts';
import { textWithNames } from './mentions.ts';
import type { NameOf } from './names.ts';

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
        .list({ sessionId, chatId, ...(before !== undefined && { beforeTime: before }), ...page })
        .catch((error: unknown) => {
          if (isNotFound(error)) return { data: [], nextCursor: null }; // a chat exists from its first message on
          throw error;
        }),
    idOf,
  });
  const messages = useMemo(() => list.rows.toReversed(), [list.rows]);
  return { ...list, messages };
}

/** More than fits on a line. */
const PREVIEW_CHARACTERS = 200;

/** Describes a message in one line. */
export function messagePreview(described: Message, strings: Strings, nameOf: NameOf): string {
  const { deleted, type, mentions } = described;
  if (deleted) return strings.deleted;
  const beginning = described.message.slice(0, PREVIEW_CHARACTERS).toWellFormed();
  const message = textWithNames({ message: beginning, ...(mentions && { mentions }) }, nameOf);
  if (type === 'text') return message;
  return message === '' ? strings.kinds[type] : `${strings.kinds[type]}: ${message}`;
}

interface Strings {
  readonly deleted: string;
  readonly kinds: Readonly<Record<Message['type'], string>>;
}
