import { createHash } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { LONGEST_SEND_MS } from '../cluster/forward.ts';
import type { Tx } from '../db/commit.ts';
import type { Database } from '../db/database.ts';
import { query } from '../db/query.ts';
import { AppError, type ErrorCode, invalidField } from '../errors.ts';
import type { NewId } from '../ids.ts';

const KEPT_MS = 24 * 60 * 60 * 1000;
/** A run that has not ended by now has died: no operation is allowed to take this long. */
const ABANDONED_MS = LONGEST_SEND_MS + 90_000;
/** A node that has just come is not known to all others yet. */
const UNKNOWN_MS = 3000;
/** Owner of a key whose run has broken off: whoever asks next goes on with it. */
const NOBODY = '';
/** Errors after which the same request may be made again, and goes on where it broke off. */
const OPEN: readonly ErrorCode[] = ['storage_unavailable', 'shutting_down', 'session_unavailable'];

/** A request that may have been made before. */
export interface KeyedRequest {
  readonly accountId: string;
  readonly key: string;
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

  async function once(request: KeyedRequest, run: (resourceId: string) => Promise<unknown>) {
    const { accountId, key } = request;
    if (key === '' || key.length > 255) {
      throw invalidField('Idempotency-Key', 'The idempotency key must have 1 to 255 characters');
    }
    const claim = await claimKey(accountId, key, hashRequest(request));
    if (claim.answer !== undefined) return { output: claim.answer, replayed: true };
    running.add(runningName(request));
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
      const settle = (tx: Tx) =>
        isOpen
          ? takeOver.run(tx, { accountId, key, from: nodeId, owner: NOBODY, now: clock.now() })
          : dropKey.run(tx, { accountId, key, owner: nodeId });
      await database.commit(settle).catch(() => {});
      throw error;
    } finally {
      running.delete(runningName(request));
    }
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
      const age = now - known.created_at;
      const isMine = known.owner === nodeId;
      const isAbandoned = isMine
        ? !running.has(runningName({ accountId, key }))
        : known.owner === NOBODY || age > (cluster.isAlive(known.owner) ? ABANDONED_MS : UNKNOWN_MS);
      if (!isAbandoned) throw new AppError('idempotency_in_flight', undefined, { retryAfterSeconds: 1 });
      const taken = await takeOver.run(tx, { accountId, key, from: known.owner, owner: nodeId, now });
      if (taken === 0) throw new AppError('idempotency_in_flight', undefined, { retryAfterSeconds: 1 });
      return { resourceId: known.resource_id };
    });
  }

  return { once };
}

function runningName({ accountId, key }: { accountId: string; key: string }): string {
  return `${accountId} ${key}`;
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

interface Key {
  accountId: string;
  key: string;
}

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
