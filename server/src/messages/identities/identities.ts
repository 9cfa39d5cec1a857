import type { Tx } from '../../db/commit.ts';
import type { Database } from '../../db/database.ts';
import type { ChatTable } from '../../db/schema.ts';
import { AppError } from '../../errors.ts';
import type { Deletions } from '../../jobs/deletions.ts';
import { renameConversation } from '../../webhooks/log/renamedConversations.ts';
import { joinedMetadata, metadataOf } from '../chats/chatMetadata.ts';
import { countAgain } from '../chats/chatRemoval.ts';
import { moveCleared } from '../chats/clearedChats.ts';
import type { InboxOptions } from '../inboxOptions.ts';
import type { OutgoingProgress } from '../messages/outgoingProgress.ts';
import { emitContact } from '../people/contactChanges.ts';
import type { Report } from '../reports.ts';
import type { SessionRef } from '../store.ts';
import { followPerson } from './personColumns.ts';
import { type Person, PersonRows } from './personRows.ts';

/**
 * Identifies people whose number has become known. Most have few rows, which one transaction moves. Of others, all but
 * the newest rows are moved in slices before it, as a recorded deletion of the placeholder, so that it continues after
 * a crash. Meanwhile, reports of the session wait, because they find what they change under the number.
 */
export class Identities {
  readonly #options: IdentitiesOptions;
  /** Work on the people of sessions. */
  readonly #working = new Map<string, Promise<unknown>>();

  constructor(options: IdentitiesOptions) {
    this.#options = options;
    options.deletions.handle('placeholder', ({ accountId, details }, _isResumed, complete) =>
      this.#handle({ accountId, ...JSON.parse(details) }, complete),
    );
  }

  /** The work on people of the session, for which its reports wait; undefined if there is none. */
  workOn(sessionId: string): Promise<unknown> | undefined {
    return this.#working.get(sessionId);
  }

  /**
   * Moves everything from the placeholder to the number, and merges it with what the number already has. Events with
   * the placeholder are not sent again.
   */
  identify(session: SessionRef, { standIn: placeholder, phoneNumber, change }: Report<'identified'>): Promise<void> {
    const person = { ...session, placeholder, phoneNumber, ...(change && { change }) };
    return this.#hold(session.sessionId, () => this.#identify(person));
  }

  /** Lets reports of the session wait for the work. */
  #hold(sessionId: string, run: () => Promise<void>): Promise<void> {
    const work = run();
    const held = Promise.allSettled([this.#working.get(sessionId), work]).then(() => {
      if (this.#working.get(sessionId) === held) this.#working.delete(sessionId);
    });
    this.#working.set(sessionId, held);
    return work;
  }

  async #identify(person: Person): Promise<void> {
    const { database, deletions } = this.#options;
    const { accountId, sessionId, placeholder, phoneNumber, change } = person;
    // Otherwise the messages that are still to be deleted would stay under the number.
    await deletions.finish(`${sessionId}/${placeholder}`);
    const rows = new PersonRows(person);
    if (await rows.areFew(database.reader)) {
      await database.commit((tx) => identify(this.#options, tx, person, rows), sessionId);
      return;
    }
    const deletion = {
      resourceId: `${identitiesOf(sessionId)}${placeholder}`,
      accountId,
      kind: 'placeholder' as const,
      details: JSON.stringify({ sessionId, placeholder, phoneNumber, change }),
    };
    await database.commit((tx) => deletions.record(tx, deletion), sessionId);
    await deletions.run(deletion);
  }

  #handle(person: Person, complete: (tx: Tx) => Promise<void>): Promise<void> {
    return this.#hold(person.sessionId, () => this.#move(person, complete));
  }

  async #move(person: Person, complete: (tx: Tx) => Promise<void>): Promise<void> {
    const { database, deletions } = this.#options;
    const rows = new PersonRows(person);
    await rows.moveInSlices(database, () => deletions.isStopped);
    if (deletions.isStopped) throw new AppError('shutting_down');
    await database.commit(async (tx) => {
      await identify(this.#options, tx, person, rows);
      await complete(tx);
    }, person.sessionId);
  }
}

interface IdentitiesOptions extends InboxOptions {
  readonly database: Database;
  readonly outgoing: Pick<OutgoingProgress, 'followPerson'>;
  /**
   * Called when the recipients of keys of this account follow a person, so that the keys reach the number immediately.
   */
  readonly keysChanged: (accountId: string) => void;
}

/** The prefix of the recorded moves of a session. */
const identitiesOf = (sessionId: string) => `identity/${sessionId}/`;

/** Ends the moves of people of the session that are recorded, so that what follows finds all rows of a chat. */
export const finishIdentities = (deletions: Deletions, { sessionId }: Pick<SessionRef, 'sessionId'>): Promise<void> =>
  deletions.finish(identitiesOf(sessionId));

/** Ends the identification of a person, in one transaction. */
async function identify(options: IdentitiesOptions, tx: Tx, person: Person, rows: PersonRows): Promise<void> {
  const { accountId, sessionId, placeholder, phoneNumber, change } = person;
  const hadChat = await mergeChats(tx, person);
  const hadContact = await mergeContacts(tx, person);
  await moveCleared(tx, person, placeholder, phoneNumber);
  if (await followPerson(tx, person)) tx.afterCommit(() => options.keysChanged(accountId));
  const fewer = await rows.moveRest(tx);
  await options.outgoing.followPerson(tx, person);
  await renameConversation(tx, { accountId, sessionId, from: placeholder, to: phoneNumber });
  if (fewer !== undefined) await countAgain(tx, person, phoneNumber, fewer);
  const hasNewId = !hadContact && (await changeUserId(tx, person));
  // Networks repeat the report.
  if (!hadChat && !hadContact && !hasNewId) return;
  const contact = {
    account_id: accountId,
    session_id: sessionId,
    phone_number: phoneNumber,
    name: null,
    saved_name: null,
    blocked: 0,
    user_id: null,
    user_name: null,
  };
  const isMoved = hadChat || hadContact;
  emitContact(options, tx, (await findContact(tx, person)) ?? contact, {
    ...(isMoved && { previousPhoneNumber: placeholder }),
    ...change,
  });
}

/** Stores the changed id of a contact with the same number. Returns whether it is another one. */
async function changeUserId({ kysely }: Tx, { accountId, sessionId, phoneNumber, change }: Person): Promise<boolean> {
  if (change?.userId === undefined) return false;
  const { numUpdatedRows } = await kysely
    .updateTable('contacts')
    .set({ user_id: change.userId })
    .where('account_id', '=', accountId)
    .where('session_id', '=', sessionId)
    .where('phone_number', '=', phoneNumber)
    .where('user_id', 'is distinct from', change.userId)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

function findContact({ kysely }: Tx, { accountId, sessionId, phoneNumber }: Person) {
  return kysely
    .selectFrom('contacts')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('session_id', '=', sessionId)
    .where('phone_number', '=', phoneNumber)
    .executeTakeFirst();
}

/** Returns whether there was a chat under the placeholder. */
async function mergeChats(
  { kysely }: Tx,
  { accountId, sessionId, placeholder, phoneNumber }: Person,
): Promise<boolean> {
  const chats = await kysely
    .selectFrom('chats')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('session_id', '=', sessionId)
    .where('chat_id', 'in', [placeholder, phoneNumber])
    .execute();
  const old = chats.find(({ chat_id }) => chat_id === placeholder);
  const present = chats.find(({ chat_id }) => chat_id === phoneNumber);
  if (old === undefined) return false;
  await kysely
    .deleteFrom('chats')
    .where('account_id', '=', accountId)
    .where('session_id', '=', sessionId)
    .where('chat_id', 'in', [placeholder, phoneNumber])
    .execute();
  const isNewer = (present?.last_message_at ?? 0) > (old.last_message_at ?? 0);
  const { last_message_id, last_message_at } = isNewer && present !== undefined ? present : old;
  const unread_count = old.unread_count + (present?.unread_count ?? 0);
  const merged = {
    ...old,
    ...present,
    chat_id: phoneNumber,
    last_message_id,
    last_message_at,
    unread_count,
    marked_unread: Math.max(old.marked_unread, present?.marked_unread ?? 0),
    ...timerOf((present?.disappearing_seconds ?? null) === null ? old : (present ?? old)),
    metadata: JSON.stringify(joinedMetadata(metadataOf(present ?? old), metadataOf(old))),
  };
  await kysely.insertInto('chats').values(merged).execute();
  return true;
}

/** A timer with the time of its last change. */
const timerOf = ({ disappearing_seconds, disappearing_changed_at }: ChatTable) => ({
  disappearing_seconds,
  disappearing_changed_at,
});

/** Returns whether there was a contact under the placeholder. */
async function mergeContacts(
  { kysely }: Tx,
  { accountId, sessionId, placeholder, phoneNumber, change }: Person,
): Promise<boolean> {
  const contacts = await kysely
    .selectFrom('contacts')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('session_id', '=', sessionId)
    .where('phone_number', 'in', [placeholder, phoneNumber])
    .execute();
  const old = contacts.find(({ phone_number }) => phone_number === placeholder);
  const present = contacts.find(({ phone_number }) => phone_number === phoneNumber);
  if (old === undefined) return false;
  await kysely
    .deleteFrom('contacts')
    .where('account_id', '=', accountId)
    .where('session_id', '=', sessionId)
    .where('phone_number', 'in', [placeholder, phoneNumber])
    .execute();
  const name = old.name ?? present?.name ?? null;
  const blocked = Math.max(old.blocked, present?.blocked ?? 0);
  const saved_name = present?.saved_name ?? old.saved_name;
  const user_id = change?.userId ?? present?.user_id ?? old.user_id;
  // A user name belongs to its id, and stays with a person whose id has changed.
  const holder = [user_id, change?.previousUserId].flatMap((id) =>
    [present, old].filter((contact) => contact !== undefined && contact.user_id === id),
  )[0];
  const user_name = holder?.user_name ?? null;
  const merged = { ...old, ...present, phone_number: phoneNumber, name, saved_name, blocked, user_id, user_name };
  await kysely.insertInto('contacts').values(merged).execute();
  return true;
}
