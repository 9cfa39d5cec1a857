import { Type } from 'typebox';
import { allows } from '../../auth/permissions.ts';
import { allMessageTypes } from '../../connectors/contract/content.ts';
import { AppError, invalidField } from '../../errors.ts';
import { webhookIncludes } from '../../events/addedFields.ts';
import { MAX_INLINE_MEDIA_BYTES } from '../../events/deliveredFiles.ts';
import { boolean, integer, list, oneOf, optional, orNull, strictPart, time } from '../../invoke/input/fields.ts';
import { PERSON_LENGTH, patternOf, typed } from '../../invoke/input/phoneNumbers.ts';
import { ref } from '../../invoke/input/references.ts';
import type { Context } from '../../invoke/operation.ts';
import { MAX_FILTERED_CHATS } from '../../messages/identities/personColumns.ts';
import type { WebhookFilters } from '../../webhooks/log/filters.ts';
import { MAX_DAYS_AHEAD } from '../shared/futureTime.ts';

/* How a webhook selects events and delivers them, besides its URL and event types. */

const ChatPatterns = (description: string) =>
  optional(
    list(Type.String({ ...ref('chats'), ...typed, minLength: 1, maxLength: PERSON_LENGTH }), description, {
      minItems: 1,
      maxItems: MAX_FILTERED_CHATS,
    }),
  );

const Filters = strictPart('Selects the events of a webhook. Events without a chat or message pass.', {
  chats: ChatPatterns(
    'Only these chats: phone numbers, user ids (`DE.999888`), ids of groups (`grp_…`, `…@g.us`) and channels (`chn_…`), or beginnings such as `49170*`.',
  ),
  ignoredChats: ChatPatterns('Not these chats, in the same form.'),
  chatTypes: optional(
    list(oneOf(['direct', 'group', 'channel']), 'Only chats of these types.', { minItems: 1, maxItems: 3 }),
  ),
  fromMe: optional(boolean('`true`: only what the session itself did; `false`: only what others did.')),
  messageTypes: optional(
    list(oneOf(allMessageTypes), 'Only messages of these types.', { minItems: 1, maxItems: allMessageTypes.length }),
  ),
  hasReferral: optional(
    boolean(
      '`true`: only messages that came through an ad or post, and chats that were opened through one; `false`: only others. Applies to `message.incoming` and `chat.opened`.',
    ),
  ),
  adIds: optional(
    list(
      Type.String({ ...ref('other'), minLength: 1, maxLength: 200 }),
      "Only those that came through these ads or posts: the network's ids of them. Applies to the same events.",
      { minItems: 1, maxItems: 100 },
    ),
  ),
});

const Ordering = oneOf(
  ['best_effort', 'strict'],
  '`strict`: a delivery that failed holds back the later ones of its chat until it succeeds, fails for good or is cancelled. `best_effort`, the default: only first attempts keep the order.',
);

const MAX_HEADERS = 20;
const MAX_HEADER_NAME = 100;

export const optionFields = {
  filters: optional(
    orNull(Filters, 'Selects events by chat, sender, type and ad; `null` for all. Not for the default webhook.'),
  ),
  headers: optional(
    orNull(
      Type.Record(Type.String(), Type.String({ maxLength: 1000 }), { maxProperties: MAX_HEADERS }),
      'Up to 20 headers of every delivery, such as `{"Authorization": "Bearer …"}`. Their values are never returned. `null` removes them.',
    ),
  ),
  timeoutMs: optional(
    orNull(
      Type.Integer({ minimum: 1000, maximum: 60_000 }),
      'Milliseconds of a whole attempt; `null` for that of the server (`WEBHOOK_TIMEOUT_MS`).',
    ),
  ),
  retrySeconds: optional(
    orNull(
      Type.Array(Type.Integer({ minimum: 1, maximum: 7 * 86_400 }), { maxItems: 20 }),
      'Seconds before each retry; an empty list for no retries, `null` for the schedule of the server (`WEBHOOK_RETRY_SECONDS`).',
    ),
  ),
  acceptRedirects: optional(
    boolean(
      '`true` counts 302 and 303 as delivered, for receivers that redirect after they have processed an event, such as Google Apps Script; false by default.',
    ),
  ),
  paused: optional(boolean('While true, events are queued but not sent.')),
  ordering: optional(Ordering),
  include: optional(
    orNull(
      list(oneOf(webhookIncludes), '', { maxItems: webhookIncludes.length, uniqueItems: true }),
      'Groups of fields that are added to `data` of its events. `mediaLink` adds a signed `link` to each file, which needs `media:read`. `null`, the default, adds `network` and `contact` if it receives event types beyond the first eight, otherwise nothing.',
    ),
  ),
  inlineMediaBytes: optional(
    integer(
      'Deliveries contain files of up to this size in base64, as `content` of each file; 0, the default, for none. Needs `media:read`.',
      { minimum: 0, maximum: MAX_INLINE_MEDIA_BYTES },
    ),
  ),
  expiresAt: optional(
    orNull(
      time(),
      `The webhook is removed at this time, up to ${MAX_DAYS_AHEAD} days ahead; \`null\`, the default, for never. Not for the default webhook.`,
    ),
  ),
};

export const shownOptions = {
  filters: orNull(Filters, 'Selection of events; null for all.'),
  headerNames: list(Type.String(), 'Names of the headers that deliveries have in addition.'),
  timeoutMs: orNull(integer('Milliseconds of a whole attempt.'), 'Deadline; null for that of the server.'),
  acceptRedirects: boolean('Whether 302 and 303 count as delivered.'),
  retrySeconds: orNull(Type.Array(Type.Integer()), 'Seconds before each retry; null for the schedule of the server.'),
  paused: boolean('Whether events are queued but not sent.'),
  pausedReason: orNull(Type.String(), 'Reason why the server paused it; null if a caller did, or if it is not paused.'),
  ordering: Ordering,
  include: list(oneOf(webhookIncludes), 'Groups of fields that are added to `data` of its events.'),
  inlineMediaBytes: integer('Maximum size of files that deliveries contain in base64, in bytes; 0 for none.'),
  expiresAt: orNull(time(), 'Removal time; null for never.'),
};

/**
 * Checks that the caller may read the files that a webhook would get.
 * @throws {AppError} `permission_denied`
 */
export function requireFileAccess(
  { caller }: Pick<Context, 'caller'>,
  {
    include,
    inlineMediaBytes = 0,
  }: { readonly include?: readonly string[] | null; readonly inlineMediaBytes?: number },
): void {
  if (inlineMediaBytes === 0 && include?.includes('mediaLink') !== true) return;
  if (!allows(caller.credential.permissions, 'media:read'))
    throw new AppError('permission_denied', 'Files in deliveries require the permission media:read');
}

/**
 * Returns the filters with phone numbers as digits.
 * @throws {AppError} `validation_failed` naming a chat that is none, or ads without a referral
 */
export function acceptedFilters({ chats, ignoredChats, ...filters }: WebhookFilters): WebhookFilters {
  if (filters.hasReferral === false && filters.adIds !== undefined)
    throw invalidField('filters.adIds', 'must be left out when `filters.hasReferral` is false', 'conflict');
  return {
    ...filters,
    ...(chats !== undefined && { chats: chats.map((one) => acceptedChat('filters.chats', one)) }),
    ...(ignoredChats !== undefined && {
      ignoredChats: ignoredChats.map((one) => acceptedChat('filters.ignoredChats', one)),
    }),
  };
}

function acceptedChat(field: string, pattern: string): string {
  if (/^(grp|chn)_([0-9A-Z]*\*|[0-9A-Z]{26})$/.test(pattern)) return pattern;
  const digits = patternOf(pattern);
  if (digits === undefined)
    throw invalidField(
      field,
      `"${pattern}" is neither a phone number, nor the id of a group or channel, nor the beginning of one followed by *`,
      'chat',
    );
  return digits;
}

/** Headers that the delivery itself sets, and those that only apply to one connection (RFC 9110, 7.6.1). */
const RESERVED = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'traceparent',
  'tracestate',
]);

/**
 * Returns the headers with lower-case names.
 * @throws {AppError} `validation_failed` naming a header that cannot be sent
 */
export function acceptedHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const accepted = new Map<string, string>();
  for (const [given, value] of Object.entries(headers)) {
    const name = given.toLowerCase();
    const refuse = (why: string) => invalidField('headers', `The header "${given.slice(0, MAX_HEADER_NAME)}" ${why}`);
    if (name.length > MAX_HEADER_NAME) throw refuse(`has more than ${MAX_HEADER_NAME} characters`);
    if (!/^[!#$%&'*+\-.^_`|~0-9a-z]+$/.test(name)) throw refuse('is not a valid header name');
    if (RESERVED.has(name) || /^(x-webhook-|webhook-)/.test(name)) throw refuse('is set by the server');
    if (accepted.has(name)) throw refuse('is named twice');
    if (!/^[\t\x20-\x7e]*$/.test(value)) throw refuse('has a value with characters other than printable ASCII');
    accepted.set(name, value);
  }
  return Object.fromEntries(accepted);
}
