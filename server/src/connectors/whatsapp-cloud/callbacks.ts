import { createHmac, timingSafeEqual } from 'node:crypto';
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { CallbackAnswer, CallbackRequest } from '../connector.ts';

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
  profile: Type.Optional(Type.Object({ name: Type.Optional(Type.String()) })),
});
export type Contact = Static<typeof Contact>;

const Change = Type.Object({
  field: Type.String(),
  value: Type.Object({
    metadata: Type.Optional(Type.Object({ phone_number_id: Type.String() })),
    contacts: Type.Optional(Type.Array(Contact)),
    messages: Type.Optional(Type.Array(Type.Unknown())),
    message_echoes: Type.Optional(Type.Array(Type.Unknown())),
    statuses: Type.Optional(Type.Array(Type.Unknown())),
  }),
});
export type Change = Static<typeof Change>;

const Callback = Compile(Type.Object({ entry: Type.Array(Type.Object({ changes: Type.Array(Type.Unknown()) })) }));
const OneChange = Compile(Change);

/** Reads the changes of a callback, and counts those of an unknown shape; undefined if it is not a callback. */
export function readChanges(body: Buffer): { changes: Change[]; unknown: number } | undefined {
  let callback: unknown;
  try {
    callback = JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
  if (!Callback.Check(callback)) return undefined;
  const all = callback.entry.flatMap(({ changes }) => changes);
  const changes = all.filter((change): change is Change => OneChange.Check(change));
  return { changes, unknown: all.length - changes.length };
}
