import { sql } from 'kysely';
import { eachOrThrow } from '../async.ts';
import { lockAccount } from '../db/accountLock.ts';
import type { Tx } from '../db/commit.ts';
import type { Queryable } from '../db/dialect.ts';
import { query } from '../db/query.ts';
import type { MessageRow } from '../db/schema.ts';
import { AppError } from '../errors.ts';
import { APPROVAL_EXPIRY_MS, type ApprovalDecision, pendingColumns } from '../messages/messages/approval.ts';
import { chatOf } from '../messages/messages/outgoing.ts';
import { type NewRow, type SessionRef, storeMessages } from '../messages/store.ts';
import { type Draft, numberOf, requireType, rowOf, storedEarlier } from './draft.ts';
import { countSends, type SendQuota } from './quota.ts';
import type { SenderOptions } from './senderOptions.ts';
import { countWaiting, tooManyScheduled } from './waitingMessages.ts';

/** A message to send once it is approved: at once, or at its time if that is later. */
export interface UnapprovedDraft extends Draft {
  readonly sendAt?: number | undefined;
}

const EXPIRE_EVERY_MS = 60_000;
const BATCH = 100;

/** Messages that wait for approval. Approved ones are queued or scheduled like any others. */
export class Approvals {
  readonly #options: SenderOptions;
  readonly #onApproved: (session: SessionRef, status: MessageRow['status']) => void;
  #isRunning = false;
  #cancelTimer = () => {};

  /** @param onApproved called when a message of the session has been queued or scheduled */
  constructor(options: SenderOptions, onApproved: (session: SessionRef, status: MessageRow['status']) => void) {
    this.#options = options;
    this.#onApproved = onApproved;
  }

  start(): void {
    this.#isRunning = true;
    void this.#expire();
  }

  stop(): void {
    this.#isRunning = false;
    this.#cancelTimer();
  }

  /**
   * Stores all of the messages, or none.
   * @param keyId the API key that asks
   * @throws {AppError} `session_not_connected` if the session was never linked, `not_found`, `not_supported`,
   * `too_many`, `quota_exceeded`
   */
  async add(
    session: SessionRef,
    drafts: readonly UnapprovedDraft[],
    keyId: string,
    quota?: SendQuota,
  ): Promise<NewRow[]> {
    const { database, live, clock } = this.#options;
    const phoneNumber = await numberOf(database, session);
    const connected = live.find(session);
    const columns = pendingColumns(keyId, clock.now());
    const rows: NewRow[] = [];
    for (const { sendAt, ...draft } of drafts) {
      if (connected !== undefined) requireType(connected, draft.type);
      await chatOf(database.reader, session, draft.to); // throws if the session is not in the group
      const timestamp = sendAt ?? columns.created_at;
      rows.push(rowOf(session, phoneNumber, draft, { ...columns, timestamp, scheduled_at: sendAt ?? null }));
    }
    const areNew = await database.commit((tx) => this.#store(tx, rows, quota), session.sessionId);
    return Promise.all(rows.map((row, index) => (areNew[index] ? row : storedEarlier(database, row))));
  }

  /** @throws {AppError} `too_many` if no further message of the account can wait for approval */
  requireRoom({ accountId }: SessionRef): Promise<void> {
    return this.#requireRoomFor(this.#options.database.reader, accountId, 1);
  }

  /**
   * Returns the message after the decision; undefined if it no longer waits for approval.
   * @throws {AppError} `too_many` if it would be scheduled beyond the limit of the account
   */
  async decide(message: MessageRow, decision: ApprovalDecision): Promise<MessageRow | undefined> {
    const row = await this.#options.inbox.decide(message, decision, (tx) =>
      this.#requireScheduleRoom(tx, message.account_id),
    );
    if (row !== undefined && row.status !== 'failed')
      this.#onApproved({ accountId: row.account_id, sessionId: row.session_id }, row.status);
    return row;
  }

  /** Returns which of the messages are new, as opposed to stored by an earlier run of the same request. */
  async #store(tx: Tx, rows: readonly NewRow[], quota: SendQuota | undefined): Promise<readonly boolean[]> {
    const [first] = rows;
    if (first === undefined) return [];
    await lockAccount(tx, first.account_id);
    const areNew = await storeMessages(tx, rows);
    const added = rows.filter((_, index) => areNew[index]);
    if (added.length === 0) return areNew;
    await this.#requireRoomFor(tx, first.account_id, 0); // it counts the new ones
    if (quota !== undefined) await countSends(tx, quota, added.length);
    for (const row of added) this.#options.inbox.emitApproval(tx, row);
    return areNew;
  }

  /** @throws {AppError} `too_many` */
  async #requireRoomFor(on: Queryable, accountId: string, more: number): Promise<void> {
    const { maxPendingApprovals: most } = this.#options;
    if ((await countWaiting(on, 'pending_approval', accountId, most + 1)) + more > most)
      throw new AppError(
        'too_many',
        `The account would exceed its limit of ${most} messages that wait for approval (MAX_PENDING_APPROVALS); approve or reject some first`,
      );
  }

  /** @throws {AppError} `too_many` */
  async #requireScheduleRoom(tx: Tx, accountId: string): Promise<void> {
    const { maxScheduled: most } = this.#options;
    await lockAccount(tx, accountId);
    if ((await countWaiting(tx, 'scheduled', accountId, most)) >= most) throw tooManyScheduled(most);
  }

  async #expire(): Promise<void> {
    const { database, clock, inbox, log } = this.#options;
    try {
      for (;;) {
        const expired = await expiredMessages.all(database.reader, {
          before: clock.now() - APPROVAL_EXPIRY_MS,
          limit: BATCH,
        });
        await eachOrThrow(expired, (row) => inbox.decide(row, { outcome: 'expired' }));
        if (expired.length < BATCH || !this.#isRunning) break;
      }
    } catch (error) {
      log.warn({ err: error }, 'failed to expire messages that wait for approval; trying again');
    }
    if (this.#isRunning) this.#cancelTimer = clock.after(EXPIRE_EVERY_MS, () => void this.#expire());
  }
}

// A literal, so that the planner can use the partial index.
const isPending = sql.lit('pending_approval' as const);

const expiredMessages = query((db, p: { before: number; limit: number }) =>
  db
    .selectFrom('messages')
    .selectAll()
    .where('status', '=', isPending)
    .where('created_at', '<=', p.before)
    .orderBy('created_at')
    .limit(p.limit),
);
