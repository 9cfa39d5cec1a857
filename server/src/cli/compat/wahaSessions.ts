import { createHmac } from 'node:crypto';
import type { Session } from '../../../../sdk/src/api.ts';
import type { Client } from '../../../../sdk/src/client.ts';
import { NotFoundError } from '../../../../sdk/src/errors.ts';
import { badRequest, unprocessable, WahaError } from './wahaErrors.ts';
import { wahaChat } from './wahaIds.ts';

/* Sessions by their names, which are ids in WAHA and labels in Switchboard. */

/** Names of `WAHASessionStatus` (`src/structures/enums.dto.ts` of devlikeapro/waha). */
export type WahaStatus = 'STOPPED' | 'STARTING' | 'SCAN_QR_CODE' | 'WORKING' | 'FAILED';

const STATUSES: Readonly<Record<string, WahaStatus>> = {
  created: 'STOPPED',
  connecting: 'STARTING',
  awaiting_pairing: 'SCAN_QR_CODE',
  connected: 'WORKING',
  logged_out: 'FAILED',
  failed: 'FAILED',
};

/** The reason Switchboard reports after a stop on purpose. */
const STOPPED_BY = 'The account disconnected the session';

export function wahaStatus(status: string, reason: string | null): WahaStatus {
  if (status === 'disconnected') return reason === null || reason === STOPPED_BY ? 'STOPPED' : 'FAILED';
  return STATUSES[status] ?? 'FAILED';
}

/** The session's name in WAHA. */
export const nameOf = ({ name, sessionId }: Pick<Session, 'name' | 'sessionId'>) => name ?? sessionId;

export function meOf({ phoneNumber, network }: Session) {
  return phoneNumber === null ? null : { id: wahaChat(phoneNumber), pushName: network?.displayName ?? '' };
}

/** Metadata of a session that is not complete yet. */
const UNFINISHED = 'switchboard.compat';

/**
 * Requires metadata without our own key.
 * @throws {WahaError} 400
 */
function requireOwnMetadata(metadata: Session['metadata']): void {
  if (Object.hasOwn(metadata, UNFINISHED)) throw badRequest(`config.metadata must not have the key ${UNFINISHED}`);
}

/** Metadata as the caller set it. */
export function metadataOf({ metadata }: Session): Session['metadata'] {
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => key !== UNFINISHED));
}

interface Creation {
  /** Calls `finish` before the session's first event, because events contain the metadata. */
  readonly complete: (sessionId: string, finish: () => Promise<unknown>) => Promise<void>;
  readonly undo: (sessionId: string) => Promise<void>;
  readonly warn: (text: string) => void;
}

interface Marking {
  /** Distinguishes commands of the same account. */
  readonly commandName: string;
  /** Signs the marks. Other programs can write metadata, and a mark permits deletion. */
  readonly secret: string;
}

const MAX_SESSIONS = 10_000;
/** WAHA's default for a request without a session (`src/structures/base.dto.ts`). */
const DEFAULT = 'default';

export class WahaSessions {
  readonly #client: Client;
  /** Ids by name, of sessions that were found once. A session keeps its id when it is renamed. */
  readonly #known = new Map<string, string>();
  /** Sessions that this command is creating, by name. */
  readonly #creating = new Set<string>();
  readonly #marking: Marking;

  constructor(client: Client, marking: Marking) {
    this.#client = client;
    this.#marking = marking;
  }

  /**
   * Creates a session and lets `complete` add what belongs to it. If that fails, `undo` removes it again. A session
   * whose creation was interrupted, such as by a crash, carries a mark, and a repeated call replaces it.
   * @throws {WahaError} 422 if a session has the name
   */
  async create(
    input: Parameters<Client['sessions']['create']>[0] & { readonly name: string },
    { complete, undo, warn }: Creation,
  ): Promise<void> {
    const { name, metadata = {} } = input;
    requireOwnMetadata(metadata);
    const mark = this.#markOf(name);
    const taken = () => unprocessable(`Session '${name}' already exists. Use PUT to update it.`);
    if (this.#creating.has(name)) throw taken();
    this.#creating.add(name);
    try {
      for (const session of await this.list()) {
        if (session.name !== name) continue;
        if (session.metadata[UNFINISHED] !== mark) throw taken();
        await undo(session.sessionId);
      }
      const marked = { ...metadata, [UNFINISHED]: mark };
      const { sessionId } = await this.#client.sessions.create({ ...input, metadata: marked });
      try {
        await complete(sessionId, () => this.#client.sessions.update({ sessionId, metadata }));
      } catch (error) {
        // The caller gets the error of the call, and can repeat it.
        await undo(sessionId).catch(() => warn(`Session ${sessionId} is incomplete. Repeat the request or delete it.`));
        throw error;
      }
    } finally {
      this.#creating.delete(name);
    }
  }

  /** Marks a session that this command is creating. */
  #markOf(name: string): string {
    const { commandName, secret } = this.#marking;
    const signature = createHmac('sha256', secret)
      .update(JSON.stringify([commandName, name]))
      .digest('base64url');
    return `creating by ${commandName} ${signature}`;
  }

  async list(): Promise<Session[]> {
    const all: Session[] = [];
    for await (const session of this.#client.sessions.list.all({ limit: 200 })) {
      all.push(session);
      if (all.length >= MAX_SESSIONS) break;
    }
    return all;
  }

  /** @throws {WahaError} 404, or 422 if several have the name */
  async get(name: string): Promise<Session> {
    const session = (await this.#remembered(name)) ?? (await this.find(name));
    if (session === undefined)
      throw new WahaError(
        404,
        `We didn't find a session with name '${name}'.\nPlease start it first by using POST /api/sessions/${name}/start request`,
      );
    // Not the only session under the name `default`, which another session can get.
    if (session.name === name || session.sessionId === name) this.#known.set(name, session.sessionId);
    return session;
  }

  /**
   * Finds a session by its name or id. `default` is the only session of an account, too.
   * @throws {WahaError} 422 if several have the name
   */
  async find(name: string): Promise<Session | undefined> {
    const all = await this.list();
    const named = all.filter((session) => session.name === name);
    if (named.length > 1) throw unprocessable(`${named.length} sessions have the name '${name}'. Use the id of one`);
    const [only] = all.length === 1 && name === DEFAULT ? all : [];
    return named[0] ?? all.find(({ sessionId }) => sessionId === name) ?? only;
  }

  async #remembered(name: string): Promise<Session | undefined> {
    const sessionId = this.#known.get(name);
    if (sessionId === undefined) return undefined;
    try {
      const session = await this.#client.sessions.get({ sessionId });
      if (session.name === name || sessionId === name) return session;
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
    }
    this.#known.delete(name);
    return undefined;
  }
}
