import type { Readable } from 'node:stream';
import { type Selectable, sql } from 'kysely';
import type { Clock } from '../clock.ts';
import type { BusinessProfileChange, OwnBusinessProfile } from '../connectors/contract/business.ts';
import type { NetworkEvent } from '../connectors/contract/events.ts';
import type { NetworkGroup } from '../connectors/contract/groups.ts';
import type { Tx } from '../db/commit.ts';
import type { Database } from '../db/database.ts';
import type { Queryable } from '../db/dialect.ts';
import { Pace } from '../db/pace.ts';
import { batch, query } from '../db/query.ts';
import type { SandboxMailTable } from '../db/schema.ts';
import type { Media } from '../media/media.ts';
import { toNetworkMedia } from '../messages/content.ts';
import {
  addressOf,
  type ChannelStep,
  type Envelope,
  type GroupStep,
  type Mail,
  type SandboxChannel,
  type SandboxGroup,
  type SandboxProfile,
  type SandboxStore,
} from './store.ts';

type MailRow = Selectable<SandboxMailTable>;

/** People who follow the presence of one number; the oldest make room. */
const MAX_FOLLOWERS = 1000;
const MAX_CHANNELS = 1000;
/** Groups in a transaction. */
const SLICE = 500;
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
    const found =
      (await readNumber(reader, address)) ??
      (await commit(async (tx) => {
        await tx.kysely
          .insertInto('sandbox_numbers')
          .values({ number: address, session_id: sessionId, profile: null })
          .onConflict((conflict) => conflict.column('number').doNothing())
          .execute();
        return readNumber(tx, address);
      }));
    return found?.session_id ?? sessionId;
  }

  async release(sessionId: string): Promise<void> {
    const { commit } = this.#database;
    // The number comes last: the session still has it if the process dies in between. Later mail is deleted with it.
    await new Pace().repeat(commit, (tx, rows) => deleteMailOf.run(tx, { sessionId, rows }));
    await commit(async ({ kysely }) => {
      await kysely
        .deleteFrom('sandbox_channels')
        .where('owner', 'in', (eb) =>
          eb.selectFrom('sandbox_numbers').select('number').where('session_id', '=', sessionId),
        )
        .execute();
      await kysely.deleteFrom('sandbox_numbers').where('session_id', '=', sessionId).execute();
      await kysely.deleteFrom('sandbox_mailbox').where('session_id', '=', sessionId).execute();
    });
  }

  async signedUp(addresses: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = await registeredNumbers.all(this.#database.reader, { addresses: JSON.stringify(addresses) });
    return new Set(rows.map(({ number }) => number));
  }

  put(envelopes: readonly Envelope[]): Promise<readonly string[]> {
    // One key for all, so that mail is stored in the order of the calls.
    return this.#database.commit((tx) => this.#insert(tx, envelopes), 'sandbox mailboxes');
  }

  async mailOf(sessionId: string, limit: number): Promise<readonly Mail[]> {
    const rows = await oldestMail.all(this.#database.reader, { sessionId, limit });
    return rows.map((row) => ({
      mailId: row.mail_id,
      event: this.#parse(row.event),
      sentAt: row.sent_at,
      directFrom: row.direct_from,
      isEarly: row.is_early === 1,
      receiptTo: row.receipt_to,
    }));
  }

  async newestMail(sessionId: string): Promise<number> {
    const { newest } = await this.#database.reader.kysely
      .selectFrom('sandbox_mailbox')
      .select((eb) => eb.fn.max('mail_id').as('newest'))
      .where('session_id', '=', sessionId)
      .executeTakeFirstOrThrow();
    return newest ?? 0;
  }

  async withMail(sessionIds: readonly string[]): Promise<readonly string[]> {
    if (sessionIds.length === 0) return [];
    const rows = await sessionsWithMail.all(this.#database.reader, { sessionIds: JSON.stringify(sessionIds) });
    return rows.map(({ session_id }) => session_id);
  }

  async remove(delivered: readonly number[], dropped: readonly number[]): Promise<void> {
    await this.#database.commit(async (tx) => {
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
    });
  }

  async prune(): Promise<void> {
    const before = this.#clock.now() - MAIL_KEPT_MS;
    await new Pace().repeat(this.#database.commit, (tx, rows) => deleteOldMail.run(tx, { before, rows }));
  }

  group(address: string): Promise<SandboxGroup | undefined> {
    return this.#groupBy('network_id', address);
  }

  groupByInvite(address: string): Promise<SandboxGroup | undefined> {
    return this.#groupBy('invite_code', address);
  }

  async #groupBy(column: 'network_id' | 'invite_code', address: string): Promise<SandboxGroup | undefined> {
    const { kysely } = this.#database.reader;
    const states = kysely.selectFrom('sandbox_groups').select('state');
    const row = await states.where(column, '=', address).executeTakeFirst();
    return row && this.#parse(row.state);
  }

  async restoreGroups(scope: string, groups: readonly NetworkGroup[]): Promise<void> {
    for (let at = 0; at < groups.length; at += SLICE) {
      const rows = groups.slice(at, at + SLICE).map((group) => groupRow(scope, group));
      await this.#database.commit((tx) => insertMissingGroups.run(tx, rows));
    }
  }

  changeGroup(
    scope: string,
    networkId: string,
    change: (group: SandboxGroup | undefined) => GroupStep | undefined,
  ): Promise<{ group: SandboxGroup | undefined; hasMail: readonly string[] }> {
    const address = addressOf(scope, networkId);
    return this.#database.commit(async (tx) => {
      // Changes nothing, but locks the group until the transaction ends, on both databases.
      const row = await tx.kysely
        .updateTable('sandbox_groups')
        .set(({ ref }) => ({ state: ref('state') }))
        .where('network_id', '=', address)
        .returning('state')
        .executeTakeFirst();
      const before = row && this.#parse<SandboxGroup>(row.state);
      const step = change(before);
      if (step === undefined) return { group: before, hasMail: [] };
      const { group, event } = step;
      const changed = groupRow(scope, group);
      await tx.kysely
        .insertInto('sandbox_groups')
        .values(changed)
        .onConflict((conflict) => conflict.column('network_id').doUpdateSet(changed))
        .execute();
      const concerned = [...(before?.participants ?? []), ...group.participants].map(({ phoneNumber }) => phoneNumber);
      const to = (step.to ?? concerned).map((number) => addressOf(scope, number));
      return { group, hasMail: await this.#insert(tx, [{ to: [...new Set(to)], event }]) };
    }, address);
  }

  openFile(hash: string): Promise<Readable> {
    return this.#media.open(hash);
  }

  channel(address: string): Promise<SandboxChannel | undefined> {
    return this.#channelBy('network_id', address);
  }

  channelByInvite(address: string): Promise<SandboxChannel | undefined> {
    return this.#channelBy('invite_code', address);
  }

  async #channelBy(column: 'network_id' | 'invite_code', address: string): Promise<SandboxChannel | undefined> {
    const { kysely } = this.#database.reader;
    const states = kysely.selectFrom('sandbox_channels').select('state');
    const row = await states.where(column, '=', address).executeTakeFirst();
    return row && this.#parse(row.state);
  }

  async channelsOf(prefix: string, number: string): Promise<readonly SandboxChannel[]> {
    const rows = await this.#database.reader.kysely
      .selectFrom('sandbox_channels')
      .select('state')
      .where('network_id', 'like', `${prefix}%`)
      .where('state', 'like', `%"${number}"%`)
      .orderBy('network_id')
      .limit(MAX_CHANNELS)
      .execute();
    const channels = rows.map(({ state }) => this.#parse<SandboxChannel>(state));
    return channels.filter(({ owner, followers }) => owner === number || followers.includes(number));
  }

  changeChannel(
    prefix: string,
    networkId: string,
    change: (channel: SandboxChannel | undefined) => ChannelStep,
  ): Promise<{ channel: SandboxChannel; hasMail: readonly string[] }> {
    const address = prefix + networkId;
    return this.#database.commit(async (tx) => {
      // Changes nothing, but locks the channel until the transaction ends, on both databases.
      const row = await tx.kysely
        .updateTable('sandbox_channels')
        .set(({ ref }) => ({ state: ref('state') }))
        .where('network_id', '=', address)
        .returning('state')
        .executeTakeFirst();
      const { channel, event, to = [] } = change(row && this.#parse<SandboxChannel>(row.state));
      const changed = {
        network_id: address,
        invite_code: prefix + channel.inviteCode,
        owner: prefix + channel.owner,
        state: JSON.stringify(channel),
      };
      await tx.kysely
        .insertInto('sandbox_channels')
        .values(changed)
        .onConflict((conflict) => conflict.column('network_id').doUpdateSet(changed))
        .execute();
      if (event === undefined || to.length === 0) return { channel, hasMail: [] };
      const addresses = [...new Set(to)].map((number) => prefix + number);
      return { channel, hasMail: await this.#insert(tx, [{ to: addresses, event }]) };
    }, address);
  }

  async knowing(addresses: readonly string[], number: string): Promise<ReadonlySet<string>> {
    const rows = await numbersWithContact.all(this.#database.reader, { addresses: JSON.stringify(addresses), number });
    return new Set(rows.map((row) => row.number));
  }

  async profile(address: string, on: Queryable = this.#database.reader): Promise<SandboxProfile> {
    const row = await readNumber(on, address);
    return row?.profile ? this.#parse(row.profile) : NO_PROFILE;
  }

  async profiles(addresses: readonly string[]): Promise<ReadonlyMap<string, SandboxProfile>> {
    const rows = await profilesOf.all(this.#database.reader, { addresses: JSON.stringify(addresses) });
    return new Map(rows.map(({ number, profile }) => [number, profile === null ? NO_PROFILE : this.#parse(profile)]));
  }

  async changeProfile(
    address: string,
    { name, about, picture, business, privacy, presence, follower }: Parameters<SandboxStore['changeProfile']>[1],
  ): Promise<void> {
    await this.#database.commit(async (tx) => {
      const before = await this.profile(address, tx);
      const { followers = [] } = before;
      const profile: SandboxProfile = {
        ...before,
        ...(name !== undefined && { name }),
        ...(about !== undefined && { about: about === '' ? null : about }),
        ...(picture !== undefined && { picture }),
        ...(business !== undefined && { business: businessAfter(before.business, business) }),
        ...(privacy !== undefined && { privacy }),
        ...(presence !== undefined && { presence }),
        ...(follower !== undefined &&
          !followers.includes(follower) && { followers: [...followers, follower].slice(-MAX_FOLLOWERS) }),
      };
      await tx.kysely
        .updateTable('sandbox_numbers')
        .set({ profile: JSON.stringify(profile) })
        .where('number', '=', address)
        .execute();
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

const NO_BUSINESS: OwnBusinessProfile = { address: null, description: null, email: null, websites: [], vertical: null };

/** An empty text removes the field. */
function businessAfter(before: OwnBusinessProfile = NO_BUSINESS, change: BusinessProfileChange): OwnBusinessProfile {
  const changed = Object.entries(change).map(([name, value]) => [name, value === '' ? null : value]);
  return { ...before, ...Object.fromEntries(changed) };
}

function groupRow(scope: string, group: NetworkGroup) {
  const { networkId, inviteCode } = group;
  return {
    network_id: addressOf(scope, networkId),
    invite_code: inviteCode === null ? null : addressOf(scope, inviteCode),
    state: JSON.stringify(group),
  };
}

function readNumber({ kysely }: Queryable, address: string) {
  return kysely
    .selectFrom('sandbox_numbers')
    .select(['session_id', 'profile'])
    .where('number', '=', address)
    .executeTakeFirst();
}

const registeredNumbers = query((db, p: { addresses: string }, dialect) =>
  db.selectFrom('sandbox_numbers').select('number').where('number', 'in', dialect.texts(p.addresses)),
);

const profilesOf = query((db, p: { addresses: string }, dialect) =>
  db.selectFrom('sandbox_numbers').select(['number', 'profile']).where('number', 'in', dialect.texts(p.addresses)),
);

/** Across accounts, because the sessions of a network can belong to several. */
const numbersWithContact = query((db, p: { addresses: string; number: string }, dialect) =>
  db
    .selectFrom('sandbox_numbers as n')
    .innerJoin('contacts as c', 'c.session_id', 'n.session_id')
    .select('n.number')
    .where('n.number', 'in', dialect.texts(p.addresses))
    .where('c.phone_number', '=', p.number)
    .where('c.blocked', '=', 0),
);

/** Inserts mail for registered numbers. A message that its sender repeats may already be there. */
const insertMissingGroups = batch(
  { network_id: 'text', invite_code: 'text', state: 'text' },
  ({ row, from }) => sql`
    insert into sandbox_groups (network_id, invite_code, state)
    select ${row.network_id}, ${row.invite_code}, ${row.state} ${from} where true on conflict do nothing`,
);

const insertMail = batch(
  {
    place: 'bigint',
    number: 'text',
    event: 'text',
    direct_from: 'text',
    sent_at: 'bigint',
    message_id: 'text',
    receipt_to: 'text',
    created_at: 'bigint',
  },
  ({ row, join }) => sql<Pick<SandboxMailTable, 'session_id'>>`
    insert into sandbox_mailbox (session_id, event, direct_from, sent_at, message_id, receipt_to, created_at)
    select n.session_id, ${row.event}, ${row.direct_from}, ${row.sent_at}, ${row.message_id}, ${row.receipt_to},
      ${row.created_at}
    from sandbox_numbers n ${join} where n.number = ${row.number} order by ${row.place}
    on conflict do nothing returning session_id`,
);

/** Receipts for sessions that are still on a network. */
const insertReceipts = batch(
  { place: 'bigint', session_id: 'text', event: 'text', confirms: 'text', created_at: 'bigint' },
  ({ row, from }) => sql`
    insert into sandbox_mailbox (session_id, event, confirms, created_at)
    select ${row.session_id}, ${row.event}, ${row.confirms}, ${row.created_at} ${from}
    where exists (select 1 from sandbox_numbers n where n.session_id = ${row.session_id}) order by ${row.place}`,
);

const deleteMailOf = query((db, p: { sessionId: string; rows: number }) =>
  db
    .deleteFrom('sandbox_mailbox')
    .where('mail_id', 'in', (eb) =>
      eb
        .selectFrom('sandbox_mailbox')
        .select('mail_id')
        .where('session_id', '=', p.sessionId)
        .orderBy('mail_id')
        .limit(p.rows),
    ),
);

/** Ids are in the order of time, so it reads no more mail than it may delete. */
const deleteOldMail = query((db, p: { before: number; rows: number }) =>
  db.deleteFrom('sandbox_mailbox').where('mail_id', 'in', (eb) =>
    eb
      .selectFrom(
        eb
          .selectFrom('sandbox_mailbox')
          .select(['mail_id', 'created_at'])
          .orderBy('mail_id')
          .limit(p.rows)
          .as('oldest'),
      )
      .select('oldest.mail_id')
      .where('oldest.created_at', '<', p.before),
  ),
);

const oldestMail = query((db, p: { sessionId: string; limit: number }) =>
  db
    .selectFrom('sandbox_mailbox as mail')
    .select(['mail_id', 'event', 'sent_at', 'direct_from', 'receipt_to'])
    .select(
      sql<number>`case when exists (select 1 from sandbox_mailbox other where other.message_id = mail.confirms)
        then 1 else 0 end`.as('is_early'),
    )
    .where('session_id', '=', p.sessionId)
    .orderBy('mail_id')
    .limit(p.limit),
);

const sessionsWithMail = query((db, p: { sessionIds: string }, dialect) =>
  db
    .selectFrom('sandbox_mailbox')
    .select('session_id')
    .distinct()
    .where('session_id', 'in', dialect.texts(p.sessionIds)),
);

const deleteMail = batch(
  { mail_id: 'bigint' },
  ({ row, from }) => sql<Pick<MailRow, 'mail_id' | 'message_id' | 'receipt_to'>>`
    delete from sandbox_mailbox where mail_id in (select ${row.mail_id} ${from})
    returning mail_id, message_id, receipt_to`,
);
