import { Type } from 'typebox';
import { isoTime } from '../../clock.ts';
import { MAX_SEND_MS } from '../../cluster/forward.ts';
import { query } from '../../db/query.ts';
import type { StatusTable } from '../../db/schema.ts';
import { AppError, invalidField, noSuch } from '../../errors.ts';
import { messageContent, OptionalContent } from '../../events/fields.ts';
import { ContentHidden } from '../../events/parts.ts';
import {
  boolean,
  IdempotencyKey,
  integer,
  list,
  named,
  object,
  oneOf,
  onlyTrue,
  optional,
  orNull,
  string,
  time,
} from '../../invoke/input/fields.ts';
import { COLOR } from '../../invoke/input/patterns.ts';
import { PhoneNumberInput, PhoneNumberList } from '../../invoke/input/phoneNumbers.ts';
import { ref } from '../../invoke/input/references.ts';
import { type Context, defineOperation, isContentHidden } from '../../invoke/operation.ts';
import { keysOf, pageInput, pageOf, readPage } from '../../invoke/pages.ts';
import { requireRecipient } from '../../invoke/recipients.ts';
import {
  emitDeleted,
  MAX_LEFT_OUT,
  STATUS_MS,
  type StoredStatus,
  statusContent,
} from '../../messages/broadcasts/statuses.ts';
import type { SessionRef } from '../../messages/store.ts';
import { type FileOf, mediaReader, PostedMedia } from '../messages/mediaFields.ts';
import { quotaOf } from '../messages/send.ts';
import { fileErrors } from '../messages/sending.ts';
import {
  isOfSessions,
  ListedSessionId,
  listedSessions,
  OptionalSessionId,
  SessionId,
} from '../shared/sessionFields.ts';
import { resolveSessionOf, SessionOfId } from '../shared/sessionOf.ts';
import { contentInput, fileToPost, requirePostContent } from './postContent.ts';

const StatusId = string('Id of the status (`sts_…`).', { ...ref('status'), maxLength: 100 });
const types = ['text', 'image', 'video', 'voice'] as const;
const MAX_AUDIENCE = 1000;

const Status = named('Status', {
  statusId: StatusId,
  sessionId: SessionId,
  from: string('Phone number digits of the person who posted it.'),
  fromMe: boolean("Whether the session's own number posted it."),
  type: oneOf(types, 'Type of the status.'),
  message: string('Text, or caption of the file.', messageContent),
  media: OptionalContent(PostedMedia),
  backgroundColor: optional(string('Color behind a text, such as `#1F6F5C`.')),
  font: optional(integer("The network's number of the font of a text.")),
  state: oneOf(
    ['sending', 'sent', 'failed'],
    '`sending`: the network has not confirmed it. If the server stopped meanwhile, it may or may not be visible.',
  ),
  error: orNull(Type.String(), 'Why it could not be posted, as a sentence; null if there was no error.'),
  leftOut: optional(
    object('People in the audience who cannot see the status: the network has no address or no keys for them.', {
      count: integer('Number of people.'),
      phoneNumbers: list(Type.String(), `Phone number digits of up to ${MAX_LEFT_OUT} of them.`),
    }),
  ),
  views: integer('How many people have viewed it; 0 for statuses of others.'),
  timestamp: time('When it was posted.'),
  expiresAt: time('When it disappears.'),
  viewedAt: orNull(time(), 'When the session marked it as viewed; null if it did not.'),
  contentHidden: ContentHidden,
});

/** For operations on one status, which the node of its session runs. */
const ofStatus = { statusId: StatusId, sessionId: SessionOfId };

export const postStatus = defineOperation({
  id: 'status.post',
  route: 'POST /status',
  owner: { field: 'sessionId' },
  permission: 'messages:send',
  scope: 'sessionId',
  reachesStrangers: true,
  effect: 'write',
  messageContent: 'messages',
  status: 201,
  idempotent: true,
  // Fetching a file from a URL may take a minute before the post.
  deadlineMs: MAX_SEND_MS + 65_000,
  uses: ['posts', 'media', 'preparation'],
  summary: 'Post a status',
  description: `Post a status (story), which disappears after 24 hours: a text, or with \`type\` a file from \`mediaId\`, \`url\` or \`content\`. The people in \`phoneNumbers\` see it, or all contacts of the session that are not blocked, up to ${MAX_AUDIENCE}. On WhatsApp, people who have not saved the number do not see its statuses.`,
  input: {
    sessionId: OptionalSessionId,
    ...contentInput(types, 'status', 4096),
    backgroundColor: optional(string('Color behind a text or a voice message, such as `#1F6F5C`.', { pattern: COLOR })),
    font: optional(integer("The network's number of the font of a text.", { minimum: 0, maximum: 20 })),
    phoneNumbers: optional(
      PhoneNumberList(`The people who see it, up to ${MAX_AUDIENCE}; all contacts if left out.`, {
        minItems: 1,
        maxItems: MAX_AUDIENCE,
      }),
    ),
    idempotencyKey: IdempotencyKey,
  },
  output: Status,
  errors: [
    'not_found',
    'session_required',
    'session_not_connected',
    'not_supported',
    'network_denied',
    'send_failed',
    ...fileErrors,
    'quota_exceeded',
  ],
  example: { message: 'We are open on Sunday', backgroundColor: '#1F6F5C' },
  async run(ctx, input) {
    const { session } = ctx;
    const { type = 'text', message, backgroundColor, font } = input;
    requirePostContent(input, types);
    if (type !== 'text' && font !== undefined) throw invalidField('font', 'is only for a text', 'unknown');
    const audience = await audienceOf(ctx, session, input.phoneNumbers);
    const quota = quotaOf(ctx);
    await ctx.posts.requirePostable(session, 'status', quota);
    const file = await fileToPost(ctx, session, input);
    const content: StoredStatus = {
      ...(file && { media: file }),
      ...(backgroundColor !== undefined && { backgroundColor: backgroundColor.toUpperCase() }),
      ...(font !== undefined && { font }),
    };
    const id = ctx.resourceId ?? ctx.newId('sts').slice('sts_'.length);
    const now = ctx.clock.now();
    const row = await ctx.posts.postStatus(
      session,
      {
        account_id: session.accountId,
        session_id: session.sessionId,
        status_id: `sts_${id}`,
        network_id: `msg_${id}`,
        from_number: await numberOf(ctx, session),
        is_own: 1,
        type,
        body: message ?? '',
        content: Object.keys(content).length === 0 ? null : JSON.stringify(content),
        audience: JSON.stringify(audience),
        state: 'sending',
        error: null,
        timestamp: now,
        expires_at: now + STATUS_MS,
        viewed_at: null,
        media_id: file?.mediaId ?? null,
      },
      quota,
    );
    return toStatus(ctx, row, 0, await mediaReader(ctx, [statusContent(row)]));
  },
  async readStored(ctx) {
    const row = await ctx.database.reader.kysely
      .selectFrom('statuses')
      .selectAll()
      .where('account_id', '=', ctx.accountId)
      .where('status_id', '=', `sts_${ctx.resourceId}`)
      .executeTakeFirst();
    return row && toStatus(ctx, row, 0, await mediaReader(ctx, [statusContent(row)]));
  },
});

export const listStatuses = defineOperation({
  id: 'status.list',
  route: 'GET /status',
  permission: 'messages:read',
  scope: 'filtered',
  effect: 'read',
  thirdPartyText: true,
  messageContent: 'messages',
  uses: ['media'],
  summary: 'List statuses',
  description:
    'List the statuses (stories) that have not expired, newest first: own ones, and those of others for sessions with the option `statuses`.',
  input: {
    sessionId: ListedSessionId,
    phoneNumber: optional(PhoneNumberInput('Only those of this person.')),
    by: optional(oneOf(['me', 'others'], 'Only own statuses, or only those of others.')),
    ...pageInput,
  },
  output: pageOf(Status),
  errors: ['not_found'],
  async run(ctx, input) {
    const sessionIds = await listedSessions(ctx, input.sessionId);
    const own = ctx.database.longReader.kysely.selectFrom('statuses').where('account_id', '=', ctx.accountId);
    let present = own.selectAll().where(isOfSessions(ctx, sessionIds)).where('expires_at', '>', ctx.clock.now());
    if (input.phoneNumber !== undefined) present = present.where('from_number', '=', input.phoneNumber);
    if (input.by !== undefined) present = present.where('is_own', '=', Number(input.by === 'me'));
    const show = async (rows: readonly StatusTable[]) => {
      const ids = JSON.stringify(rows.flatMap((row) => (row.is_own === 1 ? row.status_id : [])));
      const counted = await viewsOf.all(ctx.database.longReader, { accountId: ctx.accountId, ids });
      const views = new Map(counted.map(({ status_id, count }) => [status_id, Number(count)]));
      const fileOf = await mediaReader(ctx, rows.map(statusContent));
      return rows.map((row) => toStatus(ctx, row, views.get(row.status_id) ?? 0, fileOf));
    };
    return readPage('statuses', present, 'status_id', input, show, 'desc', keysOf(own, 'status_id'));
  },
});

export const deleteStatus = defineOperation({
  id: 'status.delete',
  route: 'DELETE /status/{statusId}',
  owner: { field: 'statusId' },
  permission: 'messages:delete',
  scope: 'statusId',
  effect: 'destructive',
  uses: ['emit'],
  summary: 'Delete a status',
  description: 'Delete an own status, which was posted with this API, for everybody who can see it.',
  input: ofStatus,
  output: object({ statusId: StatusId, deleted: onlyTrue() }),
  errors: ['not_found', 'session_not_connected', 'not_supported', 'network_denied', 'send_failed'],
  async run(ctx, input) {
    const { session, row } = await namedStatus(ctx, input);
    if (row.is_own === 0) throw new AppError('network_denied', 'Only its author can delete a status');
    if (row.audience === null)
      throw new AppError('not_supported', 'The status was posted on another device of the account; delete it there');
    const audience: string[] = JSON.parse(row.audience);
    for (const person of audience) requireRecipient(ctx, person);
    if (row.state !== 'failed') {
      const actions = await ctx.liveSessions.part(session, 'status');
      await actions.remove(row.network_id, audience);
    }
    await ctx.database.commit(async (tx) => {
      const { numDeletedRows } = await tx.kysely
        .deleteFrom('statuses')
        .where('account_id', '=', ctx.accountId)
        .where('status_id', '=', row.status_id)
        .executeTakeFirst();
      if (Number(numDeletedRows) > 0) await emitDeleted(ctx, tx, row, ctx.clock.now());
    }, session.sessionId);
    return { statusId: row.status_id, deleted: true as const };
  },
});

export const listViews = defineOperation({
  id: 'status.views',
  route: 'GET /status/{statusId}/views',
  permission: 'messages:read',
  scope: 'statusId',
  effect: 'read',
  messageContent: 'messages',
  summary: 'List the views of a status',
  description: 'List the people who have viewed an own status, with their reactions, ordered by phone number.',
  input: { ...ofStatus, ...pageInput },
  output: pageOf(
    object({
      phoneNumber: string('Phone number digits of the person.'),
      emoji: Type.Union([Type.String(), Type.Null()], {
        description: 'Emoji of the reaction; null if there is none.',
        ...messageContent,
      }),
      viewedAt: time('When the person viewed it.'),
    }),
  ),
  errors: ['not_found'],
  async run(ctx, input) {
    const { status_id } = (await namedStatus(ctx, input)).row;
    const views = ctx.database.reader.kysely
      .selectFrom('status_views')
      .select(['phone_number', 'emoji', 'viewed_at'])
      .where('account_id', '=', ctx.accountId)
      .where('status_id', '=', status_id);
    const show = (rows: readonly { phone_number: string; emoji: string | null; viewed_at: number }[]) =>
      rows.map((row) => ({
        phoneNumber: row.phone_number,
        emoji: isContentHidden(ctx, 'messages') ? null : row.emoji,
        viewedAt: isoTime(row.viewed_at),
      }));
    return readPage('status_views', views, 'phone_number', input, show, 'asc');
  },
});

export const markViewed = defineOperation({
  id: 'status.mark_viewed',
  route: 'POST /status/{statusId}/viewed',
  approval: 'free',
  owner: { field: 'statusId' },
  permission: 'chats:write',
  scope: 'statusId',
  effect: 'write',
  isRepeatable: true,
  summary: 'Mark a status as viewed',
  description: 'Tell the author of a status that the session has viewed it.',
  input: ofStatus,
  output: object({ statusId: StatusId, viewedAt: time('When it was first marked as viewed.') }),
  errors: ['not_found', 'session_not_connected', 'not_supported', 'send_failed'],
  async run(ctx, input) {
    const { session, row } = await namedStatus(ctx, input);
    const { status_id: statusId } = row;
    if (row.is_own === 1) throw invalidField('statusId', 'The session itself posted this status');
    if (row.viewed_at !== null) return { statusId, viewedAt: isoTime(row.viewed_at) };
    requireRecipient(ctx, row.from_number);
    const actions = await ctx.liveSessions.part(session, 'status');
    await actions.markViewed([{ networkId: row.network_id, from: row.from_number }]);
    const now = ctx.clock.now();
    await ctx.database.commit(
      ({ kysely }) =>
        kysely
          .updateTable('statuses')
          .set({ viewed_at: now })
          .where('account_id', '=', ctx.accountId)
          .where('status_id', '=', statusId)
          .execute(),
      session.sessionId,
    );
    return { statusId, viewedAt: isoTime(now) };
  },
});

/** The number of a session. @throws {AppError} `session_not_connected` */
async function numberOf(ctx: Context, session: SessionRef): Promise<string> {
  return (await ctx.liveSessions.require(session)).phoneNumber;
}

/** @throws {AppError} `validation_failed`, or `permission_denied` if the key may not write to one of the people */
async function audienceOf(
  ctx: Context,
  session: SessionRef,
  given: readonly string[] | undefined,
): Promise<readonly string[]> {
  const numbers = [...(given ?? [])];
  if (given === undefined) {
    const contacts = await reachableContacts.all(ctx.database.reader, { ...session, most: MAX_AUDIENCE + 1 });
    numbers.push(...contacts.map(({ phone_number }) => phone_number));
    if (numbers.length > MAX_AUDIENCE)
      throw invalidField(
        'phoneNumbers',
        `is required, because the session has more than ${MAX_AUDIENCE} contacts`,
        'required',
      );
    if (numbers.length === 0)
      throw invalidField(
        'phoneNumbers',
        'is required, because the session has no contacts, apart from those that are blocked or not on the network',
        'required',
      );
  }
  for (const number of numbers) requireRecipient(ctx, number);
  return [...new Set(numbers)];
}

/**
 * The status that an input names, and its session.
 * @throws {AppError} `not_found`
 */
async function namedStatus(ctx: Context, { statusId, sessionId }: { statusId: string; sessionId?: string }) {
  const session = await resolveSessionOf(ctx, 'status', statusId, sessionId);
  const row = await ctx.database.reader.kysely
    .selectFrom('statuses')
    .selectAll()
    .where('account_id', '=', session.accountId)
    .where('session_id', '=', session.sessionId)
    .where('status_id', '=', statusId)
    .where('expires_at', '>', ctx.clock.now())
    .executeTakeFirst();
  if (row === undefined) throw noSuch('status', statusId);
  return { session, row };
}

function toStatus(ctx: Context, row: StatusTable, views: number, fileOf: FileOf) {
  const isHidden = isContentHidden(ctx, 'messages');
  const { media, ...shown } = isHidden ? {} : statusContent(row);
  return {
    statusId: row.status_id,
    sessionId: row.session_id,
    from: row.from_number,
    fromMe: row.is_own === 1,
    type: row.type,
    message: isHidden ? '' : row.body,
    ...(media && { media: fileOf({ media }).media }),
    ...shown,
    state: row.state,
    error: row.error,
    views,
    timestamp: isoTime(row.timestamp),
    expiresAt: isoTime(row.expires_at),
    viewedAt: isoTime(row.viewed_at),
    ...(isHidden && { contentHidden: true as const }),
  };
}

const viewsOf = query((db, p: { accountId: string; ids: string }, dialect) =>
  db
    .selectFrom('status_views')
    .select(({ fn }) => ['status_id', fn.countAll<number>().as('count')])
    .where('account_id', '=', p.accountId)
    .where('status_id', 'in', dialect.texts(p.ids))
    .groupBy('status_id'),
);

const reachableContacts = query((db, p: SessionRef & { most: number }) =>
  db
    .selectFrom('contacts')
    .select('phone_number')
    .where('account_id', '=', p.accountId)
    .where('session_id', '=', p.sessionId)
    .where('blocked', '=', 0)
    .where((eb) => eb.or([eb('on_network', 'is', null), eb('on_network', '=', 1)]))
    .limit(p.most),
);
