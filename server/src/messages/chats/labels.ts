import { sql } from 'kysely';
import { type Clock, isoTime } from '../../clock.ts';
import type { Commit, Tx } from '../../db/commit.ts';
import type { Database } from '../../db/database.ts';
import type { Queryable } from '../../db/dialect.ts';
import { Pace } from '../../db/pace.ts';
import { query, unindexed } from '../../db/query.ts';
import type { LabelTable, MessageRow } from '../../db/schema.ts';
import { AppError } from '../../errors.ts';
import { cut } from '../../events/contentParts/limits.ts';
import type { NewId } from '../../ids.ts';
import type { DeletionHandler, Deletions } from '../../jobs/deletions.ts';
import type { Emit } from '../../webhooks/log/emit.ts';
import { emitMarks } from '../messages/marks.ts';
import type { SessionRef } from '../store.ts';
import { emitChatById } from './chatChanges.ts';

interface LabelEvents {
  readonly emit: Emit;
  readonly clock: Clock;
}

interface Parts extends LabelEvents {
  readonly newId: NewId;
}

export interface LabelText {
  /** The network's id of the label. */
  readonly networkId: string;
  readonly name: string;
  readonly color: number;
}

/** The networks have some 20 labels for each account. */
export const MAX_LABELS = 200;
export const LABEL_CHARACTERS = 100;
/** Chats that do not exist yet can have labels too, so their number has a limit. */
export const MAX_CHAT_LABELS = 50_000;

/**
 * Creates a label, or changes its name and color. Emits nothing if they are the same.
 * @returns the label; undefined if the session has too many
 */
export async function putLabel(
  parts: Parts,
  tx: Tx,
  session: SessionRef,
  { networkId, name, color }: LabelText,
): Promise<LabelTable | undefined> {
  const { accountId, sessionId } = session;
  const text = { name: cut(name, LABEL_CHARACTERS), color };
  const present = await findLabelByNetworkId(tx, session, networkId);
  if (present !== undefined && present.name === text.name && present.color === color) return present;
  if (present === undefined && (await countLabels(tx, session)) >= MAX_LABELS) return undefined;
  const label: LabelTable = present
    ? { ...present, ...text }
    : {
        account_id: accountId,
        session_id: sessionId,
        label_id: parts.newId('lbl'),
        network_id: networkId,
        ...text,
        created_at: parts.clock.now(),
      };
  await tx.kysely
    .insertInto('labels')
    .values(label)
    .onConflict((conflict) => conflict.columns(['account_id', 'label_id']).doUpdateSet(text))
    .execute();
  emitLabel(parts, tx, label, false);
  return label;
}

/** Takes a label off everything, in transactions with few rows. */
async function takeOffAll(
  commit: Commit,
  { account_id, session_id, label_id }: Pick<LabelTable, 'account_id' | 'session_id' | 'label_id'>,
  isStopped: () => boolean,
): Promise<void> {
  const pace = new Pace();
  const options = { key: session_id, isStopped };
  await pace.repeat(
    commit,
    async ({ kysely }, limit) => {
      const some = kysely
        .selectFrom('chat_labels')
        .select('chat_id')
        .where('account_id', '=', account_id)
        .where('label_id', '=', label_id)
        .limit(limit);
      const { numDeletedRows } = await kysely
        .deleteFrom('chat_labels')
        .where('session_id', '=', session_id)
        .where('label_id', '=', label_id)
        .where('chat_id', 'in', some)
        .executeTakeFirst();
      return Number(numDeletedRows);
    },
    options,
  );
  await pace.repeat(
    commit,
    async ({ kysely }, limit) => {
      const some = kysely
        .selectFrom('message_labels')
        .select('message_id')
        .where('account_id', '=', account_id)
        .where('label_id', '=', label_id)
        .limit(limit);
      const { numDeletedRows } = await kysely
        .deleteFrom('message_labels')
        .where('account_id', '=', account_id)
        .where('label_id', '=', label_id)
        .where('message_id', 'in', some)
        .executeTakeFirst();
      return Number(numDeletedRows);
    },
    options,
  );
}

/** Deletes a label and takes it off everything, as a recorded deletion that continues after a crash. */
export async function removeLabel(
  { database, deletions }: { readonly database: Pick<Database, 'commit'>; readonly deletions: Deletions },
  session: SessionRef,
  networkId: string,
): Promise<void> {
  const deletion = await database.commit(async (tx) => {
    const label = await findLabelByNetworkId(tx, session, networkId);
    if (label === undefined) return undefined;
    const { accountId, sessionId } = session;
    const resourceId = `label/${sessionId}/${label.label_id}`;
    const recorded = { resourceId, accountId, kind: 'label' as const, details: '{}' };
    await deletions.record(tx, recorded);
    return recorded;
  }, session.sessionId);
  if (deletion !== undefined) await deletions.run(deletion);
}

/** Returns the deletion handler for labels. */
export function labelDeletion(
  parts: LabelEvents,
  database: Pick<Database, 'commit'>,
  isStopped: () => boolean,
): DeletionHandler {
  return async ({ resourceId, accountId }, _isResumed, complete) => {
    const [, sessionId = '', labelId = ''] = resourceId.split('/');
    await takeOffAll(database.commit, { account_id: accountId, session_id: sessionId, label_id: labelId }, isStopped);
    if (isStopped()) throw new AppError('shutting_down');
    await database.commit(async (tx) => {
      await complete(tx);
      await deleteLabel(parts, tx, accountId, labelId);
    }, sessionId);
  };
}

/** Deletes a label and any assignments added during the removal. */
async function deleteLabel(parts: LabelEvents, tx: Tx, accountId: string, labelId: string): Promise<void> {
  for (const table of ['chat_labels', 'message_labels'] as const)
    await tx.kysely.deleteFrom(table).where('account_id', '=', accountId).where('label_id', '=', labelId).execute();
  const label = await tx.kysely
    .deleteFrom('labels')
    .where('account_id', '=', accountId)
    .where('label_id', '=', labelId)
    .returningAll()
    .executeTakeFirst();
  // Its session may have been deleted.
  if (label !== undefined) emitLabel(parts, tx, label, true);
}

/** Returns whether a label is on a chat already, or the session may have it on one more. */
export async function hasRoomFor(
  { kysely }: Pick<Tx, 'kysely'>,
  { session_id, label_id }: LabelTable,
  chatId: string,
): Promise<boolean> {
  const present = await kysely
    .selectFrom('chat_labels')
    .select('label_id')
    .where('session_id', '=', session_id)
    .where('chat_id', '=', chatId)
    .where('label_id', '=', label_id)
    .executeTakeFirst();
  if (present !== undefined) return true;
  const { count } = await kysely
    .selectFrom('chat_labels')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('session_id', '=', session_id)
    .executeTakeFirstOrThrow();
  return Number(count) < MAX_CHAT_LABELS;
}

/** Returns false, and changes nothing, if the session has too many labels on chats. */
export async function setChatLabel(
  parts: Parts,
  tx: Tx,
  label: LabelTable,
  chatId: string,
  isSet: boolean,
): Promise<boolean> {
  const { account_id, session_id, label_id } = label;
  const row = { account_id, session_id, chat_id: chatId, label_id };
  const { kysely } = tx;
  if (isSet && !(await hasRoomFor(tx, label, chatId))) return false;
  const { changed } = isSet
    ? await kysely
        .insertInto('chat_labels')
        .values(row)
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst()
        .then(({ numInsertedOrUpdatedRows = 0n }) => ({ changed: numInsertedOrUpdatedRows }))
    : await kysely
        .deleteFrom('chat_labels')
        .where((eb) => eb.and(row))
        .executeTakeFirst()
        .then(({ numDeletedRows }) => ({ changed: numDeletedRows }));
  if (changed > 0n) await emitChatById(parts, tx, { accountId: account_id, sessionId: session_id }, chatId);
  return true;
}

export async function setMessageLabel(
  parts: Parts,
  tx: Tx,
  { label_id }: LabelTable,
  message: MessageRow,
  isSet: boolean,
): Promise<void> {
  const { account_id, message_id } = message;
  const row = { account_id, message_id, label_id };
  const { kysely } = tx;
  const { changed } = isSet
    ? await kysely
        .insertInto('message_labels')
        .values(row)
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst()
        .then(({ numInsertedOrUpdatedRows = 0n }) => ({ changed: numInsertedOrUpdatedRows }))
    : await kysely
        .deleteFrom('message_labels')
        .where((eb) => eb.and(row))
        .executeTakeFirst()
        .then(({ numDeletedRows }) => ({ changed: numDeletedRows }));
  if (changed > 0n) await emitMarks(parts, tx, message);
}

export async function findLabel(
  { kysely }: Queryable,
  accountId: string,
  labelId: string,
): Promise<LabelTable | undefined> {
  return kysely
    .selectFrom('labels')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('label_id', '=', labelId)
    .executeTakeFirst();
}

export async function findLabelByNetworkId(
  { kysely }: Pick<Tx, 'kysely'>,
  { accountId, sessionId }: SessionRef,
  networkId: string,
): Promise<LabelTable | undefined> {
  return kysely
    .selectFrom('labels')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('session_id', '=', sessionId)
    .where('network_id', '=', networkId)
    .executeTakeFirst();
}

async function countLabels({ kysely }: Tx, { accountId, sessionId }: SessionRef): Promise<number> {
  const { count } = await kysely
    .selectFrom('labels')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('account_id', '=', accountId)
    .where('session_id', '=', sessionId)
    .executeTakeFirstOrThrow();
  return Number(count);
}

function emitLabel({ emit, clock }: LabelEvents, tx: Tx, label: LabelTable, isDeleted: boolean): void {
  const { account_id: accountId, session_id: sessionId, label_id: labelId, name, color } = label;
  const deleted = isDeleted && { deleted: true as const };
  const data = { labelId, sessionId, name, color, ...deleted, timestamp: isoTime(clock.now()) };
  emit(tx, { accountId, kind: 'label.updated', data, conversation: sessionId });
}

export const labelsOfChats = query((db, p: { accountId: string; sessionIds: string; chatIds: string }, dialect) =>
  db
    .selectFrom('chat_labels')
    .select(['session_id', 'chat_id', 'label_id'])
    .where(unindexed('account_id'), '=', p.accountId)
    .where('session_id', 'in', dialect.texts(p.sessionIds))
    .where('chat_id', 'in', dialect.texts(p.chatIds))
    .orderBy(unindexed('label_id')),
);

export const labelsOfMessages = query((db, p: { accountId: string; ids: string }, dialect) =>
  db
    .selectFrom('message_labels')
    .select(['message_id', 'label_id'])
    .where('account_id', '=', p.accountId)
    .where('message_id', 'in', dialect.texts(p.ids))
    .orderBy(unindexed('label_id')),
);

/** A label that more chats have is dense enough to be found in the order of a list. */
const FEW = 2000;

/** Returns the chats with a label if there are few; undefined otherwise. */
export async function fewChatsWith({ kysely }: Queryable, label: LabelTable): Promise<readonly string[] | undefined> {
  const rows = await kysely
    .selectFrom('chat_labels')
    .select('chat_id')
    .where('account_id', '=', label.account_id)
    .where('label_id', '=', label.label_id)
    .limit(FEW + 1)
    .execute();
  return rows.length > FEW ? undefined : rows.map(({ chat_id }) => chat_id);
}

/** Whether a chat `r` has a label. */
export const hasLabel = ({ session_id, label_id }: LabelTable) =>
  sql<boolean>`exists (select 1 from chat_labels as l
    where l.session_id = ${session_id} and l.chat_id = r.chat_id and l.label_id = ${label_id})`;
