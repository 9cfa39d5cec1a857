import { MovedError } from '../cluster/leases.ts';
import type { Member } from '../cluster/members.ts';
import type { Queryable } from '../db/dialect.ts';
import { query } from '../db/query.ts';
import type { SessionRef } from '../messages/store.ts';
import type { Services } from './context.ts';

/** Determines the node of an operation: the owner of the session or webhook that the input names. */
export interface OwnerRule {
  /** Names the session or webhook; by default the account's only session or its default webhook. */
  readonly field: 'sessionId' | keyof typeof ofOneSession | 'webhookId';
  /** Field of the input with which every node can run the operation. */
  readonly localWith?: 'sendAt';
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
    { field, localWith, acquires }: OwnerRule,
    accountId: string,
    input: Readonly<Record<string, unknown>>,
  ): Promise<Member | undefined> {
    if (!this.#services.cluster.hasOthers()) return undefined;
    if (localWith !== undefined && input[localWith] !== undefined) return undefined;
    // Validated by the schema of the input.
    const id = input[field] as string | undefined;
    if (field === 'webhookId') return this.#ofWebhook(accountId, id);
    const sessionId = await this.#sessionIdOf(field, accountId, id);
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
    field: keyof typeof sessionOf,
    accountId: string,
    id: string | undefined,
  ): Promise<string | undefined> {
    const { database, sessions, liveSessions } = this.#services;
    if (id === undefined) {
      const sole = await sessions.sole.of(accountId);
      return typeof sole === 'object' ? sole.sessionId : undefined;
    }
    if (field === 'sessionId' && liveSessions.stateOf({ accountId, sessionId: id }) !== undefined) return id;
    return findSessionOf(database.reader, field, { accountId, id });
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

/** Resources of one session, which their id determines, by the input fields that name them. */
export const ofOneSession = {
  messageId: 'message',
  groupId: 'group',
  channelId: 'channel',
  statusId: 'status',
} as const;

/** Returns the session of a resource, or the session itself; undefined if the account has no such thing. */
export async function findSessionOf(
  on: Queryable,
  field: keyof typeof sessionOf,
  { accountId, id }: ById,
): Promise<string | undefined> {
  return (await sessionOf[field].first(on, { accountId, id }))?.session_id;
}

const sessionOf = {
  sessionId: query((db, p: ById) =>
    db.selectFrom('sessions').select('session_id').where('account_id', '=', p.accountId).where('session_id', '=', p.id),
  ),
  messageId: query((db, p: ById) =>
    db.selectFrom('messages').select('session_id').where('account_id', '=', p.accountId).where('message_id', '=', p.id),
  ),
  groupId: query((db, p: ById) =>
    db.selectFrom('groups').select('session_id').where('account_id', '=', p.accountId).where('group_id', '=', p.id),
  ),
  channelId: query((db, p: ById) =>
    db.selectFrom('channels').select('session_id').where('account_id', '=', p.accountId).where('channel_id', '=', p.id),
  ),
  statusId: query((db, p: ById) =>
    db.selectFrom('statuses').select('session_id').where('account_id', '=', p.accountId).where('status_id', '=', p.id),
  ),
};
