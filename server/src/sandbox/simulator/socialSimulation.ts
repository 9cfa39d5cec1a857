import type { ChannelContent } from '../../connectors/contract/channels.ts';
import type { MessageContent } from '../../connectors/contract/content.ts';
import type { StatusContent } from '../../connectors/contract/status.ts';
import type { StatusTable } from '../../db/schema.ts';
import { invalidField, noSuch } from '../../errors.ts';
import type { Context } from '../../invoke/operation.ts';
import type { SessionRef } from '../../messages/store.ts';
import { findChannel } from '../../operations/broadcasts/channels.ts';
import { reactionOf } from '../../operations/messages/messageChanges.ts';
import type { ChannelSimulation, StatusSimulation } from '../simulatedActions.ts';

/* Actions of the simulator in statuses and channels. */

type Social = StatusSimulation | ChannelSimulation;

/** The fields of the input that they use. */
interface Given {
  readonly senderName?: string | undefined;
  readonly statusId?: string | undefined;
  readonly channelId?: string | undefined;
  readonly emoji?: string | undefined;
  readonly subject?: string | undefined;
  readonly content: () => Promise<MessageContent>;
  readonly from: () => string;
  /** @throws {AppError} `validation_failed` if the field is missing */
  readonly needed: <T>(field: 'statusId' | 'channelId' | 'emoji' | 'subject', value: T | undefined) => T;
}

export async function toSocialSimulation(
  ctx: Context,
  session: SessionRef,
  action: Social['action'],
  { needed, from, content, ...given }: Given,
): Promise<Social> {
  switch (action) {
    case 'status':
      return { action, from: from(), senderName: given.senderName ?? null, content: statusContent(await content()) };
    case 'status_delete':
    case 'status_view':
    case 'status_react': {
      const statusId = needed('statusId', given.statusId);
      const isOwn = action !== 'status_delete';
      const status = await requireStatus(ctx, session, statusId, isOwn);
      const of = { from: from(), networkId: status.network_id };
      requireRole(of.from, status, isOwn);
      return action === 'status_react'
        ? { action, ...of, emoji: reactionOf(needed('emoji', given.emoji)) }
        : { action, ...of };
    }
    case 'channel_create':
      return { action, from: from(), name: needed('subject', given.subject) };
    case 'channel_post': {
      const channel = await findChannel(ctx, session, needed('channelId', given.channelId));
      return { action, channel: channel.network_id, content: channelContent(await content()) };
    }
  }
}

function statusContent({ type, text, media }: MessageContent): StatusContent {
  if (type === 'text' || type === 'image' || type === 'video' || type === 'voice')
    return { type, text, ...(media && { media }) };
  throw invalidField('type', 'must be image, video or voice for the file of a status');
}

function channelContent({ type, text, media }: MessageContent): ChannelContent {
  if (type === 'text' || type === 'image' || type === 'video') return { type, text, ...(media && { media }) };
  throw invalidField('type', 'must be image or video for a file in a channel');
}

type StatusRow = Pick<StatusTable, 'network_id' | 'from_number' | 'audience'>;

/** @throws {AppError} `not_found` unless the session has received the status */
export const networkIdOfStatus = async (ctx: Context, session: SessionRef, statusId: string): Promise<string> =>
  (await requireStatus(ctx, session, statusId, false)).network_id;

/** @throws {AppError} `not_found` unless the session has the status, its own or somebody else's */
async function requireStatus(
  ctx: Context,
  { accountId, sessionId }: SessionRef,
  statusId: string,
  isOwn: boolean,
): Promise<StatusRow> {
  const row = await ctx.database.reader.kysely
    .selectFrom('statuses')
    .select(['network_id', 'from_number', 'audience'])
    .where('account_id', '=', accountId)
    .where('session_id', '=', sessionId)
    .where('status_id', '=', statusId)
    .where('is_own', '=', Number(isOwn))
    .executeTakeFirst();
  if (row === undefined) throw noSuch('status', statusId);
  return row;
}

/** @throws {AppError} `validation_failed` unless the person sees the own status, or has posted the other one */
function requireRole(person: string, { from_number, audience }: StatusRow, isOwn: boolean): void {
  if (!isOwn && person !== from_number) throw invalidField('from', 'is not the author of the status', 'author');
  // Unknown for a status that was posted on another device.
  if (isOwn && audience !== null && !(JSON.parse(audience) as string[]).includes(person))
    throw invalidField('from', 'is not one of the people who see the status', 'audience');
}
