import type { proto } from 'baileys';
import type { Baileys } from '../link/load.ts';
import { MAX_DEPTH, WRAPPER_KINDS } from './kinds.ts';

type Message = proto.IMessage;

/** Name of a message that is not a `proto.Message`. */
export const UNREADABLE = 'unreadable';

export interface OnWire {
  /** Empty if the bytes cannot be read. */
  readonly whole: Message;
  /** Name of a part that the decoder cannot read, and leaves out. */
  readonly unknownKind: string | undefined;
}

/** Decodes a message. Other people choose its bytes, and WhatsApp adds kinds without notice. */
export function readWire(baileys: Baileys, bytes: Uint8Array): OnWire {
  try {
    const whole = baileys.proto.Message.decode(bytes);
    return { whole, unknownKind: unknownKindOf(baileys, bytes) };
  } catch {
    return { whole: baileys.proto.Message.create(), unknownKind: UNREADABLE };
  }
}

const LENGTH_DELIMITED = 2;
const FUTURE_PROOF_MESSAGE = 1;
const DEVICE_SENT_MESSAGE = 2;

/** Returns `field <number>` for the first kind without a name here, in the message or in what it wraps. */
function unknownKindOf(baileys: Baileys, bytes: Uint8Array): string | undefined {
  const kinds = kindsOf(baileys);
  let level: Uint8Array[] = [bytes];
  for (let depth = 0; depth <= MAX_DEPTH && level.length > 0; depth++) {
    const inner: Uint8Array[] = [];
    for (const { field, value } of level.flatMap(fieldsOf)) {
      const kind = kinds.get(field);
      if (kind === undefined) return `field ${field}`;
      if (value === undefined) continue;
      if (kind === 'deviceSentMessage') inner.push(...valuesOf(value, DEVICE_SENT_MESSAGE));
      else if (WRAPPER_KINDS.has(kind)) inner.push(...valuesOf(value, FUTURE_PROOF_MESSAGE));
    }
    level = inner;
  }
  return undefined;
}

const valuesOf = (bytes: Uint8Array, wanted: number) =>
  fieldsOf(bytes).flatMap(({ field, value }) => (field === wanted && value !== undefined ? [value] : []));

let known: ReadonlyMap<number, keyof Message> | undefined;

/** Field numbers of the kinds. The generated code has them only in what it encodes. */
function kindsOf({ proto: { Message } }: Baileys): ReadonlyMap<number, keyof Message> {
  known ??= new Map(
    kindNames(Message).flatMap((kind) => {
      const part = kind === 'conversation' ? '' : {};
      return fieldsOf(Message.encode({ [kind]: part }).finish()).map(({ field }) => [field, kind] as const);
    }),
  );
  return known;
}

/** Returns the kinds that the decoder knows. */
export function kindNames(type: Baileys['proto']['Message']): (keyof Message)[] {
  const { prototype } = type as unknown as { readonly prototype: Message };
  return (Object.keys(prototype) as (keyof Message)[]).filter((name) => typeof prototype[name] !== 'function');
}

export interface WireField {
  readonly field: number;
  /** The field as it is encoded. */
  readonly raw: Uint8Array;
  /** Undefined for a number. */
  readonly value: Uint8Array | undefined;
}

/** Returns the fields up to the first that cannot be read. Source: https://protobuf.dev/programming-guides/encoding/ */
export function fieldsOf(bytes: Uint8Array): WireField[] {
  const found: WireField[] = [];
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let scale = 1; at < bytes.length; scale *= 128) {
      const byte = bytes[at++] ?? 0;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
    return Number.NaN;
  };
  while (at < bytes.length) {
    const start = at;
    const tag = varint();
    const length = [() => varint() * 0, () => 8, varint, undefined, undefined, () => 4][tag % 8]?.() ?? Number.NaN;
    if (!(at + length <= bytes.length)) break;
    const value = tag % 8 === LENGTH_DELIMITED ? bytes.subarray(at, at + length) : undefined;
    at += length;
    found.push({ field: Math.floor(tag / 8), raw: bytes.subarray(start, at), value });
  }
  return found;
}
