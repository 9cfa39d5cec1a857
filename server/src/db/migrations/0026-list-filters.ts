import type { Migration } from './migration.ts';

/**
 * Lets lists with filters find rows without reading those that do not match. The rows that most deliveries, events and
 * messages are (delivered, of the usual event types, texts) have no entries in the indexes of states, event types and
 * message types, so that these cost nothing for them.
 */
export const listFilters: Migration = {
  version: 26,
  name: 'list filters',
  statements: ({ log }) => {
    const usual = `('message.incoming', 'message.sent', 'message.delivered', 'message.read')`;
    const order = log.order.join(', ');
    const eventOrder = order.includes('event_id') ? order : `${order}, event_id`;
    return [
      `create index deliveries_undelivered on deliveries (account_id, delivery_id)
        where state in ('failed', 'expired', 'cancelled')`,
      `create index deliveries_webhook on deliveries (webhook_id, delivery_id)`,
      `create index deliveries_kind on deliveries (account_id, kind, delivery_id) where kind not in ${usual}`,
      `create index events_kind on events (account_id, kind, ${eventOrder}) where kind not in ${usual}`,
      `create index messages_session on messages (session_id, message_id)`,
      `create index messages_type on messages (account_id, type, message_id) where type <> 'text'`,
    ];
  },
};
