import type { NetworkEvent } from '../connectors/connector.ts';
import type { Tx } from '../db/commit.ts';
import type { Database } from '../db/database.ts';
import type { MessageRow, SessionStatus } from '../db/schema.ts';
import { emitCall, emitPresence } from './activity.ts';
import { type ApprovalDecision, decide, emitApproval } from './approval.ts';
import { storeBroadcast } from './broadcastInbox.ts';
import {
  storeEventAnswer,
  storeNetworkDeletion,
  storeNetworkEdit,
  storeNetworkReaction,
  storeVote,
} from './changes.ts';
import { chatUpdated } from './chatChanges.ts';
import { storeChatEvent, storeChatRemoval } from './chatInbox.ts';
import { noteContact, saveContact } from './contactChanges.ts';
import type { StoredMedia } from './content.ts';
import { GroupInbox, noteGroup } from './groupInbox.ts';
import { storeHistory } from './historyInbox.ts';
import { noteProgress } from './historyState.ts';
import { identify } from './identities.ts';
import type { InboxOptions } from './inboxOptions.ts';
import { storeJoinRequest } from './joinRequests.ts';
import { storeReceived } from './messageInbox.ts';
import { storeNumberState } from './numberState.ts';
import { type Accepted, OutgoingProgress, type SentMessage } from './outgoingProgress.ts';
import { notePresence } from './presences.ts';
import { type PairingCode, SessionInbox } from './sessionInbox.ts';
import { type Assessment, storeRisk, storeStanding, storeWarnings } from './sessionRisk.ts';
import { findSession, type NewRow, type SessionRef } from './store.ts';
import { storeTemplateState } from './templateStates.ts';

export interface Inbox {
  /** Stores a report and the events that follow from it. A repeated report changes nothing. */
  take(session: SessionRef, event: NetworkEvent, file?: StoredMedia): Promise<void>;
  /** Marks an outgoing message as `sent`: the network accepted it. */
  acknowledge(message: SentMessage, accepted: Accepted): Promise<void>;
  /** Marks an outgoing message as `failed`: the network refused it. */
  refuse(message: SentMessage, error: string): Promise<void>;
  /** Queues a message whose time has come. Returns whether it was still scheduled. */
  queue(message: MessageRow): Promise<boolean>;
  /** Cancels a message that is scheduled or waits for approval. Returns whether it still was one. */
  cancel(message: MessageRow): Promise<boolean>;
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
 * Stores each report in one transaction. Reports of a session take effect in order, because its id is their commit key.
 * @param options.trace returns the `traceparent` of the running span, which joint work keeps for each item
 */
export function createInbox({
  database,
  trace,
  ...options
}: InboxOptions & { database: Database; trace: () => string | null }): Inbox {
  const outgoing = new OutgoingProgress(options);
  const sessions = new SessionInbox(options);
  const parts = { ...options, sessions, groups: new GroupInbox(options), outgoing };
  return {
    async take(session, event, file) {
      const { sessionId } = session;
      if (event.type === 'receipt')
        await database.commitJointly(outgoing.receipts, { session, event, trace: trace() }, sessionId);
      else if (event.type === 'chat_removed') await storeChatRemoval(options, database.commit, session, event);
      else await database.commit((tx) => store(parts, tx, session, event, file), sessionId);
    },
    async acknowledge(message, accepted) {
      const acknowledged = { message, accepted, trace: trace() };
      await database.commitJointly(outgoing.acknowledge, acknowledged, message.session_id);
    },
    refuse: (message, error) => database.commit((tx) => outgoing.refuse(tx, message, error), message.session_id),
    queue: (message) => database.commit((tx) => outgoing.queue(tx, message), message.session_id),
    cancel: (message) =>
      database.commit(
        async (tx) =>
          (await outgoing.cancel(tx, message)) ||
          (await decide(options, tx, message, { outcome: 'withdrawn' })) !== undefined,
        message.session_id,
      ),
    emitApproval: (tx, message) => emitApproval(options, tx, message),
    decide: (message, decision, requireRoom) =>
      database.commit((tx) => decide(options, tx, message, decision, requireRoom), message.session_id),
    end: (session, status, reason) =>
      database.commit((tx) => sessions.end(tx, session, status, reason), session.sessionId),
    note: (session, status, reason) =>
      database.commit((tx) => sessions.note(tx, session, status, reason), session.sessionId),
    noteRisk: (session, assessment) =>
      database.commit((tx) => storeRisk(options, tx, session, assessment), session.sessionId),
    pairingCode: (session, code) => database.commit((tx) => sessions.pairingCode(tx, session, code), session.sessionId),
  };
}

async function store(
  {
    sessions,
    groups,
    outgoing,
    ...options
  }: InboxOptions & { sessions: SessionInbox; groups: GroupInbox; outgoing: OutgoingProgress },
  tx: Tx,
  session: SessionRef,
  event: Exclude<NetworkEvent, { type: 'receipt' | 'chat_removed' }>,
  file: StoredMedia | undefined,
): Promise<void> {
  switch (event.type) {
    case 'pairing':
      return sessions.awaitingPairing(tx, session, event);
    case 'connected':
      return sessions.connected(tx, session, event.phoneNumber);
    case 'disconnected':
      return sessions.disconnected(tx, session, 'disconnected', event.reason, event.willReconnect);
    case 'logged_out':
      return sessions.disconnected(tx, session, 'logged_out', event.reason, false);
    case 'message':
      await storeReceived(options, tx, session, event, file);
      if (event.isOwn === true)
        await outgoing.catchUp(tx, [{ session_id: session.sessionId, network_id: event.networkId }]);
      return;
    case 'identified':
      return identify(options, tx, session, event);
    case 'edited':
      return storeNetworkEdit(options, tx, session, event);
    case 'deleted':
      return storeNetworkDeletion(options, tx, session, event);
    case 'reaction':
      return storeNetworkReaction(options, tx, session, event);
    case 'vote':
      return storeVote(options, tx, session, event);
    case 'event_answer':
      return storeEventAnswer(options, tx, session, event);
    case 'chat_updated':
      return chatUpdated(options, tx, session, event);
    case 'message_removed':
    case 'message_starred':
    case 'message_pinned':
    case 'disappearing':
    case 'label_updated':
    case 'label_removed':
    case 'label_assigned':
      return storeChatEvent(options, tx, session, event);
    case 'contact_named':
      return noteContact(options, tx, session, event.phoneNumber, event.name);
    case 'status':
    case 'status_deleted':
    case 'status_viewed':
    case 'status_reaction':
    case 'channel':
    case 'channel_post':
    case 'channel_figures':
      return storeBroadcast(options, tx, session, event, file);
    case 'presence':
      await notePresence(tx, session, event);
      return emitPresence(options, tx, session, event);
    case 'call':
    case 'call_ended':
      return emitCall(options, tx, session, event);
    case 'group_created':
      return groups.created(tx, session, event.group);
    case 'group_updated':
      return groups.updated(tx, session, event, file);
    case 'number_updated':
      return storeNumberState(options, tx, session, event);
    case 'template_updated':
      return storeTemplateState(options, tx, session, event);
    case 'standing':
      return storeStanding(tx, session, event);
    case 'warned':
      return storeWarnings(tx, [{ ...session, warning: event.warning }], options.clock.now());
    case 'group_invite':
      return groups.invited(tx, session, event.group);
    case 'history': {
      const own = await findSession(tx, session);
      return own && storeHistory(options, tx, own, event);
    }
    case 'history_progress':
      return noteProgress(options, tx, session, event);
    case 'contact_saved':
      return saveContact(options, tx, session, event.phoneNumber, event.name);
    case 'group_noted':
      return noteGroup(options, tx, session, event.group);
    case 'join_request':
      return storeJoinRequest(options, tx, session, event);
  }
}
