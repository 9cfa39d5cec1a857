/* Every list of the API with each of its filters. A test fails if a list or a filter has no entry. */

/** Ids in the account of a measurement. */
export interface ListIds {
  readonly sessionId: string;
  /** Session without rows. */
  readonly quietSessionId: string;
  readonly webhookId: string;
  readonly quietWebhookId: string;
  readonly keyId: string;
  /** Label on every message and on many chats. */
  readonly labelId: string;
  /** Label on nothing. */
  readonly quietLabelId: string;
  readonly statusId: string;
  readonly channelId: string;
  readonly messageId: string;
}

export interface ListCase {
  /** Id of the operation. */
  readonly operation: string;
  /** Input fields that select rows. */
  readonly fields: readonly string[];
  readonly path: (ids: ListIds) => string;
  /** Whether the API key is limited to the quiet session. */
  readonly isLimited?: boolean;
}

const CHAT = '491707000001';
const NOBODY = '491709999999';
const LONG_AGO = '2001-01-01T00:00:00Z';

/** Cases of a list: the whole list, and the query of each selection with the fields that it uses. */
function list(operation: string, path: string | ((ids: ListIds) => string), ...queries: readonly Query[]): ListCase[] {
  const base = typeof path === 'string' ? () => path : path;
  const whole: ListCase = { operation, fields: [], path: base };
  return [
    whole,
    ...queries.map((query): ListCase => {
      const text = typeof query === 'string' ? () => query : query;
      const sample = text(new Proxy({} as ListIds, { get: (_, name) => String(name) }));
      return { operation, fields: [...new URLSearchParams(sample).keys()], path: (ids) => `${base(ids)}?${text(ids)}` };
    }),
  ];
}

type Query = string | ((ids: ListIds) => string);

const limited = (one: ListCase): ListCase => ({ ...one, isLimited: true });
const quiet = ({ quietSessionId }: ListIds) => `sessionId=${quietSessionId}`;
const busy = ({ sessionId }: ListIds) => `sessionId=${sessionId}`;

const chats = list(
  'chats.list',
  '/chats',
  quiet,
  busy,
  'unread=true',
  'unread=false',
  'archived=true',
  'archived=false',
  'hasReferral=true',
  'adId=1',
  ({ labelId }) => `labelId=${labelId}`,
  ({ quietLabelId }) => `labelId=${quietLabelId}`,
  ({ labelId }) => `labelId=${labelId}&unread=true`,
);
const contacts = list(
  'contacts.list',
  '/contacts',
  quiet,
  busy,
  'q=nobody',
  'q=4999999',
  `phoneNumber=${NOBODY}`,
  'blocked=true',
  'blocked=false',
  'blocked=true&q=nobody',
);
const messages = list(
  'messages.list',
  '/messages',
  quiet,
  `chatId=${CHAT}`,
  `chatId=${CHAT}&direction=incoming`,
  `from=${NOBODY}`,
  'direction=incoming',
  'type=image',
  'type=text&direction=incoming',
  'status=failed',
  'status=delivered',
  'origin=history',
  'origin=live&direction=incoming',
  'starred=true',
  'hasReferral=true',
  'hasReferral=true&direction=incoming',
  'adId=1',
  ({ labelId }) => `labelId=${labelId}`,
  ({ labelId }) => `labelId=${labelId}&type=image`,
  ({ quietLabelId }) => `labelId=${quietLabelId}`,
  `afterTime=2100-01-01T00:00:00Z`,
  `beforeTime=${LONG_AGO}`,
  'q=message&type=image',
  'q=message&direction=incoming',
);
const deliveries = list(
  'webhooks.list_deliveries',
  '/webhooks/deliveries',
  ({ quietWebhookId }) => `webhookId=${quietWebhookId}`,
  'states=pending',
  'states=failed',
  'states=expired',
  'states=delivered,pending',
  'events=group.created',
  'events=message.read,group.created&states=cancelled',
  ({ messageId }) => `messageId=${messageId}`,
  `chatId=${CHAT}&states=cancelled`,
  `chatId=${CHAT}`,
  `afterTime=2100-01-01T00:00:00Z`,
  `beforeTime=${LONG_AGO}`,
);
const events = list(
  'events.list',
  '/events',
  'events=group.created',
  'events=group.created,message.incoming',
  'events=*',
);

export const listCases: readonly ListCase[] = [
  ...messages,
  ...messages.slice(0, 1).map(limited),
  ...chats,
  ...chats.slice(0, 1).map(limited),
  ...contacts,
  ...contacts.slice(0, 1).map(limited),
  ...deliveries,
  ...deliveries.slice(0, 1).map(limited),
  ...events,
  ...events.map(limited),
  ...list('groups.list', '/groups', quiet, 'q=nobody'),
  ...list('communities.list', '/communities', quiet),
  ...list('channels.list', '/channels', quiet),
  ...list('channels.messages', ({ channelId }) => `/channels/${channelId}/messages`, busy),
  ...list('status.list', '/status', quiet, `phoneNumber=${NOBODY}`, 'by=me', 'by=others'),
  ...list('status.views', ({ statusId }) => `/status/${statusId}/views`, busy),
  ...list('messages.receipts', ({ messageId }) => `/messages/${messageId}/receipts`),
  ...list('batches.list', '/batches', quiet, 'status=paused'),
  ...list('labels.list', '/labels', quiet),
  ...list('api_keys.list', '/api-keys'),
  ...list('api_keys.list_calls', ({ keyId }) => `/api-keys/${keyId}/calls`, 'tool=groups_list', 'outcome=failed'),
  ...list('sessions.list', '/sessions'),
  ...list('sessions.history', ({ sessionId }) => `/sessions/${sessionId}/history`),
  ...list('webhooks.endpoints.list', '/webhooks/endpoints'),
  ...list('webhooks.subscriptions.list', '/webhooks/subscriptions'),
];

/** Lists whose rows the network returns or the code contains. */
export const listsWithoutRows: readonly string[] = [
  'templates.list',
  'contacts.catalog',
  'contacts.collections',
  'contacts.check',
  'contacts.look_up',
  'communities.list_groups',
  'groups.list_join_requests',
  'connectors.list',
  'events.types',
  'sessions.list_devices',
];
