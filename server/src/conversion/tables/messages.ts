import type { TableDescription } from '../description.ts';

export const messageTables: readonly TableDescription[] = [
  { table: 'chats', key: ['session_id', 'chat_id'], added: { marked_unread: '0', metadata: `'{}'` } },
  { table: 'cleared_chats', key: ['session_id', 'chat_id'], since: 17 },
  { table: 'labels', key: ['account_id', 'label_id'], since: 17 },
  { table: 'chat_labels', key: ['session_id', 'chat_id', 'label_id'], since: 17 },
  {
    table: 'messages',
    key: ['seq'],
    changes: [
      {
        columns: () => ({
          // The list of failed messages finds them by this time.
          failed_at: `case when s.status = 'failed' then coalesce(s.failed_at, s.created_at) else s.failed_at end`,
          // Sent more than a minute after it was stored, as `LATE_MS` has it.
          late_at: `case when s.direction = 'outgoing' and s.sent_at - s.created_at > 60000 then s.sent_at end`,
        }),
      },
    ],
  },
  {
    table: 'outbox',
    key: [],
    isMaintained: true,
    changes: [
      {
        rows: ({ source, version }) => `
          select account_id, status, message_id,
            case when status <> 'sent' then session_id end as session_id,
            case when status <> 'sent' then chat_id end as chat_id,
            case when status = 'queued' then ${version < 28 ? 'seq * 65536' : 'coalesce(turn, seq * 65536)'} end as place,
            case status when 'scheduled' then scheduled_at when 'pending_approval' then created_at end as due_at
          from ${source('messages')} where status in ('pending_approval', 'scheduled', 'queued', 'sent')`,
      },
    ],
  },
  {
    table: 'unread_messages',
    key: [],
    isMaintained: true,
    changes: [
      {
        rows: ({ source }) => `
          select session_id, chat_id, message_id, account_id from ${source('messages')}
          where direction = 'incoming' and status = 'delivered'`,
      },
    ],
  },
  { table: 'message_labels', key: ['account_id', 'message_id', 'label_id'], since: 17 },
  { table: 'message_receipts', key: ['message_id', 'phone_number', 'account_id'], since: 39 },
  { table: 'reactions', key: ['account_id', 'message_id', 'from_number'] },
  { table: 'poll_votes', key: ['account_id', 'message_id', 'from_number'] },
  { table: 'batches', key: ['account_id', 'batch_id'], since: 48 },
  { table: 'removed_placeholders', key: ['session_id', 'network_id', 'from_number'], since: 45 },
  { table: 'added_files', key: ['session_id', 'network_id', 'message_id'], since: 45 },
  {
    table: 'chat_ads',
    key: ['session_id', 'chat_id', 'ad_id'],
    since: 45,
    changes: [
      { below: 44 },
      {
        below: 45,
        rows: ({ source }) => `
          select distinct session_id, chat_id, ad_id, account_id from ${source('messages')} where ad_id is not null`,
      },
    ],
  },
];
