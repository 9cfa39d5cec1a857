import type {
  ChannelContent,
  ChannelSimulation,
  MessageContent,
  StatusContent,
  StatusSimulation,
} from '../connectors/connector.ts';
import { invalidField, noSuch } from '../errors.ts';
import type { Context } from '../invoke/operation.ts';
import type { SessionRef } from '../messages/store.ts';
import { findChannel } from './channels.ts';

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
      const networkId = await networkIdOfStatus(ctx, session, statusId, action !== 'status_delete');
      const of = { from: from(), networkId };
      return action === 'status_react'
        ? { action, ...of, emoji: needed('emoji', given.emoji) || null }
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

/** @throws {AppError} `not_found` unless the session has the status, its own or somebody else's */
async function networkIdOfStatus(
  ctx: Context,
  { accountId, sessionId }: SessionRef,
  statusId: string,
  isOwn: boolean,
): Promise<string> {
  const row = await ctx.database.reader.kysely
    .selectFrom('statuses')
    .select('network_id')
    .where('account_id', '=', accountId)
    .where('session_id', '=', sessionId)
    .where('status_id', '=', statusId)
    .where('is_own', '=', Number(isOwn))
    .executeTakeFirst();
  if (row === undefined) throw noSuch('status', statusId);
  return row.network_id;
}
