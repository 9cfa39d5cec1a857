import type { TObject, TSchema } from 'typebox';
import type { SessionTable } from '../db/schema.ts';
import { aboutOptions } from '../db/sealing.ts';
import type { Seal } from '../seal.ts';

/*
 * The options of a session, as its connector's schema has them. Those with the annotation `writeOnly` (JSON Schema's
 * word for it) are secrets: they go in, and never out. The column is sealed as a whole.
 */

export type Options = Readonly<Record<string, unknown>>;

export function optionsColumn(seal: Seal, sessionId: string, options: Options): string {
  return seal.close(JSON.stringify(options), aboutOptions(sessionId));
}

/** @throws {SealError} when they cannot be decrypted */
export function readOptions(seal: Seal, { session_id: sessionId, options }: SessionTable): Options {
  return JSON.parse(seal.open(options, aboutOptions(sessionId)));
}

/** New options, with the secrets that are there where none are given: nobody can read them to give them again. */
export function keepSecrets(schema: TObject, present: Options, given: Options): Options {
  return { ...Object.fromEntries(Object.entries(present).filter(([name]) => isSecret(schema, name))), ...given };
}

/** What may be shown of them. */
export function withoutSecrets(schema: TObject, options: Options): Options {
  return Object.fromEntries(Object.entries(options).filter(([name]) => !isSecret(schema, name)));
}

/** Those of them that are secret, in plain text. */
export function secretsOf(schema: TObject, options: Options): string[] {
  return Object.entries(options).flatMap(([name, value]) =>
    isSecret(schema, name) && typeof value === 'string' ? [value] : [],
  );
}

function isSecret({ properties }: TObject, name: string): boolean {
  const option: (TSchema & { writeOnly?: boolean }) | undefined = properties[name];
  // What the schema no longer has may have been one.
  return option === undefined || option.writeOnly === true;
}
