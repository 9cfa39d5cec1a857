import { createHash } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { LONGEST_SEND_MS } from '../cluster/forward.ts';
import type { Tx } from '../db/commit.ts';
import type { Database } from '../db/database.ts';
import { query } from '../db/query.ts';
import type { IdempotencyKeyTable } from '../db/schema.ts';
import { AppError, type ErrorCode, invalidField, isAway } from '../errors.ts';
import type { NewId } from '../ids.ts';
import { type Key, KeyReleases, nameOf } from './keyReleases.ts';

const KEPT_MS = 24 * 60 * 60 * 1000;
/** A run that has not ended by now has died: no operation is allowed to take this long. */
const ABANDONED_MS = LONGEST_SEND_MS + 90_000;
/** Owner of a key whose run has broken off: whoever asks next goes on with it. */
const NOBODY = '';
/** Errors after which the same request may be made again, and goes on where it broke off. */
const OPEN: readonly ErrorCode[] = ['storage_unavailable', 'shutting_down', 'session_unavailable'];

/** A request that may have been made before. */
export interface KeyedRequest extends Key {
  readonly operationId: string;
  readonly input: Readonly<Record<string, unknown>>;
}

export interface Idempotency {
  /**
   * Runs `run` unless the same request was made before: then the first answer is given again, for 24 hours.
   * @param run gets the id to give to what it makes: a run after a crash gets the same one
   * @throws {AppError} `idempotency_in_flight`, `idempotency_mismatch`
   */
  once(
    request: KeyedRequest,
    run: (resourceId: string) => Promise<unknown>,
  ): Promise<{ output: unknown; replayed: boolean }>;
  /** The id that whoever works on a key, or has, gives to what it makes; undefined when nobody has. */
  resourceOf(key: Key): Promise<string | undefined>;
  /** Ends what goes on in the background. */
  stop(): Promise<void>;
}

export function createIdempotency({
  database,
  clock,
  newId,
  cluster,
}: {
  database: Database;
  clock: Clock;
  newId: NewId;
  cluster: Cluster;
}): Idempotency {
  const { nodeId } = cluster;
  /** Keys that are being worked on in this process. */
  const running = new Set<string>();
  /** Requests of this process that claim a key or work on it, by the key. */
  const requests = new Map<string, number>();
  const releases = new KeyReleases(releaseOnce, (key) => requests.has(nameOf(key)), clock);

  async function once(request: KeyedRequest, run: (resourceId: string) => Promise<unknown>) {
    const { key } = request;
    if (key === '' || key.length > 255) {
      throw invalidField('Idempotency-Key', 'must have 1 to 255 characters');
    }
    const name = nameOf(request);
    requests.set(name, (requests.get(name) ?? 0) + 1);
    try {
      return await claimAndRun(request, run);
    } finally {
      const left = (requests.get(name) ?? 0) - 1;
      if (left > 0) requests.set(name, left);
      else requests.delete(name);
    }
  }

  async function claimAndRun(request: KeyedRequest, run: (resourceId: string) => Promise<unknown>) {
    const { accountId, key } = request;
    const claim = await claimKey(accountId, key, hashRequest(request)).catch((error) => {
      // The claim may have taken effect all the same, with only the answer to its commit lost.
      if (isAway(error)) releases.add(request);
      throw error;
    });
    if (claim.answer !== undefined) return { output: claim.answer, replayed: true };
    running.add(nameOf(request));
    try {
      const output = await run(claim.resourceId);
      await database.commit((tx) =>
        keepAnswer.run(tx, { accountId, key, owner: nodeId, answer: JSON.stringify(output) }),
      );
      return { output, replayed: false };
    } catch (error) {
      // What was refused has done nothing, or has failed for good: the key is free for another try. Anything else may
      // have happened or not, so the key and its id stay, and the next run goes on where this one broke off.
      const isOpen = !(error instanceof AppError) || OPEN.includes(error.code);
      const settled = isOpen
        ? releaseOnce(request)
        : database.commit((tx) => dropKey.run(tx, { accountId, key, owner: nodeId }));
      await settled.catch(() => releases.add(request));
      throw error;
    } finally {
      running.delete(nameOf(request));
    }
  }

  /** Whoever asks next goes on with the key, on whichever node. @returns whether this node had it */
  async function releaseOnce({ accountId, key }: Key): Promise<boolean> {
    const released = { accountId, key, from: nodeId, owner: NOBODY, now: clock.now() };
    return (await database.commit((tx) => takeOver.run(tx, released))) > 0;
  }

  function claimKey(accountId: string, key: string, hash: string): Promise<{ resourceId: string; answer?: unknown }> {
    return database.commit(async (tx) => {
      const now = clock.now();
      await dropOld.run(tx, { accountId, key, before: now - KEPT_MS });
      const row = { accountId, key, hash, owner: nodeId, resourceId: newId('msg').slice('msg_'.length), now };
      if ((await insertKey.run(tx, row)) === 1) return { resourceId: row.resourceId };
      const known = await findKey.first(tx, { accountId, key });
      if (known === undefined) throw new AppError('idempotency_in_flight');
      if (known.request_hash !== hash) throw new AppError('idempotency_mismatch');
      if (known.answer !== null) return { resourceId: known.resource_id, answer: JSON.parse(known.answer) };
      if (!(await isAbandoned(tx, known, now)))
        throw new AppError('idempotency_in_flight', undefined, { retryAfterSeconds: 1 });
      const taken = await takeOver.run(tx, { accountId, key, from: known.owner, owner: nodeId, now });
      if (taken === 0) throw new AppError('idempotency_in_flight', undefined, { retryAfterSeconds: 1 });
      return { resourceId: known.resource_id };
    });
  }

  /** A node without its row can change nothing any more; where there is one process, only its own keys are worked on. */
  async function isAbandoned(
    tx: Tx,
    { account_id: accountId, owner, ...known }: IdempotencyKeyTable,
    now: number,
  ): Promise<boolean> {
    if (owner === nodeId) return !running.has(nameOf({ accountId, key: known.idempotency_key }));
    if (owner === NOBODY || now - known.created_at > ABANDONED_MS) return true;
    return (await findNode.first(tx, { nodeId: owner })) === undefined;
  }

  return {
    once,
    resourceOf: async (key) => (await findKey.first(database.reader, key))?.resource_id,
    stop: () => releases.stop(),
  };
}

function hashRequest({ operationId, input }: KeyedRequest): string {
  const { idempotencyKey: _, ...rest } = input;
  return createHash('sha256')
    .update(`${operationId}\n${canonical(rest)}`)
    .digest('hex');
}

/** JSON with sorted keys: the same request spelled in another order is the same request. */
function canonical(value: unknown): string {
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

/** Each changes a key that is its owner's still: another node may have taken it over meanwhile. */
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
