import { type Selectable, sql } from 'kysely';
import type { Clock } from '../clock.ts';
import type { NetworkEvent, NetworkGroup, ProfileChange } from '../connectors/connector.ts';
import {
  addressOf,
  type Envelope,
  type GroupStep,
  type Mail,
  type SandboxProfile,
  type SandboxStore,
} from '../connectors/sandbox/store.ts';
import type { JointWork, Tx } from '../db/commit.ts';
import type { Database } from '../db/database.ts';
import type { Queryable } from '../db/dialect.ts';
import { batch, query } from '../db/query.ts';
import type { SandboxMailTable } from '../db/schema.ts';
import type { Media } from '../media/media.ts';
import { toNetworkMedia } from '../messages/content.ts';

type MailRow = Selectable<SandboxMailTable>;

const MAIL_KEPT_MS = 30 * 86_400_000;
const NO_PROFILE: SandboxProfile = { name: null, about: null, picture: null };

/** Keeps the sandbox networks in the database. Files are stored as hashes, by which every node can open them. */
export class DatabaseSandboxStore implements SandboxStore {
  readonly #database: Database;
  readonly #media: Media;
  readonly #clock: Clock;

  constructor({ database, media, clock }: { database: Database; media: Media; clock: Clock }) {
    this.#database = database;
    this.#media = media;
    this.#clock = clock;
  }

  async claim(address: string, sessionId: string): Promise<string> {
    const { reader, commit } = this.#database;
    const owner = (on: Queryable) => ownerOf.first(on, { address });
    const found =
      (await owner(reader)) ??
      (await commit(async (tx) => {
        await insertNumber.run(tx, { address, sessionId });
        return owner(tx);
      }));
    return found?.session_id ?? sessionId;
  }

  async release(sessionId: string): Promise<void> {
    await this.#database.commit(async (tx) => {
      await deleteNumbers.run(tx, { sessionId });
      await deleteMailbox.run(tx, { sessionId });
    });
  }

  async signedUp(addresses: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = await signedUpOf.all(this.#database.reader, { addresses: JSON.stringify(addresses) });
    return new Set(rows.map(({ number }) => number));
  }

  put(envelope: Envelope): Promise<readonly string[]> {
    // One key for all, so that mail is stored in the order of the calls.
    return this.#database.commitJointly(this.#putAll, envelope, 'sandbox mailboxes');
  }

  readonly #putAll: JointWork<Envelope, readonly string[]> = async (tx, envelopes) => {
    const hasMail = await this.#insert(tx, envelopes);
    return envelopes.map(() => hasMail);
  };

  async mailOf(sessionId: string, limit: number): Promise<readonly Mail[]> {
    const rows = await oldestMail.all(this.#database.reader, { sessionId, limit });
    return rows.map((row) => ({
      mailId: row.mail_id,
      event: this.#parse(row.event),
      sentAt: row.sent_at,
      directFrom: row.direct_from,
      isEarly: row.is_early === 1,
    }));
  }

  async newestMail(sessionId: string): Promise<number> {
    return (await newestMail.first(this.#database.reader, { sessionId }))?.mail_id ?? 0;
  }

  async withMail(sessionIds: readonly string[]): Promise<readonly string[]> {
    if (sessionIds.length === 0) return [];
    const rows = await sessionsWithMail.all(this.#database.reader, { sessionIds: JSON.stringify(sessionIds) });
    return rows.map(({ session_id }) => session_id);
  }

  remove(delivered: readonly number[], dropped: readonly number[]): Promise<readonly string[]> {
    return this.#database.commit(async (tx) => {
      const toRows = (ids: readonly number[]) => ids.map((mail_id) => ({ mail_id }));
      await deleteMail.run(tx, toRows(dropped));
      // Every removal adds a receipt, and the sender's reader drops all but the last (`isEarly`): two nodes that remove
      // mail at the same time cannot tell which is last.
      const deleted = await deleteMail.all(tx, toRows(delivered));
      const receipts = deleted // in any order
        .toSorted((one, other) => one.mail_id - other.mail_id)
        .flatMap(({ message_id, receipt_to }) =>
          message_id === null || receipt_to === null ? [] : [{ session_id: receipt_to, message_id }],
        );
      const now = this.#clock.now();
      const rows = receipts.map(({ session_id, message_id }, place) => {
        const event: NetworkEvent = { type: 'receipt', networkIds: [message_id], status: 'delivered', timestamp: now };
        return { place, session_id, event: JSON.stringify(event), confirms: message_id, created_at: now };
      });
      await insertReceipts.run(tx, rows);
      return [...new Set(receipts.map(({ session_id }) => session_id))];
    });
  }

  async prune(): Promise<void> {
    const before = this.#clock.now() - MAIL_KEPT_MS;
    await this.#database.commit((tx) => deleteOld.run(tx, { before }));
  }

  async group(address: string): Promise<NetworkGroup | undefined> {
    const row = await groupById.first(this.#database.reader, { address });
    return row && this.#parse(row.state);
  }

  async groupByInvite(address: string): Promise<NetworkGroup | undefined> {
    const row = await groupByCode.first(this.#database.reader, { address });
    return row && this.#parse(row.state);
  }

  async restoreGroups(scope: string, groups: readonly NetworkGroup[]): Promise<void> {
    const rows = groups.map((group) => groupRow(scope, group));
    await this.#database.commit((tx) => insertGroups.run(tx, rows));
  }

  changeGroup(
    scope: string,
    networkId: string,
    change: (group: NetworkGroup | undefined) => GroupStep | undefined,
  ): Promise<{ group: NetworkGroup | undefined; hasMail: readonly string[] }> {
    const address = addressOf(scope, networkId);
    return this.#database.commit(async (tx) => {
      const row = await lockGroup.first(tx, { address });
      const before = row && this.#parse<NetworkGroup>(row.state);
      const step = change(before);
      if (step === undefined) return { group: before, hasMail: [] };
      const { group, event } = step;
      if (before === undefined) await insertGroups.run(tx, [groupRow(scope, group)]);
      else await updateGroup.run(tx, groupRow(scope, group));
      const concerned = [...(before?.participants ?? []), ...group.participants];
      const to = concerned.map(({ phoneNumber }) => addressOf(scope, phoneNumber));
      return { group, hasMail: await this.#insert(tx, [{ to: [...new Set(to)], event }]) };
    }, address);
  }

  async profile(address: string, on: Queryable = this.#database.reader): Promise<SandboxProfile> {
    const row = await ownerOf.first(on, { address });
    return row?.profile ? this.#parse(row.profile) : NO_PROFILE;
  }

  async changeProfile(address: string, { name, about, picture }: ProfileChange): Promise<void> {
    await this.#database.commit(async (tx) => {
      const profile: SandboxProfile = {
        ...(await this.profile(address, tx)),
        ...(name !== undefined && { name }),
        ...(about !== undefined && { about: about === '' ? null : about }),
        ...(picture !== undefined && { picture }),
      };
      await updateProfile.run(tx, { address, profile: JSON.stringify(profile) });
    }, address);
  }

  /** @returns the sessions that have new mail */
  async #insert(tx: Tx, envelopes: readonly Envelope[]): Promise<string[]> {
    const now = this.#clock.now();
    const rows = envelopes.flatMap(({ to, event, sentAt, directFrom, sender }) => {
      const message = event.type === 'message' ? event.networkId : null;
      const mail = {
        event: JSON.stringify(event),
        direct_from: directFrom ?? null,
        sent_at: sentAt ?? null,
        message_id: message,
        receipt_to: message === null ? null : (sender?.sessionId ?? null),
        created_at: now,
      };
      return to.map((number) => ({ number, ...mail }));
    });
    const stored = await insertMail.all(
      tx,
      rows.map((row, place) => ({ place, ...row })),
    );
    return [...new Set(stored.map(({ session_id }) => session_id))];
  }

  /** Parses JSON of this store. Files contain their hash, by which they can be opened. */
  #parse<T>(text: string): T {
    return JSON.parse(text, (key, value) => {
      const isFile = (key === 'media' || key === 'picture') && typeof value?.hash === 'string';
      return isFile ? toNetworkMedia(value, this.#media) : value;
    });
  }
}

function groupRow(scope: string, group: NetworkGroup) {
  const { networkId, inviteCode } = group;
  return {
    network_id: addressOf(scope, networkId),
    invite_code: inviteCode === null ? null : addressOf(scope, inviteCode),
    state: JSON.stringify(group),
  };
}

const ownerOf = query((db, p: { address: string }) =>
  db.selectFrom('sandbox_numbers').select(['session_id', 'profile']).where('number', '=', p.address),
);

const insertNumber = query((db, p: { address: string; sessionId: string }) =>
  db
    .insertInto('sandbox_numbers')
    .values({ number: p.address, session_id: p.sessionId, profile: null })
    .onConflict((conflict) => conflict.column('number').doNothing()),
);

const updateProfile = query((db, p: { address: string; profile: string }) =>
  db.updateTable('sandbox_numbers').set({ profile: p.profile }).where('number', '=', p.address),
);

const deleteNumbers = query((db, p: { sessionId: string }) =>
  db.deleteFrom('sandbox_numbers').where('session_id', '=', p.sessionId),
);

const signedUpOf = query((db, p: { addresses: string }, dialect) =>
  db.selectFrom('sandbox_numbers').select('number').where('number', 'in', dialect.texts(p.addresses)),
);

const mailColumns = {
  place: 'bigint',
  number: 'text',
  event: 'text',
  direct_from: 'text',
  sent_at: 'bigint',
  message_id: 'text',
  receipt_to: 'text',
  created_at: 'bigint',
} as const;

/** Inserts mail for registered numbers. A message that its sender repeats may already be there. */
const insertMail = batch<typeof mailColumns, { session_id: string }>(
  mailColumns,
  (rows) => sql`
    insert into sandbox_mailbox (session_id, event, direct_from, sent_at, message_id, receipt_to, created_at)
    select n.session_id, r.event, r.direct_from, r.sent_at, r.message_id, r.receipt_to, r.created_at
    from ${rows} as r join sandbox_numbers n on n.number = r.number where true order by r.place
    on conflict do nothing returning session_id`,
);

/** Receipts for sessions that are still on a network. */
const insertReceipts = batch(
  { place: 'bigint', session_id: 'text', event: 'text', confirms: 'text', created_at: 'bigint' },
  (rows) => sql`
    insert into sandbox_mailbox (session_id, event, confirms, created_at)
    select r.session_id, r.event, r.confirms, r.created_at from ${rows} as r
    where exists (select 1 from sandbox_numbers n where n.session_id = r.session_id) order by r.place`,
);

const oldestMail = query((db, p: { sessionId: string; limit: number }) =>
  db
    .selectFrom('sandbox_mailbox as mail')
    .select(['mail_id', 'event', 'sent_at', 'direct_from'])
    .select(
      sql<number>`case when exists (select 1 from sandbox_mailbox other where other.message_id = mail.confirms)
        then 1 else 0 end`.as('is_early'),
    )
    .where('session_id', '=', p.sessionId)
    .orderBy('mail_id')
    .limit(p.limit),
);

const newestMail = query((db, p: { sessionId: string }) =>
  db
    .selectFrom('sandbox_mailbox')
    .select('mail_id')
    .where('session_id', '=', p.sessionId)
    .orderBy('mail_id', 'desc')
    .limit(1),
);

const sessionsWithMail = query((db, p: { sessionIds: string }, dialect) =>
  db
    .selectFrom('sandbox_mailbox')
    .select('session_id')
    .distinct()
    .where('session_id', 'in', dialect.texts(p.sessionIds)),
);

const deleteMail = batch<{ mail_id: 'bigint' }, Pick<MailRow, 'mail_id' | 'message_id' | 'receipt_to'>>(
  { mail_id: 'bigint' },
  (rows) => sql`
    delete from sandbox_mailbox where mail_id in (select r.mail_id from ${rows} as r)
    returning mail_id, message_id, receipt_to`,
);

const deleteMailbox = query((db, p: { sessionId: string }) =>
  db.deleteFrom('sandbox_mailbox').where('session_id', '=', p.sessionId),
);

const deleteOld = query((db, p: { before: number }) =>
  db.deleteFrom('sandbox_mailbox').where('created_at', '<', p.before),
);

const groupById = query((db, p: { address: string }) =>
  db.selectFrom('sandbox_groups').select('state').where('network_id', '=', p.address),
);

const groupByCode = query((db, p: { address: string }) =>
  db.selectFrom('sandbox_groups').select('state').where('invite_code', '=', p.address),
);

/** Changes nothing, but locks the group until the transaction ends, on both databases. */
const lockGroup = query((db, p: { address: string }) =>
  db
    .updateTable('sandbox_groups')
    .set(({ ref }) => ({ state: ref('state') }))
    .where('network_id', '=', p.address)
    .returning('state'),
);

const insertGroups = batch(
  { network_id: 'text', invite_code: 'text', state: 'text' },
  (rows) => sql`
    insert into sandbox_groups (network_id, invite_code, state)
    select network_id, invite_code, state from ${rows} as r where true on conflict do nothing`,
);

const updateGroup = query((db, p: ReturnType<typeof groupRow>) =>
  db
    .updateTable('sandbox_groups')
    .set({ invite_code: p.invite_code, state: p.state })
    .where('network_id', '=', p.network_id),
);
