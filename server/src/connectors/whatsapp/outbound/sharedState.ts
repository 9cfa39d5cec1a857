import type { BinaryNode, ChatModification, WAPatchName, WASocket } from 'baileys';
import { KeyedQueue } from '../../../async.ts';
import { AppError } from '../../../errors.ts';
import { boomOf, rateLimited } from '../link/errors.ts';
import { restoreStateVersion, stateVersion } from '../link/stateVersions.ts';
import type { Session } from '../session.ts';

/** Changes that wait for earlier ones, each of which can take as long as a request. */
const MAX_WAITING = 30;
/** The first attempt, and three more if another device was faster. */
const ATTEMPTS = 4;
const CONFLICT = 409;

/** The error that the server returned for a collection of the state. */
interface Rejection {
  readonly collection: string;
  readonly code: number;
}

/**
 * Changes the state that the devices of an account share, such as an archived chat. The server keeps it in collections
 * of numbered changes, encrypted with a key that the phone gives to its devices. A change must follow the newest one.
 */
export class SharedState {
  readonly #session: Session;
  /** Changes of a session are made one after the other: two at a time would be based on the same version. */
  readonly #queue = new KeyedQueue();
  /** Errors of the server since the present attempt began. */
  #rejections: Rejection[] = [];

  constructor(session: Session) {
    this.#session = session;
    session.link.on('socket', ({ ws }) => {
      ws.on('CB:iq,,sync', (node: BinaryNode) => this.#note(node));
    });
  }

  /**
   * @param jid the chat; empty for a change that concerns none
   * @throws {AppError} `session_state` until the phone has shared the key, and the errors of `Requests.ask`
   */
  async change(modification: ChatModification, jid: string): Promise<void> {
    if (this.#queue.length('') >= MAX_WAITING)
      throw rateLimited('The session has many changes to make; wait before the next one', 10_000);
    await this.#queue.run('', () =>
      this.#session.requests.ask((socket, signal) => this.#apply(socket, modification, jid, signal)),
    );
  }

  async #apply(socket: WASocket, modification: ChatModification, jid: string, signal: AbortSignal): Promise<void> {
    const { baileys, creds } = this.#session;
    if (creds.myAppStateKeyId === undefined) throw keyIsMissing();
    const collection = baileys.chatModificationToAppPatch(modification, jid).type;
    for (let attempt = 1; ; attempt++) {
      signal.throwIfAborted();
      const code = await this.#attempt(socket, collection, () => socket.chatModify(modification, jid));
      if (code === undefined) return;
      if (code !== CONFLICT || attempt === ATTEMPTS)
        throw new AppError('send_failed', `WhatsApp did not accept the change (${code})`);
    }
  }

  /** Returns the error of the server; undefined if it has accepted the change. */
  async #attempt(socket: WASocket, collection: WAPatchName, work: () => Promise<void>): Promise<number | undefined> {
    const before = await stateVersion(socket, collection);
    this.#rejections = [];
    try {
      await work();
    } catch (error) {
      const { statusCode, data } = boomOf(error);
      if (data['isMissingKey'] === true) throw keyIsMissing(error);
      if (statusCode !== CONFLICT) throw error;
      return CONFLICT;
    }
    const rejected = this.#rejections.find((one) => one.collection === collection);
    if (rejected === undefined) return undefined;
    // Baileys looks only at the answer as a whole, and has stored the version that its change would have made. Nothing
    // that follows would fit that version. The next attempt first fetches what it has missed.
    await restoreStateVersion(socket, collection, before);
    return rejected.code;
  }

  #note(node: BinaryNode): void {
    const { baileys } = this.#session;
    const sync = baileys.getBinaryNodeChild(node, 'sync');
    for (const { attrs, ...collection } of baileys.getBinaryNodeChildren(sync, 'collection')) {
      if (attrs['type'] !== 'error') continue;
      const error = baileys.getBinaryNodeChild({ attrs, ...collection }, 'error');
      this.#rejections.push({ collection: attrs['name'] ?? '', code: Number(error?.attrs['code'] ?? 0) });
    }
  }
}

function keyIsMissing(cause?: unknown): AppError {
  const message =
    'The phone has not yet shared the keys for changing chats; open WhatsApp on the phone and try again in a minute';
  return new AppError('session_state', message, { cause });
}
