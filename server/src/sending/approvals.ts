import { eachOrThrow } from '../async.ts';
import { lockAccount } from '../db/accountLock.ts';
import type { Tx } from '../db/commit.ts';
import type { Queryable } from '../db/dialect.ts';
import { messagesInOutbox } from '../db/outbox.ts';
import { query } from '../db/query.ts';
import type { MessageRow } from '../db/schema.ts';
import { AppError } from '../errors.ts';
import { APPROVAL_EXPIRY_MS, type ApprovalDecision, pendingColumns } from '../messages/messages/approval.ts';
import { chatOf } from '../messages/messages/outgoing.ts';
import type { NewRow, SessionRef } from '../messages/store.ts';
import { type Draft, numberOf, requireType, rowOf, storeInSlices } from './draft.ts';
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
  /** Requests of this process that have stored their first messages, and the number that they still store. */
  readonly #coming = new Set<{ readonly accountId: string; messages: number }>();
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
   * Stores all of the messages, in short transactions, or none if one of them is refused.
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
    const earlier = await this.#store(rows, quota);
    return rows.map((row, index) => earlier[index] ?? row);
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

  /** @returns for each message, the row that an earlier run stored; undefined if it is new */
  async #store(rows: readonly NewRow[], quota: SendQuota | undefined): Promise<(MessageRow | undefined)[]> {
    const accountId = rows[0]?.account_id ?? '';
    const coming = { accountId, messages: 0 };
    this.#coming.add(coming);
    try {
      return await storeInSlices(this.#options.database, rows, {
        begin: (tx) => lockAccount(tx, accountId),
        complete: async (tx, { added, isFirst, left }) => {
          if (isFirst) {
            coming.messages = 0; // the transaction may have been tried before
            await this.#requireRoomFor(tx, accountId, left); // it counts the new ones
            if (quota !== undefined) await countSends(tx, quota, rows.length);
            coming.messages = left;
          } else tx.afterCommit(() => (coming.messages = left));
          for (const row of added) this.#options.inbox.emitApproval(tx, row);
        },
      });
    } finally {
      this.#coming.delete(coming);
    }
  }

  /** @throws {AppError} `too_many` */
  async #requireRoomFor(on: Queryable, accountId: string, more: number): Promise<void> {
    const { maxPendingApprovals: most } = this.#options;
    const stored = await countWaiting(on, 'pending_approval', accountId, most + 1);
    const coming = [...this.#coming].reduce((sum, one) => sum + (one.accountId === accountId ? one.messages : 0), 0);
    if (stored + coming + more > most)
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

const expiredMessages = query((db, p: { before: number; limit: number }) =>
  messagesInOutbox(db, 'pending_approval')
    .selectAll('m')
    .where('o.due_at', '<=', p.before)
    .orderBy('o.due_at')
    .limit(p.limit),
);
