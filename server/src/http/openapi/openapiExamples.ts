/* Examples for the API description, derived from the schemas so that they never go stale. */

/** The keywords of JSON Schema that the schemas of operations and events use. */
export interface Schema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean;
  readonly required?: readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly format?: string;
}

const ULID = '01JZ8Q5T2M0000000000000000';

/** Example values by field name, so that they are the same everywhere. */
const byField: Readonly<Record<string, unknown>> = {
  accountId: `acc_${ULID}`,
  sessionId: `ses_${ULID}`,
  messageId: `msg_${ULID}`,
  replyTo: `msg_${ULID}`,
  groupId: `grp_${ULID}`,
  linkedGroupId: `grp_${ULID}`,
  labelId: `lbl_${ULID}`,
  batchId: `bat_${ULID}`,
  statusId: `sts_${ULID}`,
  channelId: `chn_${ULID}`,
  postId: `pst_${ULID}`,
  channel: `chn_${ULID}`,
  callId: '0000000000000000AAAAAAAAAAAAAAAA',
  mediaId: `med_${ULID}`,
  pictureMediaId: `med_${ULID}`,
  webhookId: `whk_${ULID}`,
  deliveryId: `dlv_${ULID}`,
  eventId: `evt_${ULID}`,
  keyId: `key_${ULID}`,
  requestId: `req_${ULID}`,
  email: 'you@example.com',
  password: 'correct horse battery',
  currentPassword: 'correct horse battery',
  newPassword: 'another long password',
  secret: 'a long random text',
  name: 'support',
  about: 'Weekdays from 9 to 5',
  phoneNumber: '491701234567',
  from: '491701234567',
  to: '491707654321',
  toNumber: '491707654321',
  lid: '123456789012345@lid',
  direction: 'outgoing',
  status: 'sent',
  chatId: '491707654321',
  createdBy: '491701234567',
  message: 'Hello',
  subject: 'Support',
  webhookUrl: 'https://example.com/hooks',
  url: '/api/v1/media/med_01JZ8Q5T2M0000000000000000/content',
  mimeType: 'image/png',
  fileName: 'picture.png',
  emoji: '👍',
  cursor: 'bXNnXzAx',
  after: `184.evt_${ULID}`,
  afterCursor: `184.evt_${ULID}`,
  nextCursor: null,
  error: null,
  reason: 'The network closed the connection',
  qr: 'sandbox:6c0b3c5e',
  key: 'sb_01JZ8Q5T2M_…',
  prefix: 'sb_01JZ8Q5T2M',
  token: 'eyJhbGciOi…',
  permissions: ['*'],
  events: ['message.incoming', 'message.sent'],
  event: 'message.sent',
  kind: 'message.sent',
};

/** A value that fits the schema, with the required fields of objects. */
export function exampleOf(schema: Schema, field = ''): unknown {
  if ('const' in schema) return schema.const;
  const { type, anyOf, items = {}, enum: options } = schema;
  const known = byField[field];
  if (options !== undefined) return options.includes(known) ? known : options[0];
  if (known !== undefined && fits(known, schema)) return known;
  if (anyOf !== undefined) return exampleOf(anyOf[0] ?? {}, field);
  switch (type) {
    case 'object':
      return objectExample(schema);
    case 'array':
      return [exampleOf(items, singular(field))];
    case 'integer':
    case 'number':
      return schema.default ?? Math.max(1, schema.minimum ?? 1);
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return schema.format === 'date-time' ? '2026-01-01T12:00:00.000Z' : 'text';
  }
}

function objectExample({ properties = {}, required = [] }: Schema): Record<string, unknown> {
  const needed = Object.entries(properties).filter(([name]) => required.includes(name));
  return Object.fromEntries(needed.map(([name, member]) => [name, exampleOf(member, name)]));
}

function fits(value: unknown, { type, anyOf, format }: Schema): boolean {
  if (anyOf !== undefined) return anyOf.some((one) => fits(value, one));
  if (value === null) return type === 'null';
  if (format === 'date-time') return false; // the names of times also name cursors and numbers
  return type === (Array.isArray(value) ? 'array' : typeof value);
}

function singular(field: string): string {
  return field.replace(/s$/, '');
}
