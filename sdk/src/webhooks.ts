/**
 * Verifies and parses webhook deliveries.
 *
 * Runs wherever Web Crypto does: Node, Deno, Bun, workers, browsers. No dependencies.
 *
 * ```ts
 * const result = await verifyAndParse({ body: await request.text(), headers: request.headers, secret });
 * if (!result.ok) return new Response(result.reason, { status: 401 });
 * if (result.event.event === 'message.incoming') console.log(result.event.data.message);
 * ```
 */

import { type EventData, type EventKind, eventFields, type KnownEvent } from './events.ts';
import { readSecrets, type Secret } from './secrets.ts';

export { type EventKind, type EventOf, eventKinds, type KnownEvent } from './events.ts';

const DEFAULT_TOLERANCE_SECONDS = 300;

/**
 * A request's headers: a `Headers`, a `Map`, a list of pairs, or a plain object such as Node's `request.headers`.
 * Names in any case. Several values of one name count as one value, joined by a comma, as in a `Headers`.
 */
export type HeadersInput = Iterable<readonly [string, HeaderValue]> | Readonly<Record<string, HeaderValue>>;
type HeaderValue = string | readonly string[] | undefined;

export interface VerifyInput {
  /**
   * The body exactly as received, before any JSON parser: the signature covers its bytes. A string is encoded as
   * UTF-8.
   */
  readonly body: string | Uint8Array;
  readonly headers: HeadersInput;
  /**
   * The webhook's secret as passed to `POST /webhooks/set`. Its UTF-8 bytes are the key: a `whsec_` prefix is part of
   * it, and nothing is decoded from base64. In a list, any secret may match, so that a receiver can switch to a new
   * secret before or after the server does.
   */
  readonly secret: Secret;
  /**
   * The signature that is required.
   *
   * - `standard` (default): `webhook-signature`, which covers the timestamp and the id. Switchboard sends it with
   *   every delivery that has a secret.
   * - `any`: accepts `X-Webhook-Signature` if there is no `webhook-signature`. It covers the body alone, so an attacker
   *   who has seen a delivery can replay it with a new timestamp and id: recognize repetitions by their content. Use it
   *   behind a proxy that drops `webhook-*` headers.
   */
  readonly require?: 'standard' | 'any' | undefined;
  /** Maximum difference between the delivery's timestamp and `now`, in seconds. Default 300. */
  readonly tolerance?: number | undefined;
  /** Current time in milliseconds since the Unix epoch. Default `Date.now()`. */
  readonly now?: number | undefined;
}

/** The verified facts of a delivery: only what the matching signature covers. */
export type Verified =
  | {
      readonly ok: true;
      readonly scheme: 'standard';
      /** Id of the event, the same on every attempt. Store it to recognize an event that arrives twice. */
      readonly id: string;
      /** Time of this attempt, in Unix seconds. */
      readonly timestamp: number;
    }
  | { readonly ok: true; readonly scheme: 'body_only' };

export interface Refused {
  readonly ok: false;
  readonly reason: RefusalReason;
}

export type RefusalReason =
  /** Neither `webhook-signature` nor `X-Webhook-Signature` is present. The webhook may have no secret. */
  | 'missing_signature'
  /** Only `X-Webhook-Signature` is present, and `require` is `standard`. */
  | 'standard_signature_required'
  | 'missing_id'
  /** `webhook-id` contains a dot, which Standard Webhooks forbids. */
  | 'invalid_id'
  | 'missing_timestamp'
  /** The timestamp is not a whole number of seconds. */
  | 'invalid_timestamp'
  /** The delivery is a replay, or one of the two clocks is wrong. */
  | 'timestamp_out_of_tolerance'
  /** The secret is wrong, or the body or a signed header was changed. */
  | 'bad_signature';

export type VerifyResult = Verified | Refused;

/**
 * Verifies that a delivery was signed with the secret.
 *
 * There are two signatures. If `webhook-signature` is present, it alone decides, even with `require: 'any'`:
 * - `webhook-signature` (Standard Webhooks): a list of `v1,<base64>`, separated by spaces, each an HMAC-SHA256 over
 *   `<webhook-id>.<webhook-timestamp>.<body>`. One match is enough: during a rotation, the old and the new secret both
 *   sign. The timestamp must be within `tolerance`.
 * - `X-Webhook-Signature` (the service contract): `sha256=` and the lowercase hex HMAC-SHA256 of the body. It does
 *   **not** cover the timestamp. If `X-Webhook-Timestamp` is present, it must be within `tolerance`, which stops an
 *   accidental repetition but no attacker.
 *
 * `require` is `standard` by default because every delivery has both: an attacker who has seen one could remove the
 * `webhook-*` headers and fall back to the signature that never expires.
 *
 * @returns `{ ok: true, scheme, … }` or `{ ok: false, reason }`, whatever the sender does.
 * @throws {TypeError} for mistakes of the caller: an empty secret, with which anyone can sign, or a parsed body.
 *
 * Source: "Webhook delivery signing" of the service contract; Standard Webhooks, "Signature scheme" and "Verifying
 * signatures" (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md);
 * HMAC: RFC 2104.
 */
export async function verify(input: VerifyInput): Promise<VerifyResult> {
  const delivery: Delivery = {
    body: copyOfBytes(input.body),
    headers: readHeaders(input.headers),
    secrets: readSecrets(input.secret),
    tolerance: input.tolerance ?? DEFAULT_TOLERANCE_SECONDS,
    // Timestamps are whole seconds: without rounding, 300 s would be 300.9 s for most of the last second.
    now: Math.floor((input.now ?? Date.now()) / 1000),
  };
  if (delivery.headers.has('webhook-signature')) return verifyStandard(delivery);
  if (!delivery.headers.has('x-webhook-signature')) return refused('missing_signature');
  return input.require === 'any' ? verifyBodyOnly(delivery) : refused('standard_signature_required');
}

/**
 * Verifies a delivery and parses its body. An unverified body is never parsed.
 *
 * @returns the result of `verify`, with the `event` if it is `ok`.
 * @throws {TypeError} as `verify` does.
 * @throws {WebhookBodyError} if the signature is valid but the body is not an event.
 */
export async function verifyAndParse(
  input: VerifyInput,
): Promise<(Verified & { readonly event: WebhookEvent }) | Refused> {
  // One copy for both, so that the parsed bytes are the verified ones.
  const body = copyOfBytes(input.body);
  const result = await verify({ ...input, body });
  return result.ok ? { ...result, event: parse(body) } : result;
}

/**
 * Parses the body of a delivery without verifying it. Call `verify` first, or use `verifyAndParse`.
 *
 * A receiver survives a newer server: an event type that this version does not know is returned as `UnknownEvent`, and
 * unknown fields stay in `data`. Known fields have their documented type.
 *
 * @throws {WebhookBodyError} if the body is not UTF-8, JSON or an event envelope, or if a field of a known event type
 *   is missing or has another type. The message names the field.
 *
 * Source: "Event envelope" and "Payload shapes" of the service contract.
 */
export function parse(body: string | Uint8Array): WebhookEvent {
  const envelope = parseJson(body);
  if (!isObject(envelope)) throw new WebhookBodyError('The body is not a JSON object');
  const { event: kind, data } = envelope;
  if (typeof kind !== 'string') throw new WebhookBodyError('The body has no `event`');
  if (!isObject(data)) throw new WebhookBodyError('The body has no `data` object');
  if (!isEventKind(kind)) return { event: 'unknown', kind, data };

  const event = { event: kind, data };
  assertKnown(event);
  return event;
}

/** The body of a delivery is not an event. The message says why, and contains no text of the body. */
export class WebhookBodyError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'WebhookBodyError';
  }
}

/**
 * A parsed event, discriminated by `event`: `if (event.event === 'message.incoming') event.data.message`. A `switch`
 * needs a `default` or an `unknown` branch for the event types of newer servers.
 */
export type WebhookEvent = KnownEvent | UnknownEvent;

/**
 * An event of a type that this version does not know. Its `event` is `unknown` because a union member whose `event` is
 * any string would match every comparison, and no comparison would narrow `data`.
 */
export interface UnknownEvent {
  readonly event: 'unknown';
  /** The event type as it was sent. */
  readonly kind: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The `data` of each event type. */
export type EventDataByKind = EventData;

export type MessageIncoming = EventData['message.incoming'];
export type MessageSent = EventData['message.sent'];
/** The `data` of `message.delivered` and `message.read`. */
export type MessageReceipt = EventData['message.delivered'];
/** The optional parts of a message besides its text. */
export type MessageParts = Omit<
  Pick<MessageIncoming, keyof MessageIncoming & keyof MessageSent>,
  keyof MessageReceipt | 'message'
>;
export type SessionConnected = EventData['session.connected'];
export type SessionDisconnected = EventData['session.disconnected'];
export type GroupCreated = EventData['group.created'];
export type Participant = GroupCreated['participants'][number];
export type GroupUpdated = EventData['group.updated'];

interface Delivery {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly headers: ReadonlyMap<string, string>;
  readonly secrets: readonly string[];
  readonly tolerance: number;
  readonly now: number;
}

async function verifyStandard(delivery: Delivery): Promise<VerifyResult> {
  const { body, headers, secrets } = delivery;
  const id = headers.get('webhook-id') ?? '';
  const timestamp = headers.get('webhook-timestamp') ?? '';
  if (id === '') return refused('missing_id');
  // The same key signs bare bodies for X-Webhook-Signature. If an id could contain dots, a body with `.1767323045.` in
  // a message's text could be cut into id, timestamp and rest, and its X- signature would be valid here.
  if (id.includes('.')) return refused('invalid_id');
  if (timestamp === '') return refused('missing_timestamp');
  const problem = timestampProblem(timestamp, delivery);
  if (problem) return refused(problem);

  // Merged header lines are joined by a comma. Other versions, such as `v1a`, match nothing.
  const listed = (headers.get('webhook-signature') ?? '').split(/,? +/);
  const signed = concatenated(utf8(`${id}.${timestamp}.`), body);
  // One HMAC for each secret, however many signatures a request lists.
  for (const secret of secrets) {
    const expected = `v1,${base64(await hmacSha256(secret, signed))}`;
    if (listed.some((signature) => isSame(signature, expected))) {
      return { ok: true, scheme: 'standard', id, timestamp: Number(timestamp) };
    }
  }
  return refused('bad_signature');
}

async function verifyBodyOnly(delivery: Delivery): Promise<VerifyResult> {
  const { body, headers, secrets } = delivery;
  const timestamp = headers.get('x-webhook-timestamp');
  const problem = timestamp === undefined ? undefined : timestampProblem(timestamp, delivery);
  if (problem) return refused(problem);

  // The text under a standard signature is valid here as a body, because the key is the same. It is not JSON, so
  // `parse` rejects it.
  const signature = headers.get('x-webhook-signature') ?? '';
  for (const secret of secrets) {
    const expected = `sha256=${hex(await hmacSha256(secret, body))}`;
    if (isSame(signature, expected)) return { ok: true, scheme: 'body_only' };
  }
  return refused('bad_signature');
}

function refused(reason: RefusalReason): Refused {
  return { ok: false, reason };
}

function timestampProblem(timestamp: string, { now, tolerance }: Delivery): RefusalReason | undefined {
  // parseInt would accept `1767323045, 1` and `1767323045abc`.
  if (!/^[0-9]+$/.test(timestamp)) return 'invalid_timestamp';
  // Written so that NaN in `now` or `tolerance` refuses.
  return Math.abs(now - Number(timestamp)) <= tolerance ? undefined : 'timestamp_out_of_tolerance';
}

/**
 * Compares in constant time for a given length, which is public (Standard Webhooks, "Verifying signatures"). Compares
 * text, not decoded bytes: another spelling of the same bytes, such as uppercase hex, does not match.
 */
function isSame(given: string, expected: string): boolean {
  if (given.length !== expected.length) return false;
  let difference = 0;
  for (let i = 0; i < expected.length; i++) difference |= given.charCodeAt(i) ^ expected.charCodeAt(i);
  return difference === 0;
}

async function hmacSha256(secret: string, message: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', utf8(secret), algorithm, false, ['sign']);
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, message));
}

// Uint8Array.prototype.toHex and toBase64 need Node 25.
function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function base64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}

function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

function concatenated(head: Uint8Array, tail: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(head.length + tail.length);
  whole.set(head);
  whole.set(tail, head.length);
  return whole;
}

/** A copy, because verifying is asynchronous and the caller may reuse the buffer meanwhile. */
function copyOfBytes(body: string | Uint8Array): Uint8Array<ArrayBuffer> {
  if (typeof body === 'string') return utf8(body);
  // Not instanceof: test runners such as Jest have another Uint8Array in the test than in a request.
  if (!ArrayBuffer.isView(body)) {
    throw new TypeError('`body` must be the raw body as a string or Uint8Array, not parsed JSON');
  }
  return new Uint8Array(new Uint8Array(body.buffer, body.byteOffset, body.byteLength));
}

/** Reads the headers once, because an iterator can be used only once. */
function readHeaders(headers: HeadersInput): ReadonlyMap<string, string> {
  const entries = isIterable(headers) ? headers : Object.entries(headers);
  const read = new Map<string, string>();
  for (const [name, value] of entries) {
    if (value === undefined || value === null) continue;
    const key = name.toLowerCase();
    const text = typeof value === 'string' ? value : [value].flat().join(', ');
    const before = read.get(key);
    read.set(key, before === undefined ? text : `${before}, ${text}`);
  }
  return read;
}

function isIterable(headers: HeadersInput): headers is Iterable<readonly [string, HeaderValue]> {
  return Symbol.iterator in headers;
}

function parseJson(body: string | Uint8Array): unknown {
  try {
    // fatal: bytes that are not UTF-8 must not become U+FFFD silently.
    return JSON.parse(typeof body === 'string' ? body : new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    // Without the cause: JSON.parse quotes the body, which would end up in a log.
    throw new WebhookBodyError('The body is not JSON in UTF-8');
  }
}

type Check = string | readonly Check[] | { readonly [field: string]: Check };

/** @throws {WebhookBodyError} naming the first field that is missing or has another type */
function assertKnown(event: {
  event: EventKind;
  data: Readonly<Record<string, unknown>>;
}): asserts event is KnownEvent {
  for (const [field, check] of Object.entries<Check>(eventFields[event.event])) {
    if (passes(own(event.data, field), check)) continue;
    throw new WebhookBodyError(`\`data.${field}\` of ${event.event} is missing or not of its type`);
  }
}

function passes(value: unknown, check: Check): boolean {
  if (typeof check !== 'string') {
    const [itemCheck] = Array.isArray(check) ? check : [];
    if (itemCheck !== undefined) return Array.isArray(value) && value.every((item) => passes(item, itemCheck));
    return isObject(value) && Object.entries<Check>(check).every(([field, inner]) => passes(own(value, field), inner));
  }
  if (check.endsWith('?')) return value === undefined || passes(value, check.slice(0, -1));
  if (check.endsWith('|null')) return value === null || passes(value, check.slice(0, -'|null'.length));
  if (check.endsWith('[]')) return Array.isArray(value) && value.every((item) => passes(item, check.slice(0, -2)));
  if (check === 'true') return value === true;
  return check === 'object' ? isObject(value) : typeof value === check;
}

function own(object: Readonly<Record<string, unknown>>, field: string): unknown {
  return Object.hasOwn(object, field) ? object[field] : undefined;
}

function isEventKind(kind: string): kind is EventKind {
  return Object.hasOwn(eventFields, kind); // Not `in`: `toString` is not an event type.
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
