import type { BinaryNode, WASocket } from 'baileys';
import { KeyedQueue } from '../../../async.ts';
import type { NetworkMedia } from '../../contract/networkMedia.ts';
import type { Session } from '../session.ts';
import type { Groups } from './groups.ts';
import { setPicture } from './picture.ts';
import { fetchPicture, unlessHidden } from './profiles.ts';

/** Prefixes of the store's keys: the id of the last known picture of a group, and groups whose picture is unread. */
const KNOWN = 'group-picture/';
const UNREAD = 'group-picture-changed/';
const REMOVED = 'none';

/**
 * The pictures of groups. The server notifies a change once, and the picture is fetched after that: one at a time for
 * the session, and once for a group however often it changes meanwhile. A picture that could not be fetched is fetched
 * on the next connection.
 */
export class GroupPictures {
  readonly #session: Session;
  readonly #groups: Groups;
  readonly #queue = new KeyedQueue();
  readonly #waiting = new Set<string>();
  readonly #unread = new Set<string>();

  constructor(session: Session, groups: Groups) {
    const { link, host } = session;
    this.#session = session;
    this.#groups = groups;
    link.on('socket', (socket) => {
      socket.ws.on('CB:notification,type:picture', ({ attrs: { from } }: BinaryNode) => {
        if (from === undefined || !session.baileys.isJidGroup(from)) return;
        session.store
          .set(UNREAD + from, '')
          .catch((error) =>
            host.log.warn({ err: error, group: from }, 'failed to note that the picture of a group changed'),
          );
        this.#unread.add(from);
        this.#schedule(socket, from);
      });
    });
    link.on('open', (socket) => {
      for (const networkId of this.#unread) this.#schedule(socket, networkId);
    });
  }

  async start(): Promise<void> {
    const stored = await this.#session.store.list(UNREAD);
    for (const key of stored.keys()) this.#unread.add(key.slice(UNREAD.length));
  }

  /** Sets the picture, in turn with changes by others. */
  set(networkId: string, picture: NetworkMedia | null): Promise<void> {
    const { requests, store, host } = this.#session;
    return this.#queue.run('', async () => {
      await requests.ask((socket) => setPicture(socket, networkId, picture));
      // The server notifies this session as well, which recognizes the picture by its id.
      try {
        const { id } = await requests.ask((socket) => readPicture(socket, networkId));
        await store.set(KNOWN + networkId, id);
      } catch (error) {
        host.log.warn({ err: error, group: networkId }, 'failed to read the id of a picture that was set');
      }
      await this.#groups.notePicture(networkId, picture);
    });
  }

  #schedule(socket: WASocket, networkId: string): void {
    if (this.#waiting.has(networkId)) return;
    this.#waiting.add(networkId);
    this.#queue
      .run('', () => {
        this.#waiting.delete(networkId);
        return this.#read(socket, networkId);
      })
      .catch((error) =>
        this.#session.host.log.warn({ err: error, group: networkId }, 'failed to read the picture of a group'),
      );
  }

  async #read(socket: WASocket, networkId: string): Promise<void> {
    const { requests, store, ownFiles } = this.#session;
    await this.#groups.know(networkId);
    const { id, url } = await requests.run(socket, () => readPicture(socket, networkId));
    if ((await store.get(KNOWN + networkId)) !== id) {
      const picture =
        url === undefined ? null : await requests.run(socket, (signal) => fetchPicture(url, ownFiles, signal));
      await this.#groups.notePicture(networkId, picture, `picture/${id}`);
    }
    await store.write(
      new Map([
        [KNOWN + networkId, id],
        [UNREAD + networkId, null],
      ]),
    );
    this.#unread.delete(networkId);
  }
}

/** Returns the id and the URL of the picture of a group. */
async function readPicture(socket: WASocket, networkId: string): Promise<{ id: string; url?: string }> {
  const answer: BinaryNode | null = await unlessHidden(() =>
    socket.query({
      tag: 'iq',
      attrs: { to: 's.whatsapp.net', type: 'get', xmlns: 'w:profile:picture', target: networkId },
      content: [{ tag: 'picture', attrs: { type: 'image', query: 'url' } }],
    }),
  );
  const picture = Array.isArray(answer?.content) ? answer.content.find(({ tag }) => tag === 'picture') : undefined;
  const { id, url } = picture?.attrs ?? {};
  return url === undefined ? { id: REMOVED } : { id: id ?? url, url };
}
