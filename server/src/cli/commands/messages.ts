import type { MessageStatus } from '../../db/tables/messages.ts';
import type { Context } from '../context.ts';
import { styled } from '../io.ts';
import { clean, shorten } from '../text.ts';
import { type ListOptions, showPage } from './lists.ts';

const TEXT_SHOWN = 60;

export interface MessageFilters extends ListOptions {
  readonly sessionId?: string;
  readonly chatId?: string;
  readonly direction?: 'incoming' | 'outgoing';
  readonly status?: MessageStatus;
  readonly after?: string;
  readonly before?: string;
  readonly q?: string;
}

export async function listMessages(context: Context, { after, before, ...filters }: MessageFilters): Promise<void> {
  const page = await (await context.client()).messages.list({
    ...filters,
    ...(after !== undefined && { afterTime: after }),
    ...(before !== undefined && { beforeTime: before }),
  });
  showPage(context, page, {
    none: 'There are no such messages.',
    heads: ['TIME', 'MESSAGE', 'FROM', 'TO', 'STATUS', 'TEXT'],
    row: ({ timestamp, messageId, from, to, status, type, message }) => [
      timestamp,
      messageId,
      from,
      to,
      status === 'failed' ? styled('red', status) : status,
      excerpt(message, type),
    ],
  });
}

export interface ChatFilters extends ListOptions {
  readonly sessionId?: string;
}

export async function listChats(context: Context, filters: ChatFilters): Promise<void> {
  const page = await (await context.client()).chats.list(filters);
  showPage(context, page, {
    none: 'There are no chats.',
    heads: ['CHAT', 'TYPE', 'UNREAD', 'LAST MESSAGE', 'TEXT'],
    row: ({ chatId, type, unreadCount, lastMessage }) => [
      chatId,
      type,
      unreadCount === 0 ? '0' : styled('bold', String(unreadCount)),
      lastMessage?.timestamp ?? null,
      lastMessage === null ? null : excerpt(lastMessage.message, lastMessage.type),
    ],
  });
}

function excerpt(text: string, type: string): string {
  return [type === 'text' ? '' : `[${type}] `, shorten(clean(text), TEXT_SHOWN)].join('');
}
