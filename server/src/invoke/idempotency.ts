import { createHash } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { MAX_SEND_MS } from '../cluster/forward.ts';
import type { Tx } from '../db/commit.ts';
import type { Database } from '../db/database.ts';
import { query } from '../db/query.ts';
import type { IdempotencyKeyTable } from '../db/schema.ts';
import { AppError, type ErrorCode, invalidField, isAway } from '../errors.ts';
import type { NewId } from '../ids.ts';
import { type Key, KeyReleases, nameOf } from './keyReleases.ts';

const KEPT_MS = 24 * 60 * 60 * 1000;
/** A run that has not ended by then is dead: no operation may take this long. */
const ABANDONED_MS = MAX_SEND_MS + 90_000;
/** Owner of a key whose run was interrupted: the next request continues it. */
const NO_OWNER = '';
/** Errors after which a repeated request continues where the first one stopped. */
const RESUMABLE: readonly ErrorCode[] = ['storage_unavailable', 'shutting_down', 'session_unavailable'];

export interface KeyedRequest extends Key {
  readonly operationId: string;
  readonly input: Readonly<Record<string, unknown>>;
}

type Run = (resourceId: string) => Promise<unknown>;

interface Options {
  readonly database: Database;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly cluster: Pick<Cluster, 'nodeId'>;
}

/** Runs requests with the same key once, and returns the first answer to repeated ones for 24 hours. */
export class Idempotency {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #newId: NewId;
  readonly #nodeId: string;
  /** Key → the request of this process that claims it or runs with it. */
  readonly #running = new Map<string, KeyedRequest>();
  /** Key → how many requests of this process claim it or work on it. */
  readonly #requests = new Map<string, number>();
  readonly #releases: KeyReleases;

  constructor({ database, clock, newId, cluster }: Options) {
    this.#database = database;
    this.#clock = clock;
    this.#newId = newId;
    this.#nodeId = cluster.nodeId;
    this.#releases = new KeyReleases(
      (key) => this.#release(key),
      (key) => this.#requests.has(nameOf(key)),
      clock,
    );
  }

  stop(): Promise<void> {
    return this.#releases.stop();
  }

  /**
   * Calls `run`, unless the same request was made before: then returns the first answer.
   * @param run receives the id of the resource to create; a run after a crash gets the same one
   * @throws {AppError} `idempotency_in_flight`, `idempotency_mismatch`
   */
  async once(request: KeyedRequest, run: Run): Promise<{ output: unknown; replayed: boolean }> {
    const { key } = request;
    if (key === '' || key.length > 255) throw invalidField('Idempotency-Key', 'must have 1 to 255 characters');
    const name = nameOf(request);
    this.#requests.set(name, (this.#requests.get(name) ?? 0) + 1);
    try {
      return await this.#claimAndRun(request, run);
    } finally {
      const left = (this.#requests.get(name) ?? 0) - 1;
      if (left > 0) this.#requests.set(name, left);
      else this.#requests.delete(name);
    }
  }

  /** Returns the id of the resource that a request with the key creates; undefined if there was no such request. */
  async resourceOf(key: Key): Promise<string | undefined> {
    return (await findKey.first(this.#database.reader, key))?.resource_id;
  }

  async #claimAndRun(request: KeyedRequest, run: Run) {
    try {
      const claim = await this.#claim(request).catch((error) => {
        // The claim may have taken effect nevertheless, if only the answer to its commit was lost.
        if (isAway(error)) this.#releases.add(request);
        throw error;
      });
      if (claim.answer !== undefined) return { output: claim.answer, replayed: true };
      return { output: await this.#run(request, claim.resourceId, run), replayed: false };
    } finally {
      if (this.#running.get(nameOf(request)) === request) this.#running.delete(nameOf(request));
    }
  }

  async #run(request: KeyedRequest, resourceId: string, run: Run): Promise<unknown> {
    const { accountId, key } = request;
    const owner = this.#nodeId;
    try {
      const output = await run(resourceId);
      const answer = JSON.stringify(output);
      await this.#database.commit((tx) => keepAnswer.run(tx, { accountId, key, owner, answer }));
      return output;
    } catch (error) {
      // A refused request did nothing, or failed for good: its key is free again. Any other request may have taken
      // effect, so the key and its id stay, and the next run continues.
      const isResumable = !(error instanceof AppError) || RESUMABLE.includes(error.code);
      const settled = isResumable
        ? this.#release(request)
        : this.#database.commit((tx) => dropKey.run(tx, { accountId, key, owner }));
      await settled.catch(() => this.#releases.add(request));
      throw error;
    }
  }

  /** Lets the next request continue with the key, on any node. Returns whether this node owned it. */
  async #release({ accountId, key }: Key): Promise<boolean> {
    const released = { accountId, key, from: this.#nodeId, owner: NO_OWNER, now: this.#clock.now() };
    return (await this.#database.commit((tx) => takeOver.run(tx, released))) > 0;
  }

  #claim(request: KeyedRequest): Promise<{ resourceId: string; answer?: unknown }> {
    const { accountId, key } = request;
    const hash = hashRequest(request);
    const owner = this.#nodeId;
    return this.#database.commit(async (tx) => {
      const now = this.#clock.now();
      await dropOld.run(tx, { accountId, key, before: now - KEPT_MS });
      const row = { accountId, key, hash, owner, resourceId: this.#newId('msg').slice('msg_'.length), now };
      if ((await insertKey.run(tx, row)) === 1) {
        this.#running.set(nameOf(request), request); // not after the commit: it may hold an identical request
        return { resourceId: row.resourceId };
      }
      const known = await findKey.first(tx, { accountId, key });
      if (known === undefined) throw new AppError('idempotency_in_flight');
      if (known.request_hash !== hash) throw new AppError('idempotency_mismatch');
      if (known.answer !== null) return { resourceId: known.resource_id, answer: JSON.parse(known.answer) };
      const isTaken =
        (await this.#isAbandoned(tx, known, request, now)) &&
        (await takeOver.run(tx, { accountId, key, from: known.owner, owner, now })) > 0;
      if (!isTaken) throw new AppError('idempotency_in_flight', undefined, { retryAfterSeconds: 1 });
      this.#running.set(nameOf(request), request);
      return { resourceId: known.resource_id };
    });
  }

  /** Whether no process works on a key. A node without a row can change nothing; a single process knows its own keys. */
  async #isAbandoned(tx: Tx, known: IdempotencyKeyTable, request: KeyedRequest, now: number): Promise<boolean> {
    const { owner } = known;
    if (owner === this.#nodeId) return [undefined, request].includes(this.#running.get(nameOf(request)));
    if (owner === NO_OWNER || now - known.created_at > ABANDONED_MS) return true;
    return (await findNode.first(tx, { nodeId: owner })) === undefined;
  }
}

function hashRequest({ operationId, input }: KeyedRequest): string {
  const { idempotencyKey: _, ...rest } = input;
  return createHash('sha256')
    .update(`${operationId}\n${canonical(rest)}`)
    .digest('hex');
}

/** Returns JSON with sorted keys, because the order of fields makes no difference. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}

const findNode = query((db, p: { nodeId: string }) =>
  db.selectFrom('nodes').select('node_id').where('node_id', '=', p.nodeId),
);

const insertKey = query((db, p: Key & { hash: string; owner: string; resourceId: string; now: number }) =>
  db
    .insertInto('idempotency_keys')
    .values({
      account_id: p.accountId,
      idempotency_key: p.key,
      request_hash: p.hash,
      owner: p.owner,
      answer: null,
      resource_id: p.resourceId,
      created_at: p.now,
    })
    .onConflict((conflict) => conflict.doNothing()),
);

const findKey = query((db, p: Key) =>
  db
    .selectFrom('idempotency_keys')
    .selectAll()
    .where('account_id', '=', p.accountId)
    .where('idempotency_key', '=', p.key),
);

/** Each of these changes a key only if its owner is still the same. */
const takeOver = query((db, p: Key & { from: string; owner: string; now: number }) =>
  db
    .updateTable('idempotency_keys')
    .set({ owner: p.owner, created_at: p.now })
    .where('account_id', '=', p.accountId)
    .where('idempotency_key', '=', p.key)
    .where('owner', '=', p.from),
);

const keepAnswer = query((db, p: Key & { owner: string; answer: string }) =>
  db
    .updateTable('idempotency_keys')
    .set({ answer: p.answer })
    .where('account_id', '=', p.accountId)
    .where('idempotency_key', '=', p.key)
    .where('owner', '=', p.owner),
);

const dropKey = query((db, p: Key & { owner: string }) =>
  db
    .deleteFrom('idempotency_keys')
    .where('account_id', '=', p.accountId)
    .where('idempotency_key', '=', p.key)
    .where('owner', '=', p.owner),
);

const dropOld = query((db, p: Key & { before: number }) =>
  db
    .deleteFrom('idempotency_keys')
    .where('account_id', '=', p.accountId)
    .where('idempotency_key', '=', p.key)
    .where('created_at', '<', p.before),
);
