import type { Digest } from '../rowSum.ts';
import type { Value } from './accountTables.ts';

/*
 * The lines of a file: the header, the files with their parts, the tables with their rows, the end. Rows are lists of
 * values, in the order of the table's columns.
 */

export interface Header {
  readonly kind: 'account';
  readonly accountId: string;
  readonly email: string;
  /** Schema version. */
  readonly schema: number;
  /** Whether positions of events are numbers that the database drew; otherwise they are times. */
  readonly drawsPositions: boolean;
  readonly hasFiles: boolean;
}

export interface FileLine {
  readonly kind: 'file';
  /** SHA-256 in hexadecimal. */
  readonly hash: string;
  readonly size: number;
}

export interface PartLine {
  readonly kind: 'part';
  readonly base64: string;
}

export interface TableLine {
  readonly kind: 'table';
  readonly table: string;
  readonly columns: readonly string[];
}

export type Digests = Readonly<Record<string, Digest>>;

export interface EndLine {
  readonly kind: 'end';
  readonly digests: Digests;
}

export type Line = Header | FileLine | PartLine | TableLine | EndLine | readonly Value[];

const isText = (value: unknown): value is string => typeof value === 'string';
const isNumber = (value: unknown): value is number => Number.isSafeInteger(value);

/** Returns a line if it has the form of one. A file can come from anyone who knows the passphrase. */
export function asLine(value: unknown): Line | undefined {
  if (Array.isArray(value))
    return value.every((one) => one === null || isText(one) || isNumber(one)) ? value : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  const line = value as Readonly<Record<string, unknown>>; // its fields are checked below
  const { accountId, email, schema, drawsPositions, hasFiles, hash, size, base64, table, columns, digests } = line;
  switch (line['kind']) {
    case 'account':
      return isText(accountId) &&
        isText(email) &&
        isNumber(schema) &&
        typeof drawsPositions === 'boolean' &&
        typeof hasFiles === 'boolean'
        ? { kind: 'account', accountId, email, schema, drawsPositions, hasFiles }
        : undefined;
    case 'file':
      return isText(hash) && /^[\da-f]{64}$/.test(hash) && isNumber(size) && size > 0
        ? { kind: 'file', hash, size }
        : undefined;
    case 'part':
      return isText(base64) ? { kind: 'part', base64 } : undefined;
    case 'table':
      return isText(table) && Array.isArray(columns) && columns.every(isText)
        ? { kind: 'table', table, columns }
        : undefined;
    case 'end':
      return areDigests(digests) ? { kind: 'end', digests } : undefined;
    default:
      return undefined;
  }
}

const areDigests = (value: unknown): value is Digests =>
  typeof value === 'object' &&
  value !== null &&
  Object.values(value).every(
    (digest: unknown) =>
      typeof digest === 'object' &&
      digest !== null &&
      'rows' in digest &&
      isNumber(digest.rows) &&
      'hash' in digest &&
      isText(digest.hash),
  );
