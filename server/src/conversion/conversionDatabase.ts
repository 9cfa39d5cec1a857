import type { Queryable } from '../db/dialect.ts';
import type { Names } from './description.ts';
import type { Tables } from './plan.ts';
import type { Digest } from './rowSum.ts';

/** A database of an earlier schema, and a copy of it in the current one, on one connection. */
export interface ConversionDatabase {
  readonly on: Queryable;
  readonly names: Names;
  /** Version of the source. */
  readonly version: number;
  /** Name of the copy, for messages. */
  readonly copyName: string;
  /** Describes the way to discard the copy, for messages. */
  readonly discardAdvice: string;
  sourceTables(): Promise<Tables>;
  targetTables(): Promise<Tables>;
  transaction<T>(work: () => Promise<T>): Promise<T>;
  /** Reads a query with one column of text. */
  digest(query: string): Promise<Digest>;
  /** Returns a row of values as text, as SQL. */
  rowText(values: readonly string[]): string;
  /** Carries over what is neither a table nor an index. Can run again. */
  finish(): Promise<void>;
  /** Removes the copy and closes the connection. */
  discard(): Promise<void>;
  /** Puts the copy in place of the source, and closes the connection. @returns the name of the earlier data */
  swap(): Promise<string>;
  close(): Promise<void>;
}
