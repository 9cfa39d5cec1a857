import type { Clock } from '../clock.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { NetworkEvent } from '../connectors/contract/events.ts';
import type { SessionHost } from '../connectors/contract/host.ts';
import type { Database } from '../db/database.ts';
import type { Queryable } from '../db/dialect.ts';
import type { SessionTable } from '../db/schema.ts';
import { aboutFile } from '../db/sealing.ts';
import { AppError } from '../errors.ts';
import { type Log, redactSecrets } from '../log.ts';
import type { Media } from '../media/media.ts';
import { isFileWanted } from '../messages/broadcasts/broadcastInbox.ts';
import { type StoredMedia, storedMedia } from '../messages/content.ts';
import { readGroups } from '../messages/groupStore.ts';
import { historyWithinLimits } from '../messages/history/historyLimits.ts';
import type { Inbox } from '../messages/inbox.ts';
import { statedFacts } from '../messages/mediaFacts.ts';
import { readUndelivered } from '../messages/messages/outgoing.ts';
import { lastIncoming, type SessionRef } from '../messages/store.ts';
import { callbackDirectoryOf } from './callbackDirectory.ts';
import { callbackPath } from './callbacks.ts';
import type { LastHeard } from './lastHeard.ts';
import type { LiveSessions, SessionState } from './liveSessions.ts';
import { type Options, readOptions, secretsOf } from './options.ts';
import { isWarning } from './sessionActivity.ts';
import type { SessionHealth } from './sessionHealth.ts';
import { storable } from './storable.ts';
import { storeOf } from './store.ts';

/** The dependencies of all parts that connect sessions. */
export interface HostOptions {
  readonly database: Database;
  readonly cluster: Cluster;
  readonly inbox: Inbox;
  readonly media: Media;
  readonly live: LiveSessions;
  /** Where networks reach the server; undefined unless it is configured. */
  readonly publicUrl: URL | undefined;
  /** See `SessionHost.scope`. */
  readonly scopeOf: (accountId: string) => string;
  readonly clock: Clock;
  readonly log: Log;
}

/** Creates the hosts that connectors get for their sessions. Reported events are stored, and then change the state. */
export class SessionHosts {
  readonly #options: HostOptions;
  readonly #lastHeard: LastHeard;
  readonly #health: SessionHealth;

  constructor(options: HostOptions, lastHeard: LastHeard, health: SessionHealth) {
    this.#options = options;
    this.#lastHeard = lastHeard;
    this.#health = health;
  }

  of(state: SessionState, row: SessionTable): SessionHost {
    const { database, media, publicUrl, scopeOf, clock, log } = this.#options;
    const { sessionId } = state;
    const options = readOptions(database.seal, row);
    const secrets = secretsOf(state.connector.options, options);
    return {
      sessionId,
      scope: scopeOf(state.accountId),
      get phoneNumber() {
        return state.phoneNumber;
      },
      options,
      clock,
      log: log.child({ session: sessionId }),
      store: storeOf(database, sessionId, () => !state.isLost),
      callbackUrl: publicUrl === undefined ? null : new URL(callbackPath(sessionId), publicUrl),
      onEvent: (event) => this.#take(state, this.#prepared(state, redacted(storable(event), secrets), options)),
      undelivered: () => readUndelivered(database.reader, media, state),
      lastIncoming: (chatId) => lastIncoming(database.longReader, state, chatId),
      groups: () => readGroups(database, state, media),
      blocked: () => readBlocked(database.longReader, state),
      callbacks: callbackDirectoryOf(database, state, state.connector.name, options, () => !state.isLost),
    };
  }

  async #take(state: SessionState, event: NetworkEvent): Promise<void> {
    const { cluster, inbox, clock } = this.#options;
    if (event.type === 'presence' && !state.presences.admits(event)) return;
    const file = await this.#keepFile(state, event);
    // Another node may own the session. The network keeps an event that is rejected and reports it again.
    if (state.isLost || !cluster.sessions.mayWrite(state.sessionId)) throw new AppError('session_not_connected');
    // The network reconnected just as this node closed the session.
    if (event.type === 'connected' && state.isClosing) return;
    await inbox.take(state, event, file, { canWait: state.connector.reportsTogether });
    state.activity.onEvent(event);
    if (ABOUT_RISK.has(event.type) || isWarning(event)) void this.#health.review(state);
    state.lastEventAt = clock.now();
    await this.#apply(state, event);
  }

  /** Seals the references to files, which may contain their keys, and decides whether the history becomes events. */
  #prepared({ sessionId }: SessionState, event: NetworkEvent, { historyEvents }: Options): NetworkEvent {
    if (event.type !== 'history') return event;
    const { seal } = this.#options.database;
    const messages = historyWithinLimits(event.messages).map((message) =>
      message.file === undefined
        ? message
        : {
            ...message,
            file: {
              ...message.file,
              reference: seal.close(message.file.reference, aboutFile(sessionId, message.networkId)),
            },
          },
    );
    return { ...event, messages, isReported: historyEvents === true };
  }

  async #apply(state: SessionState, event: NetworkEvent): Promise<void> {
    switch (event.type) {
      case 'pairing':
        state.isReturning = false;
        state.pairing = event;
        return;
      case 'connected':
        state.isReturning = false;
        state.isConnected = true;
        state.pairing = undefined;
        state.phoneNumber = event.phoneNumber;
        this.#options.live.announce(state);
        return;
      case 'disconnected':
        state.isReturning = false;
        state.isConnected = false;
        state.pairing = undefined;
        if (!event.willReconnect) await this.#drop(state);
        // Other nodes read the stored time, and the session may end before the next periodic write.
        else await this.#lastHeard.keep(state);
        return;
      case 'logged_out':
        state.isReturning = false;
        state.isConnected = false;
        await this.#drop(state);
        return;
      case 'call':
        this.#options.live.emit('call', state, event);
        return;
      default:
        return;
    }
  }

  /** Stores the file of an event before the row that refers to it. */
  async #keepFile(state: SessionState, event: NetworkEvent): Promise<StoredMedia | undefined> {
    const file = fileOf(event);
    const { media, database, clock } = this.#options;
    if (file === undefined || !(await isFileWanted(database.reader, state, event, clock.now()))) return undefined;
    const { accountId } = state;
    const { mimeType, fileName } = file;
    const isTransient = event.type === 'status' || event.type === 'channel_post';
    const stream = await file.open();
    const row = await media.keep(accountId, { stream, mimeType, fileName, isTransient, isUnlimited: true });
    const facts = row.facts === null ? statedFacts(file.facts) : undefined;
    return storedMedia(facts === undefined ? row : await media.addFacts(row, facts));
  }

  /** Removes a session whose connection has ended for good. */
  async #drop(state: SessionState): Promise<void> {
    // first, because callers may connect the session again as soon as they see the event
    this.#options.live.remove(state);
    await this.#lastHeard.keep(state);
    await this.#health.keep(state);
  }
}

function fileOf(event: NetworkEvent) {
  if (event.type === 'message' || event.type === 'status' || event.type === 'channel_post') return event.content.media;
  if (event.type === 'better_media' || event.type === 'live_photo') return event.media;
  return event.type === 'group_updated' && event.change.type === 'picture'
    ? (event.group.picture ?? undefined)
    : undefined;
}

/** Reports after which the risk of a session is assessed at once. */
const ABOUT_RISK: ReadonlySet<NetworkEvent['type']> = new Set(['warned', 'standing', 'number_updated']);

/** Reasons of a network are stored and shown, so secrets that its server quoted are removed. */
function redacted(event: NetworkEvent, secrets: readonly string[]): NetworkEvent {
  switch (event.type) {
    case 'disconnected':
    case 'logged_out':
      return { ...event, reason: redactSecrets(event.reason, secrets) };
    case 'receipt':
      return event.error === undefined ? event : { ...event, error: redactSecrets(event.error, secrets) };
    case 'number_updated':
    case 'template_updated':
      return JSON.parse(JSON.stringify(event), (_, value: unknown) =>
        typeof value === 'string' ? redactSecrets(value, secrets) : value,
      );
    default:
      return event;
  }
}

async function readBlocked({ kysely }: Queryable, { accountId, sessionId }: SessionRef): Promise<string[]> {
  const rows = await kysely
    .selectFrom('contacts')
    .select('phone_number')
    .where('account_id', '=', accountId)
    .where('session_id', '=', sessionId)
    .where('blocked', '=', 1)
    .execute();
  return rows.map(({ phone_number }) => phone_number);
}
