import type { BinaryNode, WAPatchName, WASocket } from 'baileys';
import { QUERY_RETRIES_MS } from '../link/errors.ts';
import { stateVersion } from '../link/stateVersions.ts';
import type { Session } from '../session.ts';

interface Read {
  /** The newest version that the server has announced. */
  version: number;
  cancel: () => void;
}

/**
 * Reads collections of the shared state again that Baileys could not read: it acknowledges the notification of a change
 * even if the server refuses the query (`rate-overlimit`), and the change would stay unknown until the next one.
 */
export class StateReads {
  readonly #session: Session;
  readonly #reads = new Map<WAPatchName, Read>();

  constructor(session: Session) {
    const { link } = session;
    this.#session = session;
    link.on('socket', (socket) => {
      socket.ws.on('CB:notification,type:server_sync', (node: BinaryNode) => this.#onChange(socket, node));
    });
    link.on('lost', () => {
      for (const { cancel } of this.#reads.values()) cancel();
      this.#reads.clear();
    });
  }

  #onChange(socket: WASocket, node: BinaryNode): void {
    const { baileys } = this.#session;
    for (const { attrs } of baileys.getBinaryNodeChildren(node, 'collection')) {
      const name = baileys.ALL_WA_PATCH_NAMES.find((one) => one === attrs['name']);
      const version = Number(attrs['version']);
      if (name === undefined || !Number.isSafeInteger(version)) continue;
      const known = this.#reads.get(name);
      if (known !== undefined) known.version = Math.max(known.version, version);
      else this.#schedule(socket, name, { version, cancel: () => {} }, 0);
    }
  }

  #schedule(socket: WASocket, name: WAPatchName, read: Read, failures: number): void {
    const { clock } = this.#session.host;
    const waitMs = QUERY_RETRIES_MS[failures];
    if (waitMs === undefined) {
      this.#reads.delete(name);
      return;
    }
    this.#reads.set(name, read);
    read.cancel = clock.after(waitMs, () => void this.#check(socket, name, read, failures));
  }

  async #check(socket: WASocket, name: WAPatchName, read: Read, failures: number): Promise<void> {
    const { requests, host } = this.#session;
    try {
      if (!(await this.#isRead(socket, name, read)))
        await requests.run(socket, () => socket.resyncAppState([name], false));
    } catch (error) {
      host.log.warn({ err: error, collection: name, failures }, 'failed to read changes of the shared state');
    }
    if (this.#reads.get(name) !== read) return; // the connection has ended
    if (await this.#isRead(socket, name, read).catch(() => false)) this.#reads.delete(name);
    else this.#schedule(socket, name, read, failures + 1);
  }

  async #isRead(socket: WASocket, name: WAPatchName, { version }: Read): Promise<boolean> {
    return ((await stateVersion(socket, name))?.version ?? 0) >= version;
  }
}
