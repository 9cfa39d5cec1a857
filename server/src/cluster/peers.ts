import type { Log } from '../log.ts';
import type { Member } from './members.ts';

const SUSPECT_MS = 3000;

/** The live nodes of the deployment, as this node knows them. */
export class Peers {
  readonly nodeId: string;
  readonly #fileStore: string | null;
  readonly #log: Log;
  /** Includes this node. */
  #members: readonly Member[] = [];
  readonly #suspectedUntil = new Map<string, number>();
  readonly #lifetimes = new Map<string, AbortController>();
  /** Media stores of other nodes that were already logged. */
  readonly #loggedStores = new Set<string | null>();

  constructor(nodeId: string, fileStore: string | null, log: Log) {
    this.nodeId = nodeId;
    this.#fileStore = fileStore;
    this.#log = log;
  }

  get count(): number {
    return this.#members.length;
  }

  get hasOthers(): boolean {
    return this.count > 1;
  }

  /** Whether a node is alive, including this one. */
  knows(nodeId: string): boolean {
    return this.#members.some((member) => member.nodeId === nodeId);
  }

  /** The nodes that accept work, including this one. */
  get workers(): Member[] {
    return this.#members.filter(({ acceptsWork }) => acceptsWork);
  }

  /** The nodes that store their files elsewhere. */
  get withOtherFiles(): Member[] {
    return this.#members.filter(
      ({ fileStore }) => this.#fileStore !== null && fileStore !== null && fileStore !== this.#fileStore,
    );
  }

  /** Returns the node with this id, if it is another one and can be reached. */
  find(nodeId: string): Member | undefined {
    return this.#reachable().find((member) => member.nodeId === nodeId);
  }

  /** Returns a random node that accepts work, is another one and can be reached. */
  anyWorker(): Member | undefined {
    const candidates = this.#reachable().filter(({ acceptsWork }) => acceptsWork);
    return candidates[Math.floor(Math.random() * candidates.length)];
  }

  suspect(nodeId: string): void {
    this.#suspectedUntil.set(nodeId, performance.now() + SUSPECT_MS);
  }

  lifetimeOf(nodeId: string): AbortSignal {
    const life = this.#lifetimes.get(nodeId) ?? new AbortController();
    this.#lifetimes.set(nodeId, life);
    return life.signal;
  }

  /** Replaces the list of live nodes. Returns whether a node came, went or changed. */
  update(alive: readonly Member[], ownUrl: string | null): boolean {
    const isChanged = summaryOf(alive) !== summaryOf(this.#members);
    this.#members = alive;
    if (isChanged) this.#warnOfSameUrl(ownUrl);
    this.#warnOfOtherFiles();
    const ids = new Set(alive.map(({ nodeId }) => nodeId));
    for (const id of this.#suspectedUntil.keys()) if (!ids.has(id)) this.#suspectedUntil.delete(id);
    for (const [id, life] of this.#lifetimes) {
      if (ids.has(id)) continue;
      life.abort();
      this.#lifetimes.delete(id);
    }
    return isChanged;
  }

  #reachable(): Member[] {
    const now = performance.now();
    return this.#members.filter(
      ({ nodeId, url }) => nodeId !== this.nodeId && url !== null && (this.#suspectedUntil.get(nodeId) ?? 0) < now,
    );
  }

  #warnOfSameUrl(url: string | null): void {
    if (url === null) return;
    for (const other of this.#members)
      if (other.nodeId !== this.nodeId && other.url === url)
        this.#log.warn({ node: other.nodeId, url }, 'another node has the same address; set NODE_URL');
  }

  /** Only warns: without files in messages, the nodes need not share them. */
  #warnOfOtherFiles(): void {
    const news = this.withOtherFiles.filter(({ fileStore }) => !this.#loggedStores.has(fileStore));
    if (news.length === 0) return;
    for (const { fileStore } of news) this.#loggedStores.add(fileStore);
    this.#log.warn(
      { nodes: news.map(({ url, nodeId }) => url ?? nodeId) },
      'other nodes keep files elsewhere: no node can open the files of the others, and messages with such a file fail. Set MEDIA_DIR to one folder that all nodes share, or MEDIA_S3_URL and MEDIA_S3_BUCKET to the same store',
    );
  }
}

const summaryOf = (members: readonly Member[]) =>
  members.map(({ nodeId, acceptsWork, url }) => `${nodeId} ${acceptsWork} ${url}`).join();
