import { sql } from 'kysely';
import type { Clock } from '../clock.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Database } from '../db/database.ts';
import { query } from '../db/query.ts';
import type { MessageRow } from '../db/schema.ts';
import { AppError } from '../errors.ts';
import { timeOfId } from '../ids.ts';
import type { Log } from '../log.ts';
import type { SessionRef } from '../messages/store.ts';
import type { Line, Sessions } from '../sessions/sessions.ts';
import type { SteadyClock } from '../steadyClock.ts';

/*
 * Messages that are stored as `queued` and not with their network: the process died in between, their session was away
 * at their time, their time has come just now, or their network wants a pause. They go out as soon as their session is
 * connected somewhere, in the order of their times, a few chats beside one another.
 */
export interface SendQueue {
  start(): void;
  stop(): void;
  /** Something is queued for a session: whoever has it sends that, this node or another one. */
  wake(session: SessionRef): void;
  /**
   * Whether something of its chat is queued before a message that is stored: then its turn is in the queue.
   * @param isUnderWay whether a message is on its way to the network without having been in the queue
   */
  isBehind(
    row: Pick<MessageRow, 'session_id' | 'chat_id' | 'message_id'>,
    isUnderWay: (messageId: string) => boolean,
  ): Promise<boolean>;
}

/** How long a message is to wait after an error of its network, in ms; undefined when it has failed by it. */
export type HoldMs = (error: unknown) => number | undefined;

/** A queued message stays queued: its network takes nothing of the session before so long. */
export class HeldError extends Error {
  readonly ms: number;
  constructor(ms: number) {
    super('The network takes nothing for now');
    this.ms = ms;
  }
}

/** So long a queued message waits out the pauses that its network wants; then it fails, and says why. */
const LONGEST_PAUSE_MS = 10 * 60_000;
const UNTIL_CONNECTED = Number.POSITIVE_INFINITY;
/** Chats that a session's queue is sent to at a time; within a chat one message follows the other. */
const CHATS_AT_ONCE = 8;
const LOOK_EVERY_MS = 30_000;
/** Earlier queued messages of a chat that are read: more than one node sends in a chat at a time. */
const LOOKED_AT = 200;

export function createSendQueue({
  database,
  cluster,
  sessions,
  send,
  clock,
  steady,
  log,
}: {
  database: Database;
  cluster: Cluster;
  /** The lines of the sessions that are connected here. */
  sessions: () => Pick<Sessions, 'line'>;
  /**
   * Sends a message that is queued still, and stores what becomes of it; one that is being sent it passes over.
   * @throws {HeldError} it has to wait
   */
  send: (line: Line, row: MessageRow, holdMs: HoldMs) => Promise<void>;
  clock: Clock;
  /** What the order goes by. */
  steady: SteadyClock;
  log: Log;
}): SendQueue {
  /** Sessions whose queued messages are being sent → whether to look for more then. */
  const resuming = new Map<string, boolean>();
  /** Sessions whose network wants a pause → what takes it back. */
  const pauses = new Map<string, () => void>();
  /** Messages that their network has held up → since when. */
  const heldSince = new Map<string, number>();
  let isRunning = false;
  let cancelLook = () => {};

  function resume({ accountId, sessionId }: SessionRef): void {
    if (pauses.has(sessionId)) return;
    const isUnderWay = resuming.has(sessionId);
    resuming.set(sessionId, isUnderWay);
    if (isUnderWay) return;
    sendAll({ accountId, sessionId })
      .catch((error) => log.error({ err: error, session: sessionId }, 'sending queued messages failed'))
      .finally(() => resuming.delete(sessionId));
  }

  /** Again when more was queued meanwhile. What one message is held up by is the session's: all the others wait as well. */
  async function sendAll(session: SessionRef): Promise<void> {
    do {
      resuming.set(session.sessionId, false);
      const line = sessions().line(session);
      if (line === undefined) return;
      const rows = (await queuedMessages.all(database.reader, session)).sort(byTurn(steady));
      const chats = [...Map.groupBy(rows, (row) => row.chat_id).values()];
      let heldMs: number | undefined;
      const sendChats = async () => {
        for (let chat = chats.shift(); chat !== undefined; chat = chats.shift()) {
          for (const row of chat) {
            if (heldMs !== undefined || !line.isOpen()) return;
            heldMs = (await sendOne(line, row)) ?? heldMs;
          }
        }
      };
      await Promise.all(Array.from({ length: CHATS_AT_ONCE }, sendChats));
      if (heldMs !== undefined) hold(session, heldMs);
      else if (!line.isOpen()) wake(session);
    } while (resuming.get(session.sessionId) && !pauses.has(session.sessionId));
  }

  /** One that cannot be sent must not hold up those behind it. @returns how long it has to wait with all others */
  async function sendOne(line: Line, row: MessageRow): Promise<number | undefined> {
    try {
      await send(line, row, (error) => holdMs(row, error));
    } catch (error) {
      if (error instanceof HeldError) return error.ms;
      log.warn({ err: error, session: line.sessionId, message: row.message_id }, 'a queued message was not sent');
    }
    heldSince.delete(row.message_id);
    return undefined;
  }

  /** Undefined where waiting does not help, or took too long. */
  function holdMs({ message_id: messageId }: MessageRow, error: unknown): number | undefined {
    if (!(error instanceof AppError)) return undefined;
    if (error.code === 'session_not_connected') return UNTIL_CONNECTED;
    if (error.code !== 'rate_limited') return undefined;
    const ms = (error.retryAfterSeconds ?? 1) * 1000;
    const since = heldSince.get(messageId) ?? clock.elapsed();
    if (clock.elapsed() - since + ms > LONGEST_PAUSE_MS) return undefined;
    heldSince.set(messageId, since);
    return ms;
  }

  /** What is queued goes on when the pause that the network wants is over, or when the session is connected again. */
  function hold(session: SessionRef, ms: number): void {
    if (ms === UNTIL_CONNECTED || !isRunning) return;
    const cancel = clock.after(ms, () => {
      pauses.delete(session.sessionId);
      resume(session);
    });
    pauses.set(session.sessionId, cancel);
  }

  /** What was queued by another node, which could not tell, or died. A safety net, not the mechanism. */
  async function look(): Promise<void> {
    cancelLook();
    try {
      for (const { account_id: accountId, session_id: sessionId } of await sessionsWithQueued.all(database.reader, {}))
        resumeHere({ accountId, sessionId });
    } catch (error) {
      log.warn({ err: error }, 'looking for queued messages failed; trying again');
    }
    cancelLook();
    if (isRunning) cancelLook = clock.after(LOOK_EVERY_MS, () => void look());
  }

  function wake(session: SessionRef): void {
    if (!resumeHere(session)) cluster.signals.send('outbox', `${session.accountId} ${session.sessionId}`);
  }

  /** @returns whether it is connected here */
  function resumeHere(session: SessionRef): boolean {
    const isHere = sessions().line(session)?.isOpen() ?? false;
    if (isHere) resume(session);
    return isHere;
  }

  async function isBehind(
    row: Parameters<SendQueue['isBehind']>[0],
    isUnderWay: (messageId: string) => boolean,
  ): Promise<boolean> {
    const { session_id: sessionId, chat_id: chatId, message_id: messageId } = row;
    const hasQueue = resuming.has(sessionId) || pauses.has(sessionId);
    // Another node may have queued something, and its signal may come late or not at all.
    if (!hasQueue && !cluster.hasOthers() && cluster.counts().isListening) return false;
    const before = await queuedBefore.all(database.reader, { sessionId, chatId, messageId, limit: LOOKED_AT });
    return before.some((other) => hasQueue || !isUnderWay(other.message_id));
  }

  cluster.signals.on('outbox', (id) => {
    const [accountId = '', sessionId = ''] = id.split(' ');
    resumeHere({ accountId, sessionId });
  });
  cluster.signals.onGap(() => void look());

  return {
    start() {
      isRunning = true;
      cancelLook = clock.after(LOOK_EVERY_MS, () => void look());
    },
    stop() {
      isRunning = false;
      cancelLook();
      for (const cancel of pauses.values()) cancel();
      pauses.clear();
    },
    wake,
    isBehind,
  };
}

// As a literal, for a partial index is for this and no other.
const isQueued = sql.lit('queued');

const queuedMessages = query((db, p: SessionRef) =>
  db
    .selectFrom('messages')
    .selectAll()
    .where('account_id', '=', p.accountId)
    .where('session_id', '=', p.sessionId)
    .where('status', '=', isQueued)
    .orderBy('message_id'),
);

/** Compares rows by when they are to be sent: by the time in their id, or the time they were scheduled for. */
function byTurn(steady: SteadyClock): (one: MessageRow, other: MessageRow) => number {
  const turnOf = ({ scheduled_at: scheduledAt, message_id: id }: MessageRow) =>
    scheduledAt === null ? timeOfId(id) : steady.fromWall(scheduledAt);
  return (one, other) => turnOf(one) - turnOf(other);
}

const queuedBefore = query((db, p: { sessionId: string; chatId: string; messageId: string; limit: number }) =>
  db
    .selectFrom('messages')
    .select('message_id')
    .where('session_id', '=', p.sessionId)
    .where('status', '=', isQueued)
    .where('chat_id', '=', p.chatId)
    .where('seq', '<', (eb) =>
      eb
        .selectFrom('messages as own')
        .select('own.seq')
        .where('own.session_id', '=', p.sessionId)
        .where('own.status', '=', isQueued)
        .where('own.message_id', '=', p.messageId),
    )
    .orderBy('seq')
    .limit(p.limit),
);

/** The sessions that have something queued. */
const sessionsWithQueued = query((db, _: object) =>
  db.selectFrom('messages').select(['account_id', 'session_id']).distinct().where('status', '=', isQueued),
);
