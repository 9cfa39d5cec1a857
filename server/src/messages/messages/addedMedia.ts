import type { NetworkEvent } from '../../connectors/contract/events.ts';
import type { Tx } from '../../db/commit.ts';
import type { Queryable } from '../../db/dialect.ts';
import type { MessageRow } from '../../db/schema.ts';
import { isGroupId } from '../../ids.ts';
import { contentColumn, contentOf, mediaPart, type StoredMedia } from '../content.ts';
import { groupIdOf } from '../groupStore.ts';
import type { InboxOptions } from '../inboxOptions.ts';
import type { SessionRef } from '../store.ts';
import { authorOf, changeOf, emitChange, findByNetworkId } from './changes.ts';

/*
 * Files that the sender's app adds to a message. The message is reported with what it has, because such a file comes
 * seconds or minutes later, or never; `message.media` reports the file. So a program that answers messages answers once.
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
  const content = contentOf(row);
  if (row.deleted_at !== null || file === undefined || content[field]?.hash === file.hash) return true;
  // A message from the history may have its first file still at the network.
  const { remoteMedia: _, ...complete } = content;
  const isReplaced = field === 'media';
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
