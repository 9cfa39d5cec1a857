/**
 * For receivers: did this request come from Switchboard, and what does it tell?
 *
 * Runs wherever Web Crypto does: Node, Deno, Bun, workers, browsers. No dependencies.
 *
 * ```ts
 * const result = await verifyAndParse({ body: await request.text(), headers: request.headers, secret });
 * if (!result.ok) return new Response(result.reason, { status: 401 });
 * if (result.event.event === 'message.incoming') console.log(result.event.data.message);
 * ```
 */

import type { EventData } from './api.ts';

const DEFAULT_TOLERANCE_SECONDS = 300;

/**
 * A request's headers: a `Headers`, a `Map`, a list of pairs, or a plain object such as Node's `request.headers`.
 * Names in any case. Several values of one name count as one value, joined by a comma, as in a `Headers`.
 */
export type HeadersInput = Iterable<readonly [string, HeaderValue]> | Readonly<Record<string, HeaderValue>>;
type HeaderValue = string | readonly string[] | undefined;

export interface VerifyInput {
  /**
   * The body exactly as received, before any JSON parser. The signature is over the bytes: parsing and serialising
   * again changes them. A string is taken as UTF-8.
   */
  readonly body: string | Uint8Array;
  readonly headers: HeadersInput;
  /**
   * The webhook's secret as it was given to `POST /webhooks/set`; its UTF-8 bytes are the key. A `whsec_` prefix is
   * part of it and nothing is decoded from base64. With a list any of them may match, for a receiver that changes
   * its secret before or after the server does.
   */
  readonly secret: string | readonly string[];
  /**
   * Which signature is asked for.
   *
   * - `standard` (default): `webhook-signature`, which covers the timestamp and the id. Switchboard sends it with
   *   every delivery that has a secret.
   * - `any`: `X-Webhook-Signature` too, where there is no `webhook-signature`. It covers the body alone, so whoever
   *   has seen one delivery can send it again at any time, with a new timestamp and a new id: the caller has to
   *   recognise repetitions by what is in the body. For receivers behind something that drops `webhook-*` headers.
   */
  readonly require?: 'standard' | 'any';
  /** How far the delivery's timestamp may lie from `now`, in seconds, both ways. Default 300. */
  readonly tolerance?: number;
  /** The present, in milliseconds since the Unix epoch. Default `Date.now()`. */
  readonly now?: number;
}

/** What is proven about a delivery. Nothing that the matching signature does not cover is repeated here. */
export type Verified =
  | {
      readonly ok: true;
      readonly scheme: 'standard';
      /** Id of the event: the same on every attempt, so keep it to recognise an event that arrives twice. */
      readonly id: string;
      /** When this attempt was made, in Unix seconds. */
      readonly timestamp: number;
    }
  | { readonly ok: true; readonly scheme: 'body_only' };

export interface Refused {
  readonly ok: false;
  readonly reason: RefusalReason;
}

export type RefusalReason =
  /** Neither `webhook-signature` nor `X-Webhook-Signature` is there. Has the webhook a secret? */
  | 'missing_signature'
  /** Only `X-Webhook-Signature` is there, and `require` is `standard`. */
  | 'standard_signature_required'
  | 'missing_id'
  /** `webhook-id` has a dot in it, which Standard Webhooks forbids. */
  | 'invalid_id'
  | 'missing_timestamp'
  /** The timestamp is not a whole number of seconds. */
  | 'invalid_timestamp'
  /** An old delivery is sent again, or one of the two clocks is wrong. */
  | 'timestamp_out_of_tolerance'
  /** Another secret, or the body or a signed header is not what was sent. */
  | 'bad_signature';

export type VerifyResult = Verified | Refused;

/**
 * Tells whether a delivery was signed with the secret.
 *
 * Two signatures are known. Where `webhook-signature` is present it alone decides, also with `require: 'any'`:
 * - `webhook-signature` (Standard Webhooks): a list of `v1,<base64>`, separated by spaces, each an HMAC-SHA256 over
 *   `<webhook-id>.<webhook-timestamp>.<body>`. One that matches is enough: while a secret is rotated the old and the
 *   new one both sign. The timestamp has to lie within `tolerance`.
 * - `X-Webhook-Signature` (the service contract): `sha256=` and the lowercase hex HMAC-SHA256 of the body. It does
 *   **not** cover the timestamp. `X-Webhook-Timestamp` is held against `tolerance` where it is present, which stops a
 *   repetition by accident, not an attacker.
 *
 * Why `require` is `standard` by default: both are sent side by side, so an attacker who has seen a delivery could
 * leave out the `webhook-*` headers and fall back to the signature that never expires.
 *
 * @returns a value for whatever a sender may do: `{ ok: true, scheme, … }` or `{ ok: false, reason }`.
 * @throws {TypeError} for mistakes of the caller: an empty secret (anyone can sign with that), a parsed body.
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
 * `verify`, then `parse`.
 *
 * @returns what `verify` returns, with the `event` when it is `ok`.
 * @throws {TypeError} as `verify`.
 * @throws {WebhookBodyError} when the signature is right and the body is not an event. Nothing from an unverified body
 *   is ever parsed.
 */
export async function verifyAndParse(
  input: VerifyInput,
): Promise<(Verified & { readonly event: WebhookEvent }) | Refused> {
  // One copy for both, so that what is parsed is what was verified.
  const body = copyOfBytes(input.body);
  const result = await verify({ ...input, body });
  return result.ok ? { ...result, event: parse(body) } : result;
}

/**
 * Reads the body of a delivery. It does not verify: call `verify` first, or `verifyAndParse`.
 *
 * A kind that this version does not know is not an error: it comes back as `UnknownEvent`, so that a receiver survives
 * a newer server. Fields that it does not know stay in `data`. Fields that it does know have the type that is stated.
 *
 * @throws {WebhookBodyError} when the body is not UTF-8, not JSON, not an event envelope, or a field of a known kind is
 *   missing or of another type. The message names the field.
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

  for (const [field, isRight] of Object.entries<Check>(fieldsByKind[kind])) {
    if (isRight(Object.hasOwn(data, field) ? data[field] : undefined)) continue;
    throw new WebhookBodyError(`\`data.${field}\` of ${kind} is missing or not of its type`);
  }
  // Every field of this kind was held against its type just now.
  return { event: kind, data } as unknown as WebhookEvent;
}

/** The body of a delivery is not an event. The message tells why, and holds nothing of the body's text. */
export class WebhookBodyError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'WebhookBodyError';
  }
}

/**
 * An event as parsed, told apart by `event`: `if (event.event === 'message.incoming') event.data.message`.
 * A `switch` needs a `default` or an `unknown` branch for the kinds that are still to come.
 */
export type WebhookEvent = { [K in EventKind]: EventOf<K> }[EventKind] | UnknownEvent;

/** The event of one kind: `EventOf<'message.incoming'>`. */
export interface EventOf<K extends EventKind> {
  readonly event: K;
  readonly data: EventDataByKind[K];
}

/**
 * An event of a kind that this version does not know. `event` is not the kind itself: a member of the union whose
 * `event` is any string would match every comparison, and no comparison would tell the type of `data` any more.
 */
export interface UnknownEvent {
  readonly event: 'unknown';
  /** The kind as it was sent. */
  readonly kind: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface EventDataByKind {
  /** A message was received. */
  'message.incoming': MessageIncoming;
  /** The network accepted a message, or a person sent one from the phone. */
  'message.sent': MessageSent;
  /** A message reached the recipient's device. */
  'message.delivered': MessageReceipt;
  /** The recipient read a message. */
  'message.read': MessageReceipt;
  /** A session connected to its network. */
  'session.connected': SessionConnected;
  /** A session lost its network, was disconnected or was logged out. */
  'session.disconnected': SessionDisconnected;
  /** A group was created, or the session was added to one. */
  'group.created': GroupCreated;
  /** The participants, subject, description, settings, picture or invite link of a group changed. */
  'group.updated': GroupUpdated;
}

export type EventKind = keyof EventDataByKind;

// Phone numbers below are digits in international format without a plus sign; times are ISO 8601 in UTC.

interface AnyEventData {
  /** Present only on the sample event that `GET /webhooks/test` sends. */
  readonly test?: true;
}

type Incoming = EventData['message.incoming'];

/** What a message can contain besides its text. */
export interface MessageParts {
  readonly media?: Incoming['media'];
  readonly location?: Incoming['location'];
  readonly contact?: Incoming['contact'];
  readonly poll?: Incoming['poll'];
  /** Phone number digits of the people that the message mentions. */
  readonly mentions?: Incoming['mentions'];
  readonly template?: Incoming['template'];
  readonly interactive?: Incoming['interactive'];
  readonly forwarded?: Incoming['forwarded'];
  /** Id of the button or list row that the sender chose. */
  readonly payload?: string;
  /** Id of the message that this message replies to. */
  readonly replyTo?: string;
  /** Present if the message arrived late because the session was not connected when it was sent. */
  readonly replayed?: true;
}

export interface MessageIncoming extends MessageParts, AnyEventData {
  readonly messageId: string;
  /** Phone number digits of the sender, or a placeholder if `unidentified` is present. */
  readonly from: string;
  /** Text of the message, caption of the file, or question of the poll. */
  readonly message: string;
  /** When the sender sent the message. */
  readonly timestamp: string;
  readonly sessionId?: string;
  /** Phone number digits of a direct chat, or the id of the group (`grp_…`). */
  readonly chatId?: string;
  /** Phone number digits of the receiving session. */
  readonly to?: string;
  /** `text`, `image`, `video`, `audio`, `document`, … */
  readonly type?: string;
  /** Id of the group (`grp_…`). Only for messages in groups. */
  readonly groupId?: string;
  /** Present if the sender hides the phone number: `from` is then a placeholder, which you can use as `to`. */
  readonly unidentified?: true;
}

export interface MessageSent extends MessageReceipt, MessageParts {
  /** Present if the message was sent from the phone or another linked device. Only then is its content included. */
  readonly sentElsewhere?: true;
  /** Text of the message, or caption of the file. Only together with `sentElsewhere`. */
  readonly message?: string;
}

export interface MessageReceipt extends AnyEventData {
  readonly messageId: string;
  /** Phone number digits of the recipient, or the id of the group (`grp_…`). */
  readonly to: string;
  /** New status: `sent`, `delivered` or `read`. */
  readonly status: string;
  /** When the message reached the status. */
  readonly timestamp: string;
  readonly sessionId?: string;
  /** Phone number digits of a direct chat, or the id of the group (`grp_…`). */
  readonly chatId?: string;
  /** Phone number digits of the sending session. */
  readonly from?: string;
  /** `text`, `image`, `video`, `audio`, `document`, … */
  readonly type?: string;
  /** Id of the group (`grp_…`). Only for messages in groups. */
  readonly groupId?: string;
}

export interface SessionConnected extends AnyEventData {
  readonly sessionId: string;
  /** Phone number digits of the session. */
  readonly phoneNumber: string;
  readonly connectedAt: string;
}

export interface SessionDisconnected extends AnyEventData {
  readonly sessionId: string;
  /** Phone number digits of the session. */
  readonly phoneNumber: string;
  /** Why the session disconnected, as a sentence. */
  readonly reason: string;
  /** Whether the session reconnects automatically. */
  readonly willReconnect: boolean;
  readonly disconnectedAt: string;
}

export interface GroupCreated extends AnyEventData {
  readonly groupId: string;
  readonly sessionId: string;
  /** Name of the group. */
  readonly subject: string;
  readonly participants: readonly Participant[];
  /** Phone number digits of the person who created the group. */
  readonly createdBy: string;
  readonly timestamp: string;
}

export interface Participant {
  readonly phoneNumber: string;
  /** `member`, `admin` or `owner`. */
  readonly role: string;
}

export interface GroupUpdated extends AnyEventData {
  readonly groupId: string;
  readonly sessionId: string;
  /** Name of the group after the change. */
  readonly subject: string;
  /** What changed: `subject`, `description`, `settings` or `participants`. The other fields depend on `type`. */
  readonly change: { readonly type: string; readonly [field: string]: unknown };
  readonly timestamp: string;
}

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
  // The same key signs bare bodies for X-Webhook-Signature. If an id could hold dots, a body with `.1767323045.` in a
  // message's text could be cut into id, timestamp and rest, and its X- signature would pass for this one.
  if (id.includes('.')) return refused('invalid_id');
  if (timestamp === '') return refused('missing_timestamp');
  const problem = timestampProblem(timestamp, delivery);
  if (problem) return refused(problem);

  // Merged header lines are joined by a comma. Other versions, such as `v1a`, match nothing and are passed over.
  const listed = (headers.get('webhook-signature') ?? '').split(/,? +/);
  const signed = concatenated(utf8(`${id}.${timestamp}.`), body);
  // One HMAC for each secret, however many signatures a request lists: a long list costs an attacker more than us.
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

  // The text under a standard signature, taken as a body, passes here: the key is the same. It is no JSON, so `parse`
  // stops it.
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
  // parseInt would take `1767323045, 1` and `1767323045abc`.
  if (!/^[0-9]+$/.test(timestamp)) return 'invalid_timestamp';
  // Asked this way round a NaN, as `now` or `tolerance`, refuses.
  return Math.abs(now - Number(timestamp)) <= tolerance ? undefined : 'timestamp_out_of_tolerance';
}

/**
 * Compares in a time that depends on the lengths alone, which are public, and not on where the first difference is
 * (Standard Webhooks, "Verifying signatures"). Texts, not decoded bytes: another spelling of the same bytes, such as
 * uppercase hex, is not what the contract says and does not match.
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

// Uint8Array.prototype.toHex and toBase64 are too young: Node has them since 25.
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

/** A copy, because verifying waits and the caller's buffer may be used again meanwhile. */
function copyOfBytes(body: string | Uint8Array): Uint8Array<ArrayBuffer> {
  if (typeof body === 'string') return utf8(body);
  // Not instanceof: test runners such as Jest give the test another Uint8Array than the one that a request holds.
  if (!ArrayBuffer.isView(body)) {
    throw new TypeError('`body` must be the raw body as a string or Uint8Array, not parsed JSON');
  }
  return new Uint8Array(new Uint8Array(body.buffer, body.byteOffset, body.byteLength));
}

function readSecrets(secret: string | readonly string[]): readonly string[] {
  const secrets = typeof secret === 'string' ? [secret] : secret;
  const areUsable = Array.isArray(secrets) && secrets.every((each) => typeof each === 'string' && each !== '');
  // With an empty key anyone can sign: `process.env.SECRET ?? ''` must not open the door.
  if (!areUsable || secrets.length === 0) {
    throw new TypeError('`secret` must be a string that is not empty, or a list of such strings');
  }
  return secrets;
}

/** Read once, at the start: an iterator can be walked only once. */
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
    // fatal: bytes that are not UTF-8 must not become U+FFFD unseen.
    return JSON.parse(typeof body === 'string' ? body : new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    // Without the cause: JSON.parse quotes the body, and a body is somebody's message that would end up in a log.
    throw new WebhookBodyError('The body is not JSON in UTF-8');
  }
}

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string';
const isTrue: Check = (value) => value === true;
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);

const isParticipant: Check = (value) => isObject(value) && isText(value['phoneNumber']) && isText(value['role']);
const sample = { test: optional(isTrue) };
const receipt = {
  messageId: isText,
  to: isText,
  status: isText,
  timestamp: isText,
  sessionId: optional(isText),
  chatId: optional(isText),
  from: optional(isText),
  type: optional(isText),
  groupId: optional(isText),
  ...sample,
};

const parts = {
  media: optional(isObject),
  location: optional(isObject),
  contact: optional(isObject),
  poll: optional(isObject),
  mentions: optional((value) => Array.isArray(value) && value.every(isText)),
  template: optional(isObject),
  interactive: optional(isObject),
  forwarded: optional(isTrue),
  payload: optional(isText),
  replyTo: optional(isText),
  replayed: optional(isTrue),
};

// The types above, for the running program. A kind or a field that is there, or in the API, and not here does not
// compile.
const fieldsByKind: {
  readonly [K in EventKind]: Readonly<Record<keyof EventDataByKind[K] | keyof EventData[K], Check>>;
} = {
  'message.incoming': {
    messageId: isText,
    from: isText,
    message: isText,
    timestamp: isText,
    sessionId: optional(isText),
    chatId: optional(isText),
    to: optional(isText),
    type: optional(isText),
    groupId: optional(isText),
    unidentified: optional(isTrue),
    ...parts,
    ...sample,
  },
  'message.sent': {
    ...receipt,
    sentElsewhere: optional(isTrue),
    message: optional(isText),
    ...parts,
  },
  'message.delivered': receipt,
  'message.read': receipt,
  'session.connected': { sessionId: isText, phoneNumber: isText, connectedAt: isText, ...sample },
  'session.disconnected': {
    sessionId: isText,
    phoneNumber: isText,
    reason: isText,
    willReconnect: (value) => typeof value === 'boolean',
    disconnectedAt: isText,
    ...sample,
  },
  'group.created': {
    groupId: isText,
    sessionId: isText,
    subject: isText,
    participants: (value) => Array.isArray(value) && value.every(isParticipant),
    createdBy: isText,
    timestamp: isText,
    ...sample,
  },
  'group.updated': {
    groupId: isText,
    sessionId: isText,
    subject: isText,
    change: (value) => isObject(value) && isText(value['type']),
    timestamp: isText,
    ...sample,
  },
};

/** The eight kinds of the service contract. */
export const eventKinds = Object.keys(fieldsByKind) as readonly EventKind[]; // Object.keys forgets the keys' type.

function isEventKind(kind: string): kind is EventKind {
  return Object.hasOwn(fieldsByKind, kind); // Not `in`: `toString` is not a kind.
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
