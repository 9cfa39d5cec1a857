import type { TSchema } from 'typebox';
import { MovedError } from '../cluster/leases.ts';
import type { Member } from '../cluster/members.ts';
import type { Queryable } from '../db/dialect.ts';
import { query } from '../db/query.ts';
import type { SessionRef } from '../messages/store.ts';
import { type Reference, referenceOf } from './input/references.ts';
import type { Services } from './services.ts';

/** Determines the node of an operation: the owner of the session or webhook that the input names. */
export interface OwnerRule {
  /** Names the session or webhook; by default the account's only session or its default webhook. */
  readonly field: 'sessionId' | 'messageId' | 'groupId' | 'channelId' | 'statusId' | 'webhookId';
  /** Field of the input with which every node can run the operation. */
  readonly localWith?: 'sendAt';
  /** Field of the input without which every node can run the operation. */
  readonly onlyWith?: 'options';
  /** The operation acquires a session without an owner, so the node must accept work. */
  readonly acquires?: true;
}

type Needed = Pick<Services, 'database' | 'cluster' | 'sessions' | 'liveSessions'>;

export class Owners {
  readonly #services: Needed;

  constructor(services: Needed) {
    this.#services = services;
  }

  /**
   * Returns the other node that must run an operation, or undefined to run it here. A call that names an unknown
   * session also runs here, so that `run` returns the error.
   */
  async find(
    { owner, input: schema }: { readonly owner: OwnerRule; readonly input: TSchema },
    accountId: string,
    input: Readonly<Record<string, unknown>>,
  ): Promise<Member | undefined> {
    const { field, localWith, onlyWith, acquires } = owner;
    if (!this.#services.cluster.hasOthers()) return undefined;
    if (localWith !== undefined && input[localWith] !== undefined) return undefined;
    if (onlyWith !== undefined && input[onlyWith] === undefined) return undefined;
    // Validated by the schema of the input.
    const id = input[field] as string | undefined;
    const reference = referenceOf(schema, [field]);
    // Operations on the default webhook have no field for it.
    if (field === 'webhookId') return this.#ofWebhook(accountId, id);
    if (reference !== 'session' && !isOfOneSession(reference)) throw new Error(`${field} refers to no session`);
    const sessionId = await this.#sessionIdOf(reference, accountId, id);
    return sessionId === undefined ? undefined : this.ofSession({ accountId, sessionId }, acquires);
  }

  /** Returns the other node that owns the session, or with `acquires` will own it. */
  async ofSession(session: SessionRef, acquires = false): Promise<Member | undefined> {
    const { cluster, liveSessions } = this.#services;
    if (!cluster.hasOthers() || liveSessions.stateOf(session) !== undefined) return undefined;
    const leases = cluster.sessions;
    const owner = await (acquires ? leases.nodeFor(session.sessionId) : leases.ownerOf(session.sessionId));
    return typeof owner === 'object' ? owner : undefined;
  }

  async #ofWebhook(accountId: string, webhookId: string | undefined): Promise<Member | undefined> {
    const { database, cluster } = this.#services;
    const own = database.reader.kysely.selectFrom('webhooks').select('webhook_id').where('account_id', '=', accountId);
    const named = webhookId === undefined ? own.where('is_default', '=', 1) : own.where('webhook_id', '=', webhookId);
    const row = await named.executeTakeFirst();
    const owner = row && (await cluster.webhooks.ownerOf(row.webhook_id));
    return typeof owner === 'object' ? owner : undefined;
  }

  async #sessionIdOf(
    reference: keyof typeof sessionOf,
    accountId: string,
    id: string | undefined,
  ): Promise<string | undefined> {
    const { database, sessions, liveSessions } = this.#services;
    if (id === undefined) {
      const sole = await sessions.sole.of(accountId);
      return typeof sole === 'object' ? sole.sessionId : undefined;
    }
    if (reference === 'session' && liveSessions.stateOf({ accountId, sessionId: id }) !== undefined) return id;
    return findSessionOf(database.reader, reference, { accountId, id });
  }
}

/**
 * Runs a call at the owner of its session or webhook. The owner can change between the decision and the run. In that
 * case the run throws `MovedError` before it does anything, and the call follows once.
 */
export async function runAtOwner<T>(
  findOwner: () => Promise<Member | undefined>,
  runHere: () => Promise<T>,
  forwardTo: (owner: Member) => Promise<T>,
): Promise<T> {
  const owner = await findOwner();
  if (owner !== undefined) return forwardTo(owner);
  try {
    return await runHere();
  } catch (error) {
    const next = error instanceof MovedError ? await findOwner() : undefined;
    if (next === undefined) throw error;
    return forwardTo(next);
  }
}

type ById = { accountId: string; id: string };

/** Resources of one session, which their id determines. */
export const ofOneSession = ['message', 'batch', 'group', 'channel', 'status'] as const;
export type OfOneSession = (typeof ofOneSession)[number];

export const isOfOneSession = (reference: Reference | undefined): reference is OfOneSession =>
  ofOneSession.some((one) => one === reference);

/** Returns the session of a resource, or the session itself; undefined if the account has no such thing. */
export async function findSessionOf(
  on: Queryable,
  reference: keyof typeof sessionOf,
  { accountId, id }: ById,
): Promise<string | undefined> {
  return (await sessionOf[reference].first(on, { accountId, id }))?.session_id;
}

const sessionOf = {
  session: query((db, p: ById) =>
    db.selectFrom('sessions').select('session_id').where('account_id', '=', p.accountId).where('session_id', '=', p.id),
  ),
  message: query((db, p: ById) =>
    db.selectFrom('messages').select('session_id').where('account_id', '=', p.accountId).where('message_id', '=', p.id),
  ),
  batch: query((db, p: ById) =>
    db.selectFrom('batches').select('session_id').where('account_id', '=', p.accountId).where('batch_id', '=', p.id),
  ),
  group: query((db, p: ById) =>
    db.selectFrom('groups').select('session_id').where('account_id', '=', p.accountId).where('group_id', '=', p.id),
  ),
  channel: query((db, p: ById) =>
    db.selectFrom('channels').select('session_id').where('account_id', '=', p.accountId).where('channel_id', '=', p.id),
  ),
  status: query((db, p: ById) =>
    db.selectFrom('statuses').select('session_id').where('account_id', '=', p.accountId).where('status_id', '=', p.id),
  ),
};
