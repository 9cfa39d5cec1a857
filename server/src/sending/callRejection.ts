import { KeyedQueue } from '../async.ts';
import type { Clock } from '../clock.ts';
import type { NetworkEvent } from '../connectors/contract/events.ts';
import type { Database } from '../db/database.ts';
import { query } from '../db/query.ts';
import { firstIdAt, type NewId, timeOfId } from '../ids.ts';
import type { Log } from '../log.ts';
import { findSession, type SessionRef } from '../messages/store.ts';
import { callsOf, callTextOf } from '../sessions/callOptions.ts';
import type { LiveSessions } from '../sessions/liveSessions.ts';
import { readOptions } from '../sessions/options.ts';
import type { SteadyClock } from '../steadyClock.ts';
import type { Sender } from './sender.ts';

type Call = Extract<NetworkEvent, { type: 'call' }>;

interface Text {
  readonly to: string;
  /** When it was written, on the steady clock. */
  readonly at: number;
}

interface Options {
  readonly database: Database;
  readonly live: LiveSessions;
  readonly sender: Pick<Sender, 'send'>;
  /** Whether the API key that set the text may still have it sent. */
  readonly mayTextCallers: (keyId: string) => Promise<boolean>;
  readonly newId: NewId;
  readonly clock: Clock;
  readonly steady: SteadyClock;
  readonly log: Log;
}

/** A call that arrives later than this no longer rings. */
const RINGING_MS = 60_000;
const HOUR_MS = 60 * 60 * 1000;
/** Texts of a session per hour, to all callers together: strangers must not use up its limit of new chats. */
const MAX_TEXTS = 20;
/** Callers of a session who wait for their text at the same time; further ones get none. */
const MAX_WAITING = 100;

/** Rejects the calls of sessions with `calls.autoReject`, and tells the callers why. */
export class CallRejection {
  readonly #options: Options;
  /** By session, so that calls at the same time see each other's texts. */
  readonly #queue = new KeyedQueue();
  /** The texts of the last hour of each connection. */
  readonly #texts = new WeakMap<SessionRef, readonly Text[]>();
  readonly #onCall = (session: SessionRef, call: Call) => {
    this.#answer(session, call).catch((error) =>
      this.#options.log.warn({ err: error, session: session.sessionId }, 'failed to reject a call'),
    );
  };

  constructor(options: Options) {
    this.#options = options;
  }

  start(): void {
    this.stop();
    this.#options.live.on('call', this.#onCall);
  }

  stop(): void {
    this.#options.live.off('call', this.#onCall);
  }

  async #answer(session: SessionRef, { callId, chat, from, timestamp }: Call): Promise<void> {
    const { database, live, clock } = this.#options;
    if (clock.now() - timestamp > RINGING_MS) return;
    const row = await findSession(database.reader, session);
    if (row === undefined) return;
    const options = readOptions(database.seal, row);
    if (callsOf(options).autoReject !== true) return;
    const rejectCall = await live.part(session, 'rejectCall');
    await rejectCall({ callId });
    const message = callTextOf(options);
    if (message === undefined || chat.type !== 'direct') return;
    const keyId = row.call_text_key;
    if (keyId !== null && !(await this.#options.mayTextCallers(keyId))) return;
    if (this.#queue.length(session.sessionId) >= MAX_WAITING) return;
    await this.#queue.run(session.sessionId, () => this.#writeOnce(session, from, message, keyId));
  }

  async #writeOnce(session: SessionRef, caller: string, text: string, keyId: string | null): Promise<void> {
    const { database, steady } = this.#options;
    const { accountId, sessionId } = session;
    if ((await blockedContact.first(database.reader, { accountId, sessionId, caller })) !== undefined) return;
    const known = this.#texts.get(session) ?? (await this.#storedTexts(session, text));
    const recent = known.filter(({ at }) => at > steady.now() - HOUR_MS);
    this.#texts.set(session, recent);
    if (recent.length >= MAX_TEXTS || recent.some(({ to }) => to === caller)) return;
    await this.#write(session, caller, text, keyId);
    this.#texts.set(session, [...recent, { to: caller, at: steady.now() }]);
  }

  /** The texts that an earlier connection sent, on this node or another one. */
  async #storedTexts({ accountId, sessionId }: SessionRef, text: string): Promise<Text[]> {
    const { database, steady } = this.#options;
    const since = firstIdAt('msg', steady.now() - HOUR_MS);
    const stored = await recentTexts.all(database.reader, { accountId, sessionId, text, since, most: MAX_TEXTS });
    return stored.map(({ chat_id, message_id }) => ({ to: chat_id, at: timeOfId(message_id) }));
  }

  async #write(session: SessionRef, to: string, text: string, keyId: string | null): Promise<void> {
    const { sender, newId } = this.#options;
    await sender.send(session, { messageId: newId('msg'), to, type: 'text', text, content: {}, replyTo: null, keyId });
  }
}

const blockedContact = query((db, p: SessionRef & { caller: string }) =>
  db
    .selectFrom('contacts')
    .select('phone_number')
    .where('account_id', '=', p.accountId)
    .where('session_id', '=', p.sessionId)
    .where('phone_number', '=', p.caller)
    .where('blocked', '=', 1),
);

const recentTexts = query((db, p: SessionRef & { text: string; since: string; most: number }) =>
  db
    .selectFrom('messages')
    .select(['chat_id', 'message_id'])
    .where('account_id', '=', p.accountId)
    .where('message_id', '>=', p.since)
    .where('session_id', '=', p.sessionId)
    .where('direction', '=', 'outgoing')
    .where('body', '=', p.text)
    .limit(p.most),
);
