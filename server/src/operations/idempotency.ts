import { createHash } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { Database } from '../db/database.ts';
import { query } from '../db/query.ts';
import { AppError, invalidField } from '../errors.ts';
import type { NewId } from '../ids.ts';

const KEPT_MS = 24 * 60 * 60 * 1000;
/** A run that has not ended by now died with its process: no operation is allowed to take this long. */
const ABANDONED_MS = 60_000;

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
  nodeId,
}: {
  database: Database;
  clock: Clock;
  newId: NewId;
  nodeId: string;
}): Idempotency {
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
      await database.commit((tx) => keepAnswer.run(tx, { accountId, key, answer: JSON.stringify(output) }));
      return { output, replayed: false };
    } catch (error) {
      // What was refused has done nothing, or has failed for good: the key is free for another try. Anything else may
      // have happened or not, so the key and its id stay, and the next run goes on where this one broke off.
      const isFinal =
        error instanceof AppError && error.code !== 'storage_unavailable' && error.code !== 'shutting_down';
      if (isFinal) await database.commit((tx) => dropKey.run(tx, { accountId, key })).catch(() => {});
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
      const isMine = known.owner === nodeId;
      const abandoned = isMine ? !running.has(runningName({ accountId, key })) : now - known.created_at > ABANDONED_MS;
      if (!abandoned) throw new AppError('idempotency_in_flight', undefined, { retryAfterSeconds: 1 });
      await takeOver.run(tx, { accountId, key, owner: nodeId, now });
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

const takeOver = query((db, p: Key & { owner: string; now: number }) =>
  db
    .updateTable('idempotency_keys')
    .set({ owner: p.owner, created_at: p.now })
    .where('account_id', '=', p.accountId)
    .where('idempotency_key', '=', p.key),
);

const keepAnswer = query((db, p: Key & { answer: string }) =>
  db
    .updateTable('idempotency_keys')
    .set({ answer: p.answer })
    .where('account_id', '=', p.accountId)
    .where('idempotency_key', '=', p.key),
);

const dropKey = query((db, p: Key) =>
  db.deleteFrom('idempotency_keys').where('account_id', '=', p.accountId).where('idempotency_key', '=', p.key),
);

const dropOld = query((db, p: Key & { before: number }) =>
  db
    .deleteFrom('idempotency_keys')
    .where('account_id', '=', p.accountId)
    .where('idempotency_key', '=', p.key)
    .where('created_at', '<', p.before),
);
