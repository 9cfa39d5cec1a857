import { createHmac, timingSafeEqual } from 'node:crypto';
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { CallbackAnswer, CallbackRequest } from '../../contract/callbacks.ts';
import { withKnownParts } from './knownParts.ts';

/* The requests of Meta to a callback URL: https://developers.facebook.com/docs/graph-api/webhooks/getting-started */

/** Answers Meta's request to verify that the address is ours. */
export function answerChallenge(query: URLSearchParams, verifyToken: string): CallbackAnswer {
  const isValid = query.get('hub.mode') === 'subscribe' && isSame(query.get('hub.verify_token') ?? '', verifyToken);
  return isValid ? { status: 200, text: query.get('hub.challenge') ?? '' } : { status: 403 };
}

/** Whether Meta signed exactly these bytes for the app that has this secret. */
export function isSigned({ headers, body }: CallbackRequest, appSecret: string): boolean {
  const expected = `sha256=${createHmac('sha256', appSecret).update(body).digest('hex')}`;
  return isSame(headers['x-hub-signature-256'] ?? '', expected);
}

/** Compares in constant time: both values are hashed to the same length first. */
function isSame(given: string, expected: string): boolean {
  const hash = (text: string) => createHmac('sha256', 'compare').update(text).digest();
  return timingSafeEqual(hash(given), hash(expected));
}

const Contact = Type.Object({
  wa_id: Type.Optional(Type.String()),
  user_id: Type.Optional(Type.String()),
  parent_user_id: Type.Optional(Type.String()),
  username: Type.Optional(Type.String()),
  profile: Type.Optional(Type.Object({ name: Type.Optional(Type.String()), username: Type.Optional(Type.String()) })),
});
export type Contact = Static<typeof Contact>;

/** A list of which each entry is validated on its own, so that a bad one does not affect the others. */
const Entries = Type.Optional(Type.Array(Type.Unknown()));

const Value = Type.Object({
  metadata: Type.Optional(Type.Object({ phone_number_id: Type.String() })),
  contacts: Entries,
  messages: Entries,
  message_echoes: Entries,
  statuses: Entries,
  history: Entries,
  state_sync: Entries,
  calls: Entries,
  user_preferences: Entries,
  groups: Entries,
});
const Change = Type.Object({ field: Type.String(), value: Value });

/** A change that concerns a number, or the business account `accountId`. */
export interface Change extends Static<typeof Change> {
  /** Meta's id of the business account. */
  readonly accountId: string | undefined;
  /** When it happened, if Meta says so. */
  readonly at: number | undefined;
}

const Callback = Compile(
  Type.Object({ object: Type.Optional(Type.String()), entry: Type.Array(Type.Unknown(), { maxItems: 10_000 }) }),
);
const Entry = Compile(
  Type.Object({
    id: Type.Optional(Type.Union([Type.String(), Type.Integer()])),
    time: Type.Optional(Type.Number()),
    changes: Type.Array(Type.Unknown()),
  }),
);
const OneChange = Compile(Change);
const OneValue = Compile(Value);
const OneContact = Compile(Contact);

const OBJECT = 'whatsapp_business_account';

export interface Changes {
  readonly changes: readonly Change[];
  /** How many entries and changes have an unknown shape. */
  readonly unknown: number;
}

/**
 * Reads the changes of a callback.
 * @returns undefined if it is not a callback; no changes if it concerns something else than WhatsApp
 */
export function readChanges(body: Buffer): Changes | undefined {
  let callback: unknown;
  try {
    callback = JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
  if (!Callback.Check(callback)) return undefined;
  if (callback.object !== undefined && callback.object !== OBJECT) return { changes: [], unknown: 1 };
  let unknown = 0;
  const changes: Change[] = [];
  for (const entry of callback.entry) {
    if (!Entry.Check(entry)) {
      unknown++;
      continue;
    }
    const accountId = entry.id === undefined ? undefined : String(entry.id);
    const at = entry.time === undefined ? undefined : toMs(entry.time);
    for (const change of entry.changes) {
      const read = readChange(change);
      if (read === undefined) unknown++;
      else changes.push({ ...read, accountId, at });
    }
  }
  return { changes, unknown };
}

/** A change with the parts of its value that have a known shape. */
function readChange(change: unknown): Static<typeof Change> | undefined {
  if (OneChange.Check(change)) return change;
  if (typeof change !== 'object' || change === null || !('value' in change)) return undefined;
  const repaired = { ...change, value: withKnownParts(OneValue, change.value, {}) };
  return OneChange.Check(repaired) ? repaired : undefined;
}

export function readContacts(contacts: readonly unknown[] = []): readonly Contact[] {
  return contacts.filter((contact): contact is Contact => OneContact.Check(contact));
}

/** Meta sends seconds, and in some notifications milliseconds. */
const toMs = (time: number) => (time < 100_000_000_000 ? time * 1000 : time);
