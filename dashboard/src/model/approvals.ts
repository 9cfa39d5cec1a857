import type { Message } from '@switchboard/sdk/api';
import { api } from '../api.ts';
import { useLivePaged } from '../live/livePaged.ts';

/** A deleted session takes its messages with it, without an event about them. */
const REFRESH_MS = 30_000;
const idOf = ({ messageId }: Message) => messageId;

/** Reads the messages that wait for approval, newest first. */
export function usePendingApprovals() {
  return useLivePaged({
    key: ['approvals', 'pending'],
    read: (page) => api.messages.list({ status: 'pending_approval', ...page }),
    idOf,
    everyMs: REFRESH_MS,
  });
}

/** The number of messages that wait for approval, such as "3", or "100+" if there are more pages. */
export function pendingCount({ rows, data }: ReturnType<typeof usePendingApprovals>): string {
  const hasMore = rows.length === data?.data.length && data.nextCursor !== null;
  return `${rows.length}${hasMore ? '+' : ''}`;
}
