import type { Dialect } from '../../dialect.ts';

/** Statuses with a row in `outbox`. Few messages have one of these for long. */
const LISTED = `('pending_approval', 'scheduled', 'queued', 'sent')`;

const addToOutbox = `
  insert into outbox (account_id, status, message_id, session_id, chat_id, place, due_at)
  select new.account_id, new.status, new.message_id,
    case when new.status <> 'sent' then new.session_id end,
    case when new.status <> 'sent' then new.chat_id end,
    case when new.status = 'queued' then coalesce(new.turn, new.seq * 65536) end,
    case new.status when 'scheduled' then new.scheduled_at when 'pending_approval' then new.created_at end
  where new.status in ${LISTED}`;

const removeFromOutbox = `
  delete from outbox
  where account_id = old.account_id and status = old.status and message_id = old.message_id`;

const addToUnread = `
  insert into unread_messages (session_id, chat_id, message_id, account_id)
  select new.session_id, new.chat_id, new.message_id, new.account_id where new.status = 'delivered'`;

const removeFromUnread = `
  delete from unread_messages
  where session_id = old.session_id and chat_id = old.chat_id and message_id = old.message_id`;

/**
 * Messages by status, in small tables instead of indexes of `messages`. Triggers maintain them: many statements change
 * a status, and a message that is missing here would not be sent.
 */
export const outboxTables = ({ clustered, rowTrigger }: Dialect): readonly string[] => [
  `create table outbox (
    account_id text not null, status text not null, message_id text not null, session_id text, chat_id text,
    place bigint, due_at bigint,
    primary key (account_id, status, message_id)) ${clustered}`,
  `create index outbox_queue on outbox (session_id, chat_id, place, message_id) where status = 'queued'`,
  `create index outbox_due on outbox (status, due_at, message_id) where due_at is not null`,
  rowTrigger({
    name: 'outbox_add',
    after: 'insert',
    table: 'messages',
    when: `new.status in ${LISTED}`,
    statements: [addToOutbox],
  }),
  rowTrigger({
    name: 'outbox_change',
    after: 'update of status, chat_id, scheduled_at, turn',
    table: 'messages',
    when: `(old.status in ${LISTED} or new.status in ${LISTED}) and (old.status <> new.status or new.status <> 'sent' and (
      old.chat_id <> new.chat_id or old.scheduled_at is distinct from new.scheduled_at
      or old.turn is distinct from new.turn))`,
    statements: [removeFromOutbox, addToOutbox],
  }),
  rowTrigger({
    name: 'outbox_remove',
    after: 'delete',
    table: 'messages',
    when: `old.status in ${LISTED}`,
    statements: [removeFromOutbox],
  }),

  `create table unread_messages (
    session_id text not null, chat_id text not null, message_id text not null, account_id text not null,
    primary key (session_id, chat_id, message_id)) ${clustered}`,
  rowTrigger({
    name: 'unread_add',
    after: 'insert',
    table: 'messages',
    when: `new.direction = 'incoming' and new.status = 'delivered'`,
    statements: [addToUnread],
  }),
  rowTrigger({
    name: 'unread_change',
    after: 'update of status, chat_id',
    table: 'messages',
    when: `new.direction = 'incoming' and (old.status = 'delivered' or new.status = 'delivered')
      and (old.status <> new.status or old.chat_id <> new.chat_id)`,
    statements: [removeFromUnread, addToUnread],
  }),
  rowTrigger({
    name: 'unread_remove',
    after: 'delete',
    table: 'messages',
    when: `old.direction = 'incoming' and old.status = 'delivered'`,
    statements: [removeFromUnread],
  }),
];
