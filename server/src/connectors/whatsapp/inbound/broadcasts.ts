import type { BinaryNode, WASocket } from 'baileys';
import { KeyedQueue } from '../../../async.ts';
import type { ChannelContent } from '../../contract/channels.ts';
import type { NetworkEvent } from '../../contract/events.ts';
import { toOwnId } from '../outbound/messageIds.ts';
import type { Addresses } from '../people/addresses.ts';
import type { Session } from '../session.ts';
import { openPlainFile } from './incomingFile.ts';
import { postOf } from './posts.ts';
import { idsOf } from './receipts.ts';

type Post = Extract<NetworkEvent, { type: 'channel_post' }>;

/** Receipts of somebody who has seen a status, and not only received it. */
const VIEWED: ReadonlySet<string> = new Set(['read', 'played']);

/**
 * Receives what is not for one chat: posts of channels, and views of the session's statuses. Statuses themselves are
 * encrypted like messages of a group, so `MessageReader` reads them from the journal. A session that does not want
 * statuses confirms them unread, before Baileys decrypts them.
 */
export class Broadcasts {
  readonly #session: Session;
  readonly #addresses: Addresses;
  readonly #channels = new KeyedQueue();

  /** Created after all others that listen to messages and receipts, because it decides which of them they see. */
  constructor(session: Session, addresses: Addresses) {
    this.#session = session;
    this.#addresses = addresses;
    session.link.on('socket', (socket) => this.#watch(socket));
  }

  #watch(socket: WASocket): void {
    const { baileys, host } = this.#session;
    const { ws, ev } = socket;
    const acknowledge = (node: BinaryNode) =>
      void socket
        .sendMessageAck(node)
        .catch((error: unknown) => host.log.debug({ err: error }, 'failed to acknowledge a stanza'));
    takeOver(ws, 'CB:message', (node, passOn) => {
      const { from } = node.attrs;
      if (from !== undefined && baileys.isJidStatusBroadcast(from) && host.options['statuses'] !== true)
        return acknowledge(node);
      if (!baileys.isJidNewsletter(from)) return passOn();
      if (host.options['channels'] !== true) return acknowledge(node);
      // Not by Baileys, which confirms a post before it is stored.
      void this.#receivePost(node).then((isStored) => {
        if (isStored) acknowledge(node);
      });
    });
    takeOver(ws, 'CB:receipt', (node, passOn) => {
      const { from, type = '' } = node.attrs;
      if (from === undefined || !baileys.isJidStatusBroadcast(from) || !VIEWED.has(type)) return passOn();
      void this.#reportViews(node).then((isStored) => {
        if (isStored) passOn();
      });
    });
    ev.on('newsletter.view', ({ id: channel, server_id: serverId, count: views }) =>
      this.#session.reporter.reportInOrder({ type: 'channel_figures', channel, serverId, views }),
    );
  }

  /** @returns whether it is stored, or has no content for people. The server repeats one that is not confirmed. */
  async #receivePost(node: BinaryNode): Promise<boolean> {
    try {
      await this.#reportPost(node);
      return true;
    } catch (error) {
      this.#session.host.log.warn({ err: error, post: node.attrs['id'] }, 'failed to report a post');
      return false;
    }
  }

  /** @throws {Error} the session ended before the post was stored */
  async #reportPost(node: BinaryNode): Promise<void> {
    const post = postOf(this.#session.baileys, node);
    if (post === undefined || post.content === undefined) return;
    const { from: channel = '' } = node.attrs;
    const { file, content, ...about } = post;
    const open = file && (() => openPlainFile(this.#session, file));
    const withFile: ChannelContent =
      file && open
        ? { ...content, media: { mimeType: file.mimeType, size: file.size, fileName: null, open } }
        : content;
    const event: Post = {
      type: 'channel_post',
      channel,
      ...about,
      networkId: toOwnId(post.networkId),
      content: withFile,
    };
    await this.#channels.run(channel, () => this.#storePost(event, content));
  }

  /** The file may be gone or too large: then the post arrives without it. */
  async #storePost(event: Post, withoutFile: ChannelContent): Promise<void> {
    const { host, reporter } = this.#session;
    if (event.content.media !== undefined) {
      try {
        return await host.onEvent(event);
      } catch (error) {
        host.log.warn({ err: error, post: event.networkId }, 'failed to store the file of a post; storing it without');
      }
    }
    await reporter.require({ ...event, content: withoutFile });
  }

  /** @returns false if the session ended before they were stored */
  async #reportViews(node: BinaryNode): Promise<boolean> {
    const { baileys, host, reporter } = this.#session;
    const { participant, participant_pn: number, t } = node.attrs;
    if (participant === undefined || this.#session.self.is(participant)) return true;
    try {
      const from = await this.#addresses.digitsOf(participant, number);
      const timestamp = t === undefined ? host.clock.now() : Number(t) * 1000;
      for (const id of idsOf(node))
        await reporter.require({ type: 'status_viewed', networkId: toOwnId(id), from, timestamp });
      return true;
    } catch (error) {
      host.log.warn({ err: error, viewer: baileys.jidNormalizedUser(participant) }, 'failed to report a view');
      return false;
    }
  }
}

/** Puts a listener before all others of an event, which get the event only if it passes it on. */
function takeOver(
  ws: WASocket['ws'],
  event: 'CB:message' | 'CB:receipt',
  listener: (node: BinaryNode, passOn: () => void) => void,
): void {
  const listeners = ws.listeners(event);
  ws.removeAllListeners(event);
  ws.on(event, (node: BinaryNode) =>
    listener(node, () => {
      for (const each of listeners) each.call(ws, node);
    }),
  );
}
