import type { NetworkEvent } from '../connectors/contract/events.ts';
import type { Tx } from '../db/commit.ts';
import type { Database } from '../db/database.ts';
import type { MessageRow } from '../db/schema.ts';
import type { SessionStatus } from '../db/tables/sessions.ts';
import type { AppError } from '../errors.ts';
import { broadcastReports } from './broadcasts/broadcastInbox.ts';
import { chatReports, storeChatRemoval, storeChatUpdate } from './chats/chatInbox.ts';
import { removeLabel } from './chats/labels.ts';
import type { StoredMedia } from './content.ts';
import { groupReports } from './groups/groupInbox.ts';
import { historyReports } from './history/historyInbox.ts';
import { Identities } from './identities/identities.ts';
import type { InboxOptions } from './inboxOptions.ts';
import { type ApprovalDecision, decide, emitApproval } from './messages/approval.ts';
import { batchOfMessage, checkBatchNow } from './messages/batchChecks.ts';
import { applyEarlyChanges } from './messages/earlyChanges.ts';
import { messageReports } from './messages/messageInbox.ts';
import { type Accepted, type Acknowledged, OutgoingProgress, type SentMessage } from './messages/outgoingProgress.ts';
import { customerReports } from './people/customers.ts';
import { judgeAhead } from './people/networkNumbers.ts';
import { peopleReports } from './people/peopleInbox.ts';
import { withTextLimits } from './reportLimits.ts';
import type { Report, ReportHandler, ReportHandlers, ReportType } from './reports.ts';
import { type PairingCode, SessionInbox } from './sessionInbox.ts';
import { type Assessment, countInMetrics, storeRisk, unreadableMessages } from './standing/sessionRisk.ts';
import { standingReports } from './standing/standingInbox.ts';
import type { NewRow, SessionRef } from './store.ts';

interface TakeOptions {
  /** Whether the network reports more before this is stored, so that a receipt may wait for other changes. */
  readonly canWait?: boolean | undefined;
}

export interface Inbox {
  /** Stores a report and the events that follow from it. A repeated report changes nothing. */
  take(session: SessionRef, event: NetworkEvent, file?: StoredMedia, options?: TakeOptions): Promise<void>;
  /** Returns what `acknowledge` stores, with the running span. */
  acknowledged(message: SentMessage, accepted: Accepted): Acknowledged;
  /** Marks outgoing messages as `sent`, in one transaction: the network accepted them in this order. */
  acknowledge(items: readonly Acknowledged[]): Promise<void>;
  /** Marks an outgoing message as `failed`: the network refused it. */
  refuse(message: SentMessage, error: AppError): Promise<void>;
  /** Queues a message whose time has come. Returns whether it was still scheduled. */
  queue(message: MessageRow): Promise<boolean>;
  /** Cancels a message that is scheduled or waits for approval. Returns whether it still was one. */
  cancel(message: MessageRow): Promise<boolean>;
  /** Cancels a queued message. Returns whether it was still queued. An attempt in flight can still send it. */
  cancelQueued(message: MessageRow): Promise<boolean>;
  /** Emits, in the transaction that stores a message, that it waits for approval. */
  emitApproval(tx: Tx, message: NewRow): void;
  /**
   * Decides on a message that waits for approval. Returns it; undefined if it no longer waits.
   * @param requireRoom throws if the account may not have one more scheduled message
   */
  decide(
    message: MessageRow,
    decision: ApprovalDecision,
    requireRoom?: (tx: Tx) => Promise<void>,
  ): Promise<MessageRow | undefined>;
  /** Ends the session's connection for the account, if there is one, so that no node reconnects it. */
  end(session: SessionRef, status: 'disconnected' | 'logged_out', reason: string): Promise<void>;
  /** Stores a status change, such as the start of a connection. */
  note(session: SessionRef, status: SessionStatus, reason: string | null): Promise<void>;
  /** Stores how likely the network is to ban the session's number, and emits it if the level has changed. */
  noteRisk(session: SessionRef, assessment: Assessment): Promise<void>;
  /** Emits the code that links a phone. */
  pairingCode(session: SessionRef, code: PairingCode): Promise<void>;
}

/**
 * Stores most reports in one transaction. Reports of a session take effect in order, because its id is their commit
 * key.
 * @param options.trace returns the `traceparent` of the running span, which joint work keeps for each item
 * @param options.keysChanged called when the recipients of API keys follow a person
 */
export function createInbox({
  database,
  trace,
  keysChanged,
  ...options
}: InboxOptions & {
  database: Database;
  trace: () => string | null;
  keysChanged: (accountId: string) => void;
}): Inbox {
  const outgoing = new OutgoingProgress(options);
  const identities = new Identities({ ...options, database, outgoing, keysChanged });
  const sessions = new SessionInbox(options);
  const handlers = handlersOf(sessions, outgoing);
  const store = (tx: Tx, session: SessionRef, event: Report<ReportType>, file: StoredMedia | undefined) => {
    const handler = handlers[event.type] as ReportHandler<ReportType>; // the one of the event's own type
    return handler(options, tx, session, event, file);
  };
  const acknowledge = async (tx: Tx, lists: readonly (readonly Acknowledged[])[]) => {
    await outgoing.acknowledge(tx, lists);
    await applyEarlyChanges(options, tx, lists.flat().flatMap(namedByNetwork));
    return lists.map(() => undefined);
  };
  /** In another transaction: a batch is locked before its messages wherever both change. */
  const checkBatch = async ({ account_id, message_id }: Pick<MessageRow, 'account_id' | 'message_id'>) => {
    const batchId = batchOfMessage(message_id);
    if (batchId === undefined) return;
    const check = { account_id, batchId, now: options.clock.now() };
    await database.commit((tx) => checkBatchNow.run(tx, check)).catch(() => {}); // it is checked later anyway
  };
  return {
    async take(session, report, file, { canWait = false } = {}) {
      const event = withTextLimits(report);
      const { sessionId } = session;
      if (event.type === 'group_created' || event.type === 'group_updated')
        await judgeAhead(event.group.participants.map(({ phoneNumber }) => phoneNumber));
      // In their order: those that wait continue in it, and the first of them may be the next work.
      for (let work = identities.workOn(sessionId); work !== undefined; work = identities.workOn(sessionId)) await work;
      if (event.type === 'receipt') {
        // The network gets its acknowledgement after the commit, and repeats a receipt that is lost until then. The end
        // of a session commits what waits, because its work has the same key.
        const receipt = { session, event, trace: trace() };
        const isPatient = canWait && event.status !== 'failed';
        await database.commitJointly(outgoing.receipts, receipt, sessionId, { canWait: isPatient });
      } else if (event.type === 'chat_removed') await storeChatRemoval(options.deletions, database, session, event);
      else if (event.type === 'label_removed')
        await removeLabel({ deletions: options.deletions, database }, session, event.networkId);
      else if (event.type === 'unreadable' && unreadableMessages(event) === 0) countInMetrics(options.metrics, event);
      else if (event.type === 'identified') await identities.identify(session, event);
      else if (event.type === 'chat_updated') await storeChatUpdate(options, database.commit, session, event);
      else await database.commit((tx) => store(tx, session, event, file), sessionId);
    },
    acknowledged: (message, accepted) => ({ message, accepted, trace: trace() }),
    async acknowledge(items) {
      await database.commitJointly(acknowledge, items, items[0]?.message.session_id);
    },
    refuse: (message, error) => database.commit((tx) => outgoing.refuse(tx, message, error), message.session_id),
    queue: (message) => database.commit((tx) => outgoing.queue(tx, message), message.session_id),
    async cancel(message) {
      const isCancelled = await database.commit(
        async (tx) =>
          (await outgoing.cancel(tx, message)) ||
          (await decide(options, tx, message, { outcome: 'withdrawn' })) !== undefined,
        message.session_id,
      );
      if (isCancelled) await checkBatch(message);
      return isCancelled;
    },
    async cancelQueued(message) {
      const isCancelled = await database.commit((tx) => outgoing.cancel(tx, message, 'queued'), message.session_id);
      if (isCancelled) await checkBatch(message);
      return isCancelled;
    },
    emitApproval: (tx, message) => emitApproval(options, tx, message),
    async decide(message, decision, requireRoom) {
      const work = (tx: Tx) => decide(options, tx, message, decision, requireRoom);
      const row = await database.commit(work, message.session_id);
      if (row?.status === 'failed') await checkBatch(row);
      return row;
    },
    end: (session, status, reason) =>
      database.commit((tx) => sessions.end(tx, session, status, reason), session.sessionId),
    note: (session, status, reason) =>
      database.commit((tx) => sessions.note(tx, session, status, reason), session.sessionId),
    noteRisk: (session, assessment) =>
      database.commit((tx) => storeRisk(options, tx, session, assessment), session.sessionId),
    pairingCode: (session, code) => database.commit((tx) => sessions.pairingCode(tx, session, code), session.sessionId),
  };
}

/** Returns a message whose id the network has just chosen. Changes may wait for it. */
const namedByNetwork = ({ message: { session_id }, accepted: { networkId } }: Acknowledged) =>
  networkId === undefined ? [] : [{ session_id, network_id: networkId }];

/** Returns the handler of every report, from the room of its subject. */
function handlersOf(sessions: SessionInbox, outgoing: OutgoingProgress): ReportHandlers<ReportType> {
  return {
    ...sessions.reports,
    ...messageReports(outgoing),
    ...chatReports,
    ...groupReports(outgoing),
    ...broadcastReports,
    ...peopleReports,
    ...customerReports,
    ...historyReports,
    ...standingReports,
  };
}
