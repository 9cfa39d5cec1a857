import type { OptionsSchema } from '../connectors/contract/connector.ts';
import type { SessionTable } from '../db/schema.ts';
import { aboutOptions } from '../db/sealing.ts';
import type { Seal } from '../seal.ts';

/*
 * The options of a session, validated by its connector's schema. Options with the annotation `writeOnly` of JSON Schema
 * are secrets, which are never returned. The column is encrypted as a whole.
 */

export type Options = Readonly<Record<string, unknown>>;

export function optionsColumn(seal: Seal, sessionId: string, options: Options): string {
  return seal.close(JSON.stringify(options), aboutOptions(sessionId));
}

/** @throws {SealError} if they cannot be decrypted */
export function readOptions(seal: Seal, { session_id: sessionId, options }: SessionTable): Options {
  return JSON.parse(seal.open(options, aboutOptions(sessionId)));
}

/** New options, plus the stored secrets that they do not set: callers cannot read secrets to pass them again. */
export function keepSecrets(schema: OptionsSchema, present: Options, given: Options): Options {
  return { ...Object.fromEntries(Object.entries(present).filter(([name]) => isSecret(schema, name))), ...given };
}

export function withoutSecrets(schema: OptionsSchema, options: Options): Options {
  return Object.fromEntries(Object.entries(options).filter(([name]) => !isSecret(schema, name)));
}

export function secretsOf(schema: OptionsSchema, options: Options): string[] {
  return Object.entries(options).flatMap(([name, value]) =>
    isSecret(schema, name) && typeof value === 'string' ? [value] : [],
  );
}

function isSecret({ properties }: OptionsSchema, name: string): boolean {
  const option: { writeOnly?: boolean } | undefined = properties[name];
  // An option that is no longer in the schema may have been a secret.
  return option === undefined || option.writeOnly === true;
}
