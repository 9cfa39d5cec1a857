import { Type } from 'typebox';
import { type ConfirmedCalls, confirmedCalls, type LimitColumns } from '../../auth/keyScope.ts';
import type { ApiKeyTable } from '../../db/schema.ts';
import { parseAddressRange } from '../../egress/addressRanges.ts';
import { AppError, type FieldError } from '../../errors.ts';
import { boolean, list, oneOf, optional, orNull } from '../../invoke/input/fields.ts';
import { PERSON_LENGTH, patternOf, typed } from '../../invoke/input/phoneNumbers.ts';
import { ref } from '../../invoke/input/references.ts';
import { MAX_RECIPIENTS } from '../../messages/identities/personColumns.ts';

/* The limits of an API key besides its permissions; `auth/keyScope.ts` reads them. */

export const limitInput = {
  sessionIds: optional(
    orNull(
      Type.Array(Type.String({ ...ref('session'), maxLength: 100 }), { minItems: 1, maxItems: 100 }),
      'Only these sessions and what belongs to them; `null` for all, which is the default.',
    ),
  ),
  allowedIps: optional(
    orNull(
      Type.Array(Type.String({ maxLength: 60 }), { minItems: 1, maxItems: 50 }),
      'Only from these networks, such as `203.0.113.0/24` or `2001:db8::/32`, or single addresses; `null` for all.',
    ),
  ),
  allowedRecipients: optional(
    orNull(
      Type.Array(Type.String({ ...ref('chats'), ...typed, maxLength: PERSON_LENGTH }), {
        minItems: 1,
        maxItems: MAX_RECIPIENTS,
      }),
      'Sends only to these phone numbers, user ids (`DE.999888`), groups (`grp_…`, `…@g.us`) and numbers that begin with digits (`49170*`); `null` for all.',
    ),
  ),
  sendQuota: optional(
    orNull(
      Type.Integer({ minimum: 1, maximum: 1_000_000 }),
      'Sends at most this many messages per day (UTC); `null` for any number.',
    ),
  ),
  confirm: optional(
    orNull(
      Type.Array(oneOf(confirmedCalls), { minItems: 1, uniqueItems: true }),
      'Asks the user over MCP before these calls: `destructive` ones, and the first message to `new_recipients`. Over REST they are refused. `null` never asks.',
    ),
  ),
  // Without a default in the schema, which would end the approval whenever something else of the key is changed.
  requiresApproval: optional(boolean('true holds every message until it is approved; false by default.')),
};

export const limitOutput = {
  sessionIds: orNull(list(Type.String(), 'Ids of sessions.'), 'Sessions that the key may use; null for all.'),
  allowedIps: orNull(list(Type.String(), 'Networks or addresses.'), 'Networks that may use the key; null for all.'),
  allowedRecipients: orNull(
    list(Type.String(), 'Phone number digits, user ids, ids of groups, or first digits with `*`.'),
    'Recipients to whom the key may send; null for all.',
  ),
  sendQuota: orNull(Type.Integer(), 'Messages that the key may send per day (UTC); null for any number.'),
  confirm: orNull(
    list(oneOf(confirmedCalls), 'Kinds of calls.'),
    'Calls before which an agent with the key asks its user; null for none.',
  ),
  requiresApproval: boolean('Whether every message of the key waits for approval.'),
};

interface Limits {
  readonly allowedIps?: readonly string[] | null | undefined;
  readonly allowedRecipients?: readonly string[] | null | undefined;
  readonly sendQuota?: number | null | undefined;
  readonly sessionIds?: readonly string[] | null | undefined;
  readonly confirm?: readonly ConfirmedCalls[] | null | undefined;
  readonly requiresApproval?: boolean | undefined;
}

export const noLimits = {
  session_ids: null,
  allowed_ips: null,
  allowed_recipients: null,
  send_quota: null,
  confirm: null,
  requires_approval: null,
} as const;

/**
 * Returns the columns of the limits that are given.
 * @throws {AppError} `validation_failed` naming every entry that is not valid
 */
export function limitColumns(limits: Limits): Partial<ApiKeyTable> {
  const { sessionIds, allowedIps, allowedRecipients, sendQuota, confirm, requiresApproval } = limits;
  requireEach('allowedIps', allowedIps, isRange, 'must be an address or a network, such as 203.0.113.0/24');
  requireEach('allowedRecipients', allowedRecipients, isPattern, `must be a ${PATTERN}`);
  return {
    ...(sessionIds !== undefined && { session_ids: listColumn(sessionIds) }),
    ...(allowedIps !== undefined && { allowed_ips: listColumn(allowedIps) }),
    ...(allowedRecipients !== undefined && {
      allowed_recipients: listColumn(allowedRecipients?.map((text) => recipientOf(text) ?? text)),
    }),
    ...(sendQuota !== undefined && { send_quota: sendQuota }),
    ...(confirm !== undefined && { confirm: listColumn(confirm) }),
    ...(requiresApproval !== undefined && { requires_approval: requiresApproval ? 1 : null }),
  };
}

export function toLimits(row: LimitColumns) {
  return {
    sessionIds: listOf(row.session_ids),
    allowedIps: listOf(row.allowed_ips),
    allowedRecipients: listOf(row.allowed_recipients),
    sendQuota: row.send_quota,
    confirm: listOf(row.confirm) as ConfirmedCalls[] | null, // stored by `limitColumns`
    requiresApproval: row.requires_approval === 1,
  };
}

const PATTERN = 'phone number in international form, the id of a group (grp_…), or first digits such as 49170*';
const isPattern = (text: string) => recipientOf(text) !== undefined;

/** A pattern of recipients with phone numbers in one spelling; undefined if it is none. */
function recipientOf(text: string): string | undefined {
  return /^grp_\w+$/.test(text) ? text : patternOf(text);
}

const isRange = (text: string) => parseAddressRange(text) !== undefined;

function requireEach(
  field: string,
  values: readonly string[] | null | undefined,
  isValid: (value: string) => boolean,
  rule: string,
): void {
  const fields = (values ?? []).flatMap((value, index): FieldError[] =>
    isValid(value) ? [] : [{ field: `${field}.${index}`, code: 'format', message: `${rule}, not "${value}"` }],
  );
  const [first] = fields;
  if (first !== undefined) throw new AppError('validation_failed', `${first.field} ${first.message}`, { fields });
}

function listColumn(values: readonly string[] | null | undefined): string | null {
  return values ? JSON.stringify([...new Set(values)]) : null;
}

function listOf(column: string | null): string[] | null {
  return column === null ? null : JSON.parse(column);
}
