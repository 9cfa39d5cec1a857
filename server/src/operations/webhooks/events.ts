import { Type } from 'typebox';
import { allows } from '../../auth/permissions.ts';
import { isoTime } from '../../clock.ts';
import { invalidField } from '../../errors.ts';
import { AddedFields, includes } from '../../events/addedFields.ts';
import { contractKinds, type Envelope, type EventKind, eventKinds, events } from '../../events/events.ts';
import { ContentHidden } from '../../events/parts.ts';
import {
  entries,
  integer,
  list,
  object,
  onlyTrue,
  openObject,
  optional,
  orNull,
  string,
  time,
  token,
  unnumbered,
} from '../../invoke/input/fields.ts';
import { type Context, defineOperation, isContentHidden, sessionsOf } from '../../invoke/operation.ts';
import { projector } from '../../invoke/project.ts';
import { isCursor, type LoggedEvent, type SelectedEvents } from '../../webhooks/log/eventLog.ts';
import { readUntil, waitInput } from '../shared/waiting.ts';
import { acceptedKinds, Kind } from './eventTypes.ts';

/** Value of `afterCursor` that skips all events so far. */
export const NOW = 'now';

const AfterCursor = string('`nextCursor` of the previous response, or `now`; without it, starts at the oldest event.', {
  ...token('exact'),
  maxLength: 60,
});
const EventTypes = list(
  Type.String(token('lowercase')),
  'Only these types, such as `message.*`; `*` for all. By default the first eight of `switchboard://event-kinds`.',
  { maxItems: 50, ...unnumbered },
);

export const listEvents = defineOperation({
  id: 'events.list',
  route: 'GET /events',
  permission: 'events:read',
  scope: 'filtered',
  messageContent: 'events',
  effect: 'read',
  tool: true,
  thirdPartyText: true,
  uses: ['waitingCalls', 'eventLog', 'filteredEventLog', 'addFields', 'feed'],
  summary: 'List events',
  description:
    "Read the account's events, oldest first, as webhooks receive them. Use it to catch up or to wait for a reply: pass `nextCursor` as `afterCursor`, and `wait` to hold the request until an event arrives.",
  input: {
    afterCursor: optional(AfterCursor),
    events: optional(EventTypes),
    limit: optional(integer('Number of events per response.', { minimum: 1, maximum: 200, default: 50 })),
    wait: waitInput('Seconds to wait for an event if there is none yet; up to 30.'),
  },
  output: object({
    data: entries('Events, oldest first.', {
      eventId: string('Id of the event (`evt_…`), which webhooks get as `X-Webhook-Id`.'),
      event: Kind,
      data: openObject('Data of the event, with all fields that `include` adds at a webhook.'),
      createdAt: time('When the event happened.'),
      sequence: integer(
        'Greater than that of all earlier events of the same chat; 0 for events stored before sequences existed.',
      ),
    }),
    nextCursor: orNull(
      Type.String(),
      'Pass it as `afterCursor` next time, even if `data` is empty: with `events` or a key of some sessions, a page can be short or empty even if more events follow. Null if there has never been an event.',
    ),
    truncated: optional(
      onlyTrue(
        'Present if the server was restored from a backup or failed over since `afterCursor`. Events after it may be gone, and `data` starts shortly before the restore, so it can repeat events.',
      ),
    ),
  }),
  errors: ['too_many'],
  async run(ctx, { afterCursor: start, events: types, limit = 50, wait = 0 }) {
    const after = start === NOW ? await ctx.eventLog.latest(ctx.accountId) : start;
    if (after !== undefined && !isCursor(after))
      throw invalidField(
        'afterCursor',
        'is not a cursor of the event log; pass `nextCursor` of the previous response, or `now`',
      );
    const wanted = wantedKinds(types);
    const resumed = after === undefined ? undefined : await ctx.eventLog.resume(after);
    const { ended } = ctx.eventLog;
    let position = resumed?.from;
    const read = async () => {
      const next = await readWanted(ctx, position, wanted, limit);
      position = next.cursor ?? position;
      return next;
    };
    const { events: stored } = await readUntil(ctx, wait, read, {
      isEnough: ({ events }) => events.length > 0,
      isBehind: ({ hasMore }) => hasMore,
    });
    const found = await ctx.addFields(ctx.accountId, stored, includes);
    const page = {
      data: found.map(({ eventId, kind, body, createdAt, sequence }) => ({
        eventId,
        event: kind,
        data: JSON.parse(visibleBody(ctx, 'events', kind, body)).data as Record<string, unknown>,
        createdAt: isoTime(createdAt),
        sequence,
      })),
      nextCursor: position ?? null,
      ...((resumed?.truncated || ended.aborted) && { truncated: true as const }),
      cursors: found.map(({ cursor }) => cursor),
    };
    return page;
  },
});

/** Reads of the log in one request that find only events of other types, before it returns what it has. */
const MOST_READS = 10;

/**
 * Reads events of the wanted types. The usual types are most of the log, so they are picked from bounded reads of all
 * of it. Other selections pass more events, which must not delay other requests.
 */
async function readWanted(
  ctx: Context<'eventLog' | 'filteredEventLog'>,
  after: string | undefined,
  kinds: readonly EventKind[] | undefined,
  limit: number,
): Promise<SelectedEvents> {
  const { accountId, eventLog, filteredEventLog } = ctx;
  const sessionIds = sessionsOf(ctx);
  if (kinds !== contractKinds || sessionIds !== undefined) {
    const log = kinds === undefined && sessionIds === undefined ? eventLog : filteredEventLog;
    return log.select(accountId, after, { kinds, sessionIds }, limit);
  }
  const events: LoggedEvent[] = [];
  let cursor = after;
  let hasMore = true;
  for (let reads = 0; hasMore && reads < MOST_READS && events.length < limit; reads++) {
    const read = await eventLog.read(accountId, cursor, limit);
    const kept = read.filter(({ kind }) => contractKinds.includes(kind)).slice(0, limit - events.length);
    events.push(...kept);
    cursor = (events.length === limit ? kept : read).at(-1)?.cursor ?? cursor;
    hasMore = read.length === limit;
  }
  return { events, cursor, hasMore };
}

/**
 * Returns the event types that a reader of the log gets; undefined for all.
 * @throws {AppError} `validation_failed` naming the field `events`
 */
export function wantedKinds(types: readonly string[] | undefined): readonly EventKind[] | undefined {
  const wanted = types === undefined || types.length === 0 ? contractKinds : acceptedKinds(types);
  return wanted.length === eventKinds.length ? undefined : wanted;
}

const contentless = new Map(
  eventKinds.map((kind) => {
    const shown = object({ ...AddedFields.properties, ...events[kind].data.properties, contentHidden: ContentHidden });
    return [kind as string, projector(shown, { hidesContent: true })];
  }),
);

/**
 * The body of an event as the caller may see it: without message content, the codes that link a phone, and the
 * session's name and metadata, unless the caller may.
 */
export function visibleBody(
  { caller }: Pick<Context, 'caller'>,
  resource: 'events' | 'webhooks',
  kind: string,
  body: string,
): string {
  const { permissions } = caller.credential;
  const hidesCodes = kind === 'session.status' && !allows(permissions, 'sessions:write');
  const hidden = [
    ...(hidesCodes ? ['qr', 'pairingCode', 'expiresAt'] : []),
    ...(allows(permissions, 'sessions:read') ? [] : ['session']),
  ];
  const shown = isContentHidden({ caller }, resource) ? withoutContent(kind, body) : body;
  return hidden.length === 0 ? shown : withoutFields(hidden, shown);
}

function withoutFields(names: readonly string[], body: string): string {
  const { event, data } = JSON.parse(body) as Envelope;
  return JSON.stringify({
    event,
    data: Object.fromEntries(Object.entries(data).filter(([name]) => !names.includes(name))),
  });
}

/** Nothing is left of an event type that is unknown here. */
function withoutContent(kind: string, body: string): string {
  const { event, data } = JSON.parse(body) as Envelope;
  return JSON.stringify({ event, data: contentless.get(kind)?.(data) ?? {} });
}
