import type { Database } from '../db/database.ts';
import type { ChannelPostTable, ChannelTable, StatusTable } from '../db/schema.ts';
import type { PostState } from '../db/tables/broadcasts.ts';
import { AppError } from '../errors.ts';
import type { Media } from '../media/media.ts';
import { confirmPost, postMedia } from '../messages/broadcasts/channels.ts';
import { contentWithLeftOut, STATUS_MS, statusContent } from '../messages/broadcasts/statuses.ts';
import { toNetworkMedia } from '../messages/content.ts';
import type { SessionRef } from '../messages/store.ts';
import type { LiveSessions } from '../sessions/liveSessions.ts';
import { countSends, requireQuota, type SendQuota } from './quota.ts';

interface Options {
  readonly database: Database;
  readonly media: Media;
  readonly live: LiveSessions;
}

/**
 * Posts statuses, and posts in channels. Like a message, a post is stored before the network gets it. Unlike a message,
 * it never waits: if the server dies before the network's answer, it stays `sending`.
 */
export class Posts {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /**
   * Refuses a post before the caller prepares its file.
   * @throws {MovedError} another node owns the session
   * @throws {AppError} `session_not_connected`, `not_supported`, `quota_exceeded`
   */
  async requirePostable(session: SessionRef, part: 'status' | 'channels', quota?: SendQuota): Promise<void> {
    const { database, live } = this.#options;
    await live.require(session);
    await live.part(session, part);
    if (quota !== undefined) await requireQuota(database.reader, quota);
  }

  /**
   * @param row in the state `sending`. An earlier run of the request may have stored it.
   * @throws {AppError} `session_not_connected`, `not_supported`, `quota_exceeded`, `send_failed`, or the network's
   * error
   */
  async postStatus(session: SessionRef, row: StatusTable, quota?: SendQuota): Promise<StatusTable> {
    const { database, live, media } = this.#options;
    const actions = await live.part(session, 'status');
    const isNew = await this.#store(session, quota, (tx) =>
      tx.kysely
        .insertInto('statuses')
        .values(row)
        .onConflict((conflict) => conflict.doNothing())
        .returning('status_id')
        .executeTakeFirst(),
    );
    const stored = isNew ? row : await this.#findStatus(session, row.status_id);
    if (stored.state === 'sent') return stored;
    const settle = (change: Partial<StatusTable>) =>
      database.commit(
        ({ kysely }) =>
          kysely
            .updateTable('statuses')
            .set(change)
            .where('account_id', '=', session.accountId)
            .where('status_id', '=', row.status_id)
            .execute(),
        session.sessionId,
      );
    const { media: file, leftOut: _, ...content } = statusContent(stored);
    const audience: string[] = JSON.parse(stored.audience ?? '[]');
    const posting = actions.post({
      networkId: stored.network_id,
      content: {
        type: stored.type,
        text: stored.body,
        ...content,
        ...(file && { media: toNetworkMedia(file, media) }),
      },
      audience,
    });
    const accepted = await this.#settled(session, posting, settle);
    const { timestamp, networkId = stored.network_id, leftOut = [] } = accepted;
    const sent = {
      state: 'sent',
      error: null,
      timestamp,
      expires_at: timestamp + STATUS_MS,
      network_id: networkId,
      content: contentWithLeftOut(stored, leftOut),
    } as const;
    await settle(sent);
    return { ...stored, ...sent };
  }

  /** Posts to a channel of the session. See `postStatus`. */
  async postToChannel(
    session: SessionRef,
    { network_id: channel }: ChannelTable,
    row: ChannelPostTable,
    quota?: SendQuota,
  ): Promise<ChannelPostTable> {
    const { database, live, media } = this.#options;
    const actions = await live.part(session, 'channels');
    const isNew = await this.#store(session, quota, (tx) =>
      tx.kysely
        .insertInto('channel_posts')
        .values(row)
        .onConflict((conflict) => conflict.doNothing())
        .returning('post_id')
        .executeTakeFirst(),
    );
    const stored = isNew ? row : await this.#findPost(session, row.post_id);
    if (stored.state === 'sent') return stored;
    const settle = (change: Partial<ChannelPostTable>) =>
      database.commit(
        ({ kysely }) =>
          kysely
            .updateTable('channel_posts')
            .set(change)
            .where('account_id', '=', session.accountId)
            .where('post_id', '=', row.post_id)
            .execute(),
        session.sessionId,
      );
    const file = postMedia(stored);
    const posting = actions.post({
      networkId: stored.network_id,
      channel,
      content: { type: stored.type, text: stored.body, ...(file && { media: toNetworkMedia(file, media) }) },
    });
    const accepted = await this.#settled(session, posting, settle);
    const sent = await database.commit((tx) => confirmPost(tx, stored, accepted), session.sessionId);
    return { ...stored, ...sent };
  }

  /** Stores a post and counts it, unless it is stored already. */
  #store(
    { sessionId }: SessionRef,
    quota: SendQuota | undefined,
    insert: (tx: Parameters<Parameters<Database['commit']>[0]>[0]) => Promise<object | undefined>,
  ): Promise<boolean> {
    return this.#options.database.commit(async (tx) => {
      const isNew = (await insert(tx)) !== undefined;
      if (isNew && quota !== undefined) await countSends(tx, quota, 1);
      return isNew;
    }, sessionId);
  }

  /** Waits for the network's answer, and marks the post as failed if that is an error. */
  async #settled<T>(
    session: SessionRef,
    posting: Promise<T>,
    settle: (change: { state: PostState; error: string }) => Promise<unknown>,
  ): Promise<T> {
    try {
      return await this.#options.live.track(session, posting);
    } catch (error) {
      const reason = error instanceof AppError ? error.message : 'The server failed while it posted this';
      await settle({ state: 'failed', error: reason });
      throw error;
    }
  }

  async #findStatus({ accountId }: SessionRef, statusId: string): Promise<StatusTable> {
    const row = await this.#options.database.reader.kysely
      .selectFrom('statuses')
      .selectAll()
      .where('account_id', '=', accountId)
      .where('status_id', '=', statusId)
      .executeTakeFirst();
    if (row === undefined) throw new AppError('not_found', `The status ${statusId} was deleted meanwhile`);
    return row;
  }

  async #findPost({ accountId }: SessionRef, postId: string): Promise<ChannelPostTable> {
    const row = await this.#options.database.reader.kysely
      .selectFrom('channel_posts')
      .selectAll()
      .where('account_id', '=', accountId)
      .where('post_id', '=', postId)
      .executeTakeFirst();
    if (row === undefined) throw new AppError('not_found', `The post ${postId} was deleted meanwhile`);
    return row;
  }
}
