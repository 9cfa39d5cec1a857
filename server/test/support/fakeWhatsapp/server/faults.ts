import type { BinaryNode } from 'baileys';
import type { Connection } from '../connection.ts';
import { SERVER_JID, stanza } from '../stanza.ts';
import type { Account } from './account.ts';
import { newId, nowS } from './linking.ts';

/** The reason of a refused login, with the codes of the real network. */
export type Refusal = 401 | 402 | 403 | 405 | 411 | 500 | 503;

/** The reason for which the server ends a stream. */
export type StreamEnd = 'loggedOut' | 'replaced' | 'restart' | 'unavailable' | 'unknown';

/** Faults on command. Each applies to the clients of one number, unless stated otherwise. */
export interface Faults {
  /** Breaks the connections silently. */
  drop(number: string): void;
  /** Leaves the connections open and silent: nothing is read or sent. */
  freeze(number: string): void;
  /** Ends the connections with a reason of the server. */
  endStream(number: string, reason: StreamEnd): void;
  /** Refuses the next logins of a number. Without `times`, until `acceptLogins`. */
  refuseLogins(number: string, reason: Refusal, times?: number): void;
  acceptLogins(number: string): void;
  /** Refuses logins of a number for some seconds with 402, and reports how many are left. */
  ban(number: string, seconds: number): void;
  /** Refuses older clients with 405, linked or not. Undefined accepts all. */
  requireVersion(version: readonly [number, number, number] | undefined): void;
  /**
   * The page of the service worker (see `webPage.ts`) states this revision, or answers with an error status below 600.
   * Undefined states the one that Baileys has built in.
   */
  stateRevision(revision: number | undefined): void;
  /** Refuses sockets before the handshake with HTTP 503, for all numbers. */
  refuseSockets(isRefused: boolean): void;
  /** Delays every stanza, for all numbers. 0 ends it. */
  slow(delayMs: number): void;
  /** Accepts messages without acknowledging them. */
  withholdAcks(number: string): void;
  /** Sends withheld acknowledgements, and acknowledges from now on. */
  releaseAcks(number: string): void;
  /** Rejects the next message with an error, such as 463 (new chats are not allowed) or 479. */
  refuseNextMessage(number: string, error: number): void;
  /** Marks this LID as outdated in all acknowledgements, as that of a number with a new account is. */
  markLid(lid: string): void;
  /** Sends the next stanza twice. */
  duplicateNext(number: string): void;
  /** Answers the next changes of the shared state as if another device had made one at the same moment. */
  conflictStateChanges(number: string, times: number): void;
  /** Phones withhold the key of the shared state from clients that are linked now. */
  withholdStateKeys(areWithheld: boolean): void;
  /** Ignores the queries of this namespace, such as `w:g2`, for all numbers. */
  ignoreQueries(namespace: string): void;
  /**
   * Answers the next queries of this namespace, or with this question such as `description`, with 429 `rate-overlimit`
   * (WhiskeySockets/Baileys#797, #1061, #1261), for all numbers.
   */
  limitQueries(name: string, times: number): void;
  /** Answers the queries of this namespace with an empty result, for all numbers. */
  emptyAnswers(namespace: string): void;
  /** Withholds the responses to this query, such as `participating`, for all numbers, so that they become outdated. */
  withholdAnswers(question: string): void;
  /** Sends the withheld responses, and answers normally from now on. */
  answerQueries(): void;
  /** Tells clients that are waiting to be linked that the secret of their QR code is retired. */
  retireQrSecrets(): void;
  /** Asks clients that are waiting to be linked for a passkey, as WhatsApp does after the scan for some accounts. */
  askForPasskeys(): void;
  /** Answers requests for a pairing code with this error, such as 400 or 429. Undefined ends it. */
  refuseCodes(error: number | undefined): void;
  /** Lets the media host answer every upload with this status. Undefined ends it. */
  refuseUploads(status: number | undefined): void;
  /** Lets the media host answer every download with this status. Undefined ends it. */
  refuseDownloads(status: number | undefined): void;
  /** Lets the media host redirect every download to this URL. Undefined ends it. */
  redirectDownloads(url: string | undefined): void;
  /** Removes the next upload from the host as soon as it is complete, like a file that expires before its download. */
  loseNextUpload(): void;
  /** Removes all media from the host, as the real one does after some weeks. */
  expireMedia(): void;
}

/** The checks of the server at the places where a fault can occur. */
export interface FaultState {
  delayMs: number;
  areSocketsRefused: boolean;
  areStateKeysWithheld: boolean;
  minimumVersion: readonly [number, number, number] | undefined;
  statedRevision: number | undefined;
  codeError: number | undefined;
  uploadStatus: number | undefined;
  losesNextUpload: boolean;
  downloadStatus: number | undefined;
  downloadLocation: string | undefined;
  readonly markedLids: Set<string>;
  readonly ignoredQueries: Set<string>;
  /** Number of queries to reject with 429, by namespace or question. */
  readonly limitedQueries: Map<string, number>;
  readonly emptiedQueries: Set<string>;
  /** By query, the functions that send its withheld responses. */
  readonly withheldAnswers: Map<string, (() => void)[]>;
  takeRefusal(number: string): Refusal | undefined;
  /** The remaining seconds of a ban. */
  banLeftS(number: string): number;
  /** Sends an acknowledgement, or keeps it while they are withheld. */
  acknowledge(connection: Connection, number: string, ack: BinaryNode): void;
  takeMessageError(number: string): number | undefined;
  takeDuplicate(account: Account): boolean;
  takeStateConflict(number: string): boolean;
}

const STREAM_ENDS: Readonly<Record<StreamEnd, () => BinaryNode>> = {
  loggedOut: () => streamError('401', stanza('conflict', { type: 'device_removed' })),
  replaced: () => streamError(undefined, stanza('conflict', { type: 'replaced' })),
  restart: () => streamError('515'),
  unavailable: () => streamError('503'),
  unknown: () => streamError(undefined),
};

export const streamEnd = (reason: StreamEnd): BinaryNode => STREAM_ENDS[reason]();

function streamError(code: string | undefined, reason?: BinaryNode): BinaryNode {
  return stanza('stream:error', { code }, reason && [reason]);
}

export function createFaults(
  connections: ReadonlySet<Connection>,
  files: Map<string, Buffer>,
): { faults: Faults; state: FaultState } {
  const connectionsOf = (number: string) =>
    [...connections].filter(({ companion }) => companion?.account.number === number);
  const refusals = new Map<string, { reason: Refusal; times: number }>();
  const bans = new Map<string, number>();
  const withheld = new Map<string, { connection: Connection; ack: BinaryNode }[]>();
  const messageErrors = new Map<string, number[]>();
  const duplicates = new Set<string>();
  const stateConflicts = new Map<string, number>();

  const state: FaultState = {
    delayMs: 0,
    areSocketsRefused: false,
    areStateKeysWithheld: false,
    minimumVersion: undefined,
    statedRevision: undefined,
    codeError: undefined,
    uploadStatus: undefined,
    losesNextUpload: false,
    downloadStatus: undefined,
    downloadLocation: undefined,
    markedLids: new Set(),
    ignoredQueries: new Set(),
    limitedQueries: new Map(),
    emptiedQueries: new Set(),
    withheldAnswers: new Map(),
    takeRefusal(number) {
      const refusal = refusals.get(number);
      if (refusal !== undefined && --refusal.times === 0) refusals.delete(number);
      return refusal?.reason;
    },
    banLeftS: (number) => Math.max(0, Math.ceil(((bans.get(number) ?? 0) - Date.now()) / 1000)),
    acknowledge(connection, number, ack) {
      const kept = withheld.get(number);
      if (kept === undefined) connection.send(ack);
      else kept.push({ connection, ack });
    },
    takeMessageError: (number) => messageErrors.get(number)?.shift(),
    takeDuplicate: ({ number }) => duplicates.delete(number),
    takeStateConflict(number) {
      const left = stateConflicts.get(number) ?? 0;
      if (left > 0) stateConflicts.set(number, left - 1);
      return left > 0;
    },
  };

  const faults: Faults = {
    drop: (number) => connectionsOf(number).forEach((connection) => void connection.drop()),
    freeze: (number) => connectionsOf(number).forEach((connection) => void connection.freeze()),
    endStream: (number, reason) =>
      connectionsOf(number).forEach((connection) => void connection.end(STREAM_ENDS[reason]())),
    refuseLogins: (number, reason, times = Number.POSITIVE_INFINITY) => void refusals.set(number, { reason, times }),
    acceptLogins: (number) => void refusals.delete(number),
    ban: (number, seconds) => void bans.set(number, Date.now() + seconds * 1000),
    requireVersion: (version) => {
      state.minimumVersion = version;
    },
    stateRevision: (revision) => {
      state.statedRevision = revision;
    },
    refuseSockets: (isRefused) => {
      state.areSocketsRefused = isRefused;
    },
    slow: (delayMs) => {
      state.delayMs = delayMs;
    },
    withholdAcks: (number) => {
      if (!withheld.has(number)) withheld.set(number, []);
    },
    releaseAcks(number) {
      const kept = withheld.get(number) ?? [];
      withheld.delete(number);
      for (const { connection, ack } of kept) connection.send(ack);
    },
    refuseNextMessage: (number, error) => void messageErrors.set(number, [...(messageErrors.get(number) ?? []), error]),
    markLid: (lid) => void state.markedLids.add(lid),
    duplicateNext: (number) => void duplicates.add(number),
    conflictStateChanges: (number, times) => void stateConflicts.set(number, times),
    withholdStateKeys: (areWithheld) => {
      state.areStateKeysWithheld = areWithheld;
    },
    ignoreQueries: (namespace) => void state.ignoredQueries.add(namespace),
    limitQueries: (name, times) => void state.limitedQueries.set(name, times),
    emptyAnswers: (namespace) => void state.emptiedQueries.add(namespace),
    withholdAnswers: (question) => void state.withheldAnswers.set(question, []),
    answerQueries() {
      state.ignoredQueries.clear();
      state.limitedQueries.clear();
      state.emptiedQueries.clear();
      const kept = [...state.withheldAnswers.values()].flat();
      state.withheldAnswers.clear();
      for (const release of kept) release();
    },
    retireQrSecrets: () => notifyUnlinked('companion_reg_refresh', 'companion_reg_refresh'),
    askForPasskeys: () => notifyUnlinked('passkey_prologue_request', 'passkey_request_options'),
    refuseCodes: (error) => {
      state.codeError = error;
    },
    refuseUploads: (status) => {
      state.uploadStatus = status;
    },
    refuseDownloads: (status) => {
      state.downloadStatus = status;
    },
    redirectDownloads: (url) => {
      state.downloadLocation = url;
    },
    loseNextUpload: () => {
      state.losesNextUpload = true;
    },
    expireMedia: () => files.clear(),
  };
  /** Notifies all clients that are waiting to be linked. */
  function notifyUnlinked(type: string, tag: string): void {
    const attributes = { from: SERVER_JID, type, id: newId(), t: String(nowS()) };
    for (const connection of connections)
      if (connection.link !== undefined) connection.send(stanza('notification', attributes, [stanza(tag)]));
  }

  return { faults, state };
}
