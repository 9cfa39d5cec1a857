import type { Sent } from './capture.ts';
import { type Reference, Varying } from './reference.ts';

/** A field that we send in another way. */
export interface Difference {
  /** Dotted path of the field, such as `message.imageMessage.mediaKeyTimestamp`. */
  readonly path: string;
  /** Values, or undefined if the field is missing. */
  readonly ours: unknown;
  readonly reference: unknown;
}

/** Messages that only contain another one. Their content is compared without them. */
const WRAPPERS = [
  'viewOnceMessage',
  'ephemeralMessage',
  'documentWithCaptionMessage',
  'editedMessage',
  'associatedChildMessage',
];

/**
 * Compares field by field. Zero, false and empty texts are the same as missing fields, which readers cannot tell apart.
 */
export function differencesOf(sent: Sent, { message, stanza }: Reference): Difference[] {
  const ours = new Map([...fieldsOf('stanza', sent.stanza)]);
  const theirs = new Map([...fieldsOf('stanza', stanza)]);
  if (message !== undefined) {
    for (const [path, value] of fieldsOfMessage(sent.message)) ours.set(path, value);
    for (const [path, value] of fieldsOfMessage(message)) theirs.set(path, value);
  }
  return [...new Set([...ours.keys(), ...theirs.keys()])]
    .map((path) => ({ path, ours: ours.get(path), reference: theirs.get(path) }))
    .filter((difference) => !isSame(difference.ours, difference.reference));
}

function isSame(ours: unknown, reference: unknown): boolean {
  return reference instanceof Varying ? reference.fits(ours) : ours === reference;
}

function* fieldsOfMessage(message: object): Generator<[string, unknown]> {
  const wrapper = WRAPPERS.find((name) => name in message);
  if (wrapper === undefined) return yield* fieldsOf('message', message);
  const { [wrapper]: wrapped, ...others } = message as Record<string, { readonly message?: object }>;
  yield ['wrapper', wrapper];
  yield* fieldsOf('message', { ...others, ...wrapped?.message });
}

function* fieldsOf(path: string, value: unknown): Generator<[string, unknown]> {
  if (value === undefined || value === 0 || value === false || value === '') return;
  if (typeof value !== 'object' || value === null || value instanceof Varying) yield [path, value];
  else for (const [name, part] of Object.entries(value)) yield* fieldsOf(`${path}.${name}`, part);
}
