import { sql } from 'kysely';
import type { NetworkEvent } from '../../connectors/contract/events.ts';
import type { Tx } from '../../db/commit.ts';
import type { Queryable } from '../../db/dialect.ts';
import { batch, query } from '../../db/query.ts';
import type { MessageRow } from '../../db/schema.ts';
import { isGroupId } from '../../ids.ts';
import { contentColumn, contentOf, mediaPart, type StoredMedia } from '../content.ts';
import { groupIdOf } from '../groupStore.ts';
import type { InboxOptions } from '../inboxOptions.ts';
import type { SessionRef } from '../store.ts';
import { authorOf, changeOf, emitChange, findByNetworkId } from './changes.ts';
import { replacedUntil } from './replacement.ts';

/*
 * Files that the sender's app adds to a message. The message is reported with what it has, because such a file comes
 * seconds or minutes later, or never; `message.media` reports the file. So a program that answers messages answers
 * once.
 */

type AddedType = 'better_media' | 'live_photo';

/** A report with its file, which has been stored before. */
type Added<T extends AddedType> = Extract<NetworkEvent, { type: T }> & {
  readonly file?: StoredMedia;
};

/** Returns the message that a file belongs to; undefined if the session has none by this person. */
export async function findParent(
  on: Queryable,
  session: SessionRef,
  report: Added<AddedType>,
): Promise<MessageRow | undefined> {
  const { networkId, from, chat } = report;
  const type = report.type === 'better_media' ? report.kind : 'image';
  const groupId = chat.type === 'group' ? await groupIdOf(on, session, chat.id) : undefined;
  return findByNetworkId(
    on,
    session,
    networkId,
    (one) =>
      one.from_number === from && one.type === type && (isGroupId(one.chat_id) ? one.chat_id === groupId : !groupId),
  );
}

/** Replaces the image or video of a message by a better version. */
export function storeBetterMedia(
  options: InboxOptions,
  tx: Tx,
  session: SessionRef,
  report: Added<'better_media'>,
): Promise<boolean> {
  return add(options, tx, session, report, 'media');
}

/** Adds the video of a live photo to its image. */
export function storeLivePhoto(
  options: InboxOptions,
  tx: Tx,
  session: SessionRef,
  report: Added<'live_photo'>,
): Promise<boolean> {
  return add(options, tx, session, report, 'livePhoto');
}

/** Returns whether the session has such a message. */
async function add(
  options: InboxOptions,
  tx: Tx,
  session: SessionRef,
  { file, ...report }: Added<AddedType>,
  field: 'media' | 'livePhoto',
): Promise<boolean> {
  const row = await findParent(tx, session, report);
  if (row === undefined) return false;
  if (row.deleted_at !== null) return true;
  const isReplaced = field === 'media';
  const isLate = isReplaced && (await hasNewerFile(tx, row, report.timestamp));
  const { fileId = report.networkId, timestamp } = report;
  await noteFile(tx, row, fileId, isReplaced && file !== undefined && !isLate ? timestamp : null);
  const content = contentOf(row);
  if (isLate || file === undefined || content[field]?.hash === file.hash) return true;
  // A message from the history may have its first file still at the network.
  const { remoteMedia: _, ...complete } = content;
  await tx.kysely
    .updateTable('messages')
    .set({
      content: contentColumn({ ...(isReplaced ? complete : content), [field]: file }),
      ...(isReplaced && { file_reference: null }),
    })
    .where('account_id', '=', row.account_id)
    .where('message_id', '=', row.message_id)
    .execute();
  const author = await authorOf(tx, session, report);
  const added = { [field]: mediaPart(file, options.media) };
  emitChange(options, tx, row, 'message.media', { ...changeOf(row, author), ...added });
  return true;
}

/** Files per message whose ids are kept. A phone adds two. */
const MAX_FILES = 20;
const ID_CHARACTERS = 300;

/** Notes the id of a file, under which the network may refer to the message. */
export async function noteFile(
  tx: Tx,
  { account_id, session_id, message_id }: Pick<MessageRow, 'account_id' | 'session_id' | 'message_id'>,
  fileId: string,
  replacedAt: number | null,
): Promise<void> {
  if (fileId.length > ID_CHARACTERS) return;
  await insertFile.run(tx, [{ session_id, network_id: fileId, message_id, account_id, replaced_at: replacedAt }]);
}

const insertFile = batch(
  { session_id: 'text', network_id: 'text', message_id: 'text', account_id: 'text', replaced_at: 'bigint' },
  ({ row, from }) => sql`
    insert into added_files (session_id, network_id, message_id, account_id, replaced_at)
    select ${row.session_id}, ${row.network_id}, ${row.message_id}, ${row.account_id}, ${row.replaced_at} ${from}
    where (
      select count(*) from added_files as f where f.account_id = ${row.account_id} and f.message_id = ${row.message_id}
    ) < ${sql.lit(MAX_FILES)} or exists (
      select 1 from added_files as f
      where f.session_id = ${row.session_id} and f.network_id = ${row.network_id} and f.message_id = ${row.message_id}
    )
    on conflict (session_id, network_id, message_id) do update
      set replaced_at = coalesce(excluded.replaced_at, added_files.replaced_at)`,
);

/** Whether a newer file has replaced the first one. Within a second, the later arrival wins, as with other changes. */
async function hasNewerFile(
  tx: Tx,
  { account_id: accountId, message_id: messageId }: MessageRow,
  at: number,
): Promise<boolean> {
  const latest = await latestFile.first(tx, { accountId, messageId });
  return (latest?.at ?? 0) > replacedUntil({ fromMe: false, at });
}

const latestFile = query((db, p: { accountId: string; messageId: string }) =>
  db
    .selectFrom('added_files')
    .select(({ fn }) => fn.max('replaced_at').as('at'))
    .where('account_id', '=', p.accountId)
    .where('message_id', '=', p.messageId),
);
