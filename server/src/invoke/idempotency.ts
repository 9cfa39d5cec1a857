import { createHash } from 'node:crypto';
import type { ExpressionBuilder } from 'kysely';
import type { Clock } from '../clock.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { MAX_SEND_MS } from '../cluster/forward.ts';
import type { Tx } from '../db/commit.ts';
import type { Database } from '../db/database.ts';
import { query } from '../db/query.ts';
import type { IdempotencyKeyTable, Schema } from '../db/schema.ts';
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

type Input = Readonly<Record<string, unknown>>;

export interface KeyedRequest extends Key {
  readonly operationId: string;
  /** The input as the caller sent it, by which a repeated request is recognized: defaults change with releases. */
  readonly sent: Input;
  /** The validated input, by which the previous release recognizes it. */
  readonly input: Input;
}

export interface EarlierRun {
  readonly resourceId: string;
  /** Undefined if the run was interrupted or has not ended. */
  readonly answer?: unknown;
}

/** @param isResumed whether an earlier run did not end, and may have stored something */
type Run = (resourceId: string, isResumed: boolean) => Promise<unknown>;

interface Claim {
  readonly resourceId: string;
  readonly isResumed: boolean;
  readonly answer?: unknown;
}

interface Options {
  readonly database: Database;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly cluster: Pick<Cluster, 'nodeId'>;
}

/**
 * Runs requests with the same key once, and returns the first answer to repeated ones for 24 hours. Each credential has
 * its own keys.
 */
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
    return ownOf(await findKeys.all(this.#database.reader, named(key)), key)?.resource_id;
  }

  /** Returns what is known of an earlier run of the same request, which may be running still. */
  async earlier(request: Omit<KeyedRequest, 'input'>): Promise<EarlierRun | undefined> {
    const rows = await findKeys.all(this.#database.reader, named(request));
    const known = ownOf(rows.filter(this.#isKept(this.#clock.now())), request);
    if (known?.sent_hash !== hashOf(request.operationId, request.sent)) return undefined;
    return { resourceId: known.resource_id, ...(known.answer !== null && { answer: JSON.parse(known.answer) }) };
  }

  async #claimAndRun(request: KeyedRequest, run: Run) {
    try {
      const claim = await this.#claim(request).catch((error) => {
        // The claim may have taken effect nevertheless, if only the answer to its commit was lost.
        if (isAway(error)) this.#releases.add(request);
        throw error;
      });
      if (claim.answer !== undefined) return { output: claim.answer, replayed: true };
      return { output: await this.#run(request, claim, run), replayed: false };
    } finally {
      if (this.#running.get(nameOf(request)) === request) this.#running.delete(nameOf(request));
    }
  }

  async #run(request: KeyedRequest, { resourceId, isResumed }: Claim, run: Run): Promise<unknown> {
    const owned = { ...named(request), owner: this.#nodeId };
    try {
      const output = await run(resourceId, isResumed);
      const answer = JSON.stringify(output);
      await this.#database.commit((tx) => keepAnswer.run(tx, { ...owned, answer }));
      return output;
    } catch (error) {
      // A refused request did nothing, or failed for good: its key is free again. Any other request may have taken
      // effect, so the key and its id stay, and the next run continues.
      const isResumable = !(error instanceof AppError) || RESUMABLE.includes(error.code);
      const settled = isResumable ? this.#release(request) : this.#database.commit((tx) => dropKey.run(tx, owned));
      await settled.catch(() => this.#releases.add(request));
      throw error;
    }
  }

  /** Lets the next request continue with the key, on any node. Returns whether this node owned it. */
  async #release(key: Key): Promise<boolean> {
    const released = { ...named(key), from: this.#nodeId, owner: NO_OWNER, now: this.#clock.now() };
    return (await this.#database.commit((tx) => takeOver.run(tx, released))) > 0;
  }

  #claim(request: KeyedRequest): Promise<Claim> {
    const own = named(request);
    const hashes = hashesOf(request);
    const owner = this.#nodeId;
    return this.#database.commit(async (tx) => {
      const now = this.#clock.now();
      const rows = await findKeys.all(tx, own);
      const kept = rows.filter(this.#isKept(now));
      if (kept.length < rows.length) await dropOld.run(tx, { ...own, before: now - KEPT_MS });
      const known = ownOf(kept, request);
      if (known === undefined) {
        const isFree = kept.every((row) => row.idempotency_key !== own.key);
        const resourceId = this.#newId('msg').slice('msg_'.length);
        const row = { ...own, ...hashes, name: isFree ? own.key : own.ownKey, owner, resourceId, now };
        // Another node has just claimed it.
        if ((await insertKey.run(tx, row)) === 0) throw inFlight();
        this.#running.set(nameOf(request), request); // not after the commit: it may hold an identical request
        return { resourceId, isResumed: false };
      }
      if (!isSame(known, hashes, request)) throw new AppError('idempotency_mismatch');
      const claim = { resourceId: known.resource_id, isResumed: true };
      if (known.answer !== null) return { ...claim, answer: JSON.parse(known.answer) };
      const isTaken =
        (await this.#isAbandoned(tx, known, request, now)) &&
        (await takeOver.run(tx, { ...own, from: known.owner, owner, now })) > 0;
      if (!isTaken) throw inFlight();
      this.#running.set(nameOf(request), request);
      return claim;
    });
  }

  #isKept(now: number) {
    return ({ created_at: createdAt }: IdempotencyKeyTable) => createdAt >= now - KEPT_MS;
  }

  /**
   * Whether no process works on a key. A node without a row can change nothing; a single process knows its own keys.
   */
  async #isAbandoned(tx: Tx, known: IdempotencyKeyTable, request: KeyedRequest, now: number): Promise<boolean> {
    const { owner } = known;
    if (owner === this.#nodeId) return [undefined, request].includes(this.#running.get(nameOf(request)));
    if (owner === NO_OWNER || now - known.created_at > ABANDONED_MS) return true;
    return (await findNode.first(tx, { nodeId: owner })) === undefined;
  }
}

const inFlight = () => new AppError('idempotency_in_flight', undefined, { retryAfterSeconds: 1 });

/** A key with the two names that its row can have. The second one is for a key that another credential uses too. */
const named = ({ accountId, credential, key }: Key) => ({
  accountId,
  credential,
  key,
  ownKey: `${credential}\n${key}`,
});
type Named = ReturnType<typeof named>;

/** Returns the credential's row. The previous release stored whose key it was for no row. */
function ownOf(rows: readonly IdempotencyKeyTable[], { credential }: Key): IdempotencyKeyTable | undefined {
  return rows.find((row) => row.credential === credential) ?? rows.find((row) => row.credential === null);
}

function hashesOf({ operationId, sent, input }: KeyedRequest) {
  return { sentHash: hashOf(operationId, sent), requestHash: hashOf(operationId, input) };
}

/** Whether a row is of the same request. One of the previous release has only the hash with the defaults of then. */
function isSame(known: IdempotencyKeyTable, hashes: ReturnType<typeof hashesOf>, request: KeyedRequest): boolean {
  if (known.sent_hash === hashes.sentHash || known.request_hash === hashes.requestHash) return true;
  return (
    known.sent_hash === null &&
    earlierInputs(request).some((one) => hashOf(request.operationId, one) === known.request_hash)
  );
}

/** Maximum number of fields with a default that may have been added since the previous release. */
const MAX_ADDED = 6;

/**
 * Returns the validated input as earlier releases may have seen it: without some of the fields that the caller left
 * out.
 */
function earlierInputs({ sent, input }: KeyedRequest): Input[] {
  const added = Object.keys(input)
    .filter((name) => !Object.hasOwn(sent, name))
    .slice(0, MAX_ADDED);
  return Array.from({ length: 2 ** added.length }, (_, chosen) => {
    const left = new Set(added.filter((_name, index) => chosen & (1 << index)));
    return Object.fromEntries(Object.entries(input).filter(([name]) => !left.has(name)));
  });
}

function hashOf(operationId: string, { idempotencyKey: _, ...input }: Input): string {
  return createHash('sha256')
    .update(`${operationId}\n${canonical(input)}`)
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

interface NewKey extends Named {
  readonly name: string;
  readonly sentHash: string;
  readonly requestHash: string;
  readonly owner: string;
  readonly resourceId: string;
  readonly now: number;
}

const insertKey = query((db, p: NewKey) =>
  db
    .insertInto('idempotency_keys')
    .values({
      account_id: p.accountId,
      idempotency_key: p.name,
      credential: p.credential,
      request_hash: p.requestHash,
      sent_hash: p.sentHash,
      owner: p.owner,
      answer: null,
      resource_id: p.resourceId,
      created_at: p.now,
    })
    .onConflict((conflict) => conflict.doNothing()),
);

const findKeys = query((db, p: Named) =>
  db
    .selectFrom('idempotency_keys')
    .selectAll()
    .where('account_id', '=', p.accountId)
    .where('idempotency_key', 'in', [p.key, p.ownKey]),
);

const isOwn = (eb: ExpressionBuilder<Schema, 'idempotency_keys'>, p: Named) =>
  eb.and([
    eb('account_id', '=', p.accountId),
    eb('idempotency_key', 'in', [p.key, p.ownKey]),
    eb.or([eb('credential', '=', p.credential), eb('credential', 'is', null)]),
  ]);

/** Each of these changes a key only if its owner is still the same. */
const takeOver = query((db, p: Named & { from: string; owner: string; now: number }) =>
  db
    .updateTable('idempotency_keys')
    .set({ owner: p.owner, created_at: p.now })
    .where((eb) => isOwn(eb, p))
    .where('owner', '=', p.from),
);

const keepAnswer = query((db, p: Named & { owner: string; answer: string }) =>
  db
    .updateTable('idempotency_keys')
    .set({ answer: p.answer })
    .where((eb) => isOwn(eb, p))
    .where('owner', '=', p.owner),
);

const dropKey = query((db, p: Named & { owner: string }) =>
  db
    .deleteFrom('idempotency_keys')
    .where((eb) => isOwn(eb, p))
    .where('owner', '=', p.owner),
);

const dropOld = query((db, p: Named & { before: number }) =>
  db
    .deleteFrom('idempotency_keys')
    .where('account_id', '=', p.accountId)
    .where('idempotency_key', 'in', [p.key, p.ownKey])
    .where('created_at', '<', p.before),
);
