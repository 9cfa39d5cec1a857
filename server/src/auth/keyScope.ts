import type { ApiKeyTable } from '../db/schema.ts';
import { type AddressRange, isInRanges, parseAddressRange } from '../egress/addressRanges.ts';
import { AppError } from '../errors.ts';
import { type RecipientPatterns, readRecipientPatterns } from './recipientPatterns.ts';

/** The kinds of calls before which a key can ask its user. */
export const confirmedCalls = ['destructive', 'new_recipients'] as const;
export type ConfirmedCalls = (typeof confirmedCalls)[number];

/** The limits of an API key besides its permissions. A missing part is no limit. */
export interface KeyScope {
  readonly sessionIds?: readonly string[];
  readonly allowedIps?: readonly AddressRange[];
  readonly recipients?: RecipientPatterns;
  /** Messages per day (UTC). */
  readonly sendQuota?: number;
  /** Calls before which it asks its user. */
  readonly confirm?: readonly ConfirmedCalls[];
  /** Whether its messages wait for approval. */
  readonly requiresApproval?: true;
  /** The limits as they are stored. */
  readonly columns: LimitColumns;
  /** Two scopes with the same text are the same. */
  readonly text: string;
}

/** The columns of the limits. */
export const limitNames = [
  'session_ids',
  'allowed_ips',
  'allowed_recipients',
  'send_quota',
  'confirm',
  'requires_approval',
] as const satisfies readonly (keyof ApiKeyTable)[];

export type LimitColumns = Pick<ApiKeyTable, (typeof limitNames)[number]>;

/** Returns undefined for a key without limits. */
export function readScope(row: LimitColumns): KeyScope | undefined {
  const limits = limitNames.map((name) => [name, row[name]] as const);
  if (limits.every(([, limit]) => limit === null)) return undefined;
  const { session_ids: sessionIds, allowed_ips: allowedIps, allowed_recipients: recipients, confirm } = row;
  return {
    // The names are those of the columns.
    columns: Object.fromEntries(limits) as unknown as LimitColumns,
    text: JSON.stringify(limits.map(([, limit]) => limit)),
    ...(sessionIds !== null && { sessionIds: JSON.parse(sessionIds) }),
    ...(allowedIps !== null && { allowedIps: rangesOf(JSON.parse(allowedIps)) }),
    ...(recipients !== null && { recipients: readRecipientPatterns(JSON.parse(recipients)) }),
    ...(row.send_quota !== null && { sendQuota: row.send_quota }),
    ...(confirm !== null && { confirm: JSON.parse(confirm) }),
    ...(row.requires_approval !== null && { requiresApproval: true }),
  };
}

function rangesOf(texts: readonly string[]): AddressRange[] {
  return texts.map(parseAddressRange).filter((range) => range !== undefined);
}

/** A caller, whose credential has limits only if it is an API key. */
export interface Limited {
  readonly accountId: string;
  readonly credential: { readonly type: string; readonly scope?: KeyScope | undefined };
}

/** Returns the limits of the caller's key; undefined if there are none, as for a login token. */
export function scopeOf({ credential }: Limited): KeyScope | undefined {
  return credential.scope;
}

/** Returns `permission_denied` if the caller's key may not be used from an address. */
export function addressDenialOf(caller: Limited, address: string): AppError | undefined {
  const ranges = scopeOf(caller)?.allowedIps;
  if (ranges === undefined || isInRanges(ranges, address)) return undefined;
  return new AppError('permission_denied', `This API key cannot be used from the address ${address}`);
}
