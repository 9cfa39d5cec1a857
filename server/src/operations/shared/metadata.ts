import { Type } from 'typebox';
import { invalidField } from '../../errors.ts';

const MAX_KEY_LENGTH = 40;

/** Data that an account attaches to its resources. `acceptedMetadata` checks the keys. */
export const Metadata = Type.Record(Type.String(), Type.String({ maxLength: 500 }), {
  maxProperties: 50,
  description: `Your own data: up to 50 strings by key (${MAX_KEY_LENGTH} characters), such as \`{"team": "sales"}\`.`,
});

/** A change of such data, as in a JSON merge patch. It can replace all keys by others. */
export const MetadataChange = Type.Record(Type.String(), Type.Union([Type.String({ maxLength: 500 }), Type.Null()]), {
  maxProperties: 100,
  description: `Changes your own data: strings by key (${MAX_KEY_LENGTH} characters), up to 50 in all, such as \`{"team": "sales"}\`. Other keys stay; null removes a key.`,
});

/** @throws {AppError} `validation_failed` if a key is too long, which the schema cannot express */
export function acceptedMetadata(metadata: Readonly<Record<string, string>>): string {
  requireShortKeys(metadata);
  return JSON.stringify(metadata);
}

/** @throws {AppError} `validation_failed` if a key is too long */
export function requireShortKeys(metadata: Readonly<Record<string, string | null>>): void {
  const tooLong = Object.keys(metadata).find((key) => key.length > MAX_KEY_LENGTH);
  if (tooLong !== undefined)
    throw invalidField(
      'metadata',
      `The key "${tooLong.slice(0, MAX_KEY_LENGTH)}…" has more than ${MAX_KEY_LENGTH} characters`,
      'key_length',
    );
}
