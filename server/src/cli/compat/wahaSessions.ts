import type { Session } from '../../../../sdk/src/api.ts';
import type { Client } from '../../../../sdk/src/client.ts';
import { NotFoundError } from '../../../../sdk/src/errors.ts';
import { unprocessable, WahaError } from './wahaErrors.ts';
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

const MAX_SESSIONS = 10_000;
/** WAHA's default for a request without a session (`src/structures/base.dto.ts`). */
const DEFAULT = 'default';

export class WahaSessions {
  readonly #client: Client;
  /** Ids by name, of sessions that were found once. A session keeps its id when it is renamed. */
  readonly #known = new Map<string, string>();

  constructor(client: Client) {
    this.#client = client;
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
