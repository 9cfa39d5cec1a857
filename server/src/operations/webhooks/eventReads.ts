import { Type } from 'typebox';
import { includes } from '../../events/addedFields.ts';
import { integer, openObject, optional, orNull } from '../../invoke/input/fields.ts';
import { defineOperation } from '../../invoke/operation.ts';
import { type Reading, readSelected, type Start, startOf } from './eventPositions.ts';
import { selectionInput, selectionOf } from './eventSelection.ts';

/*
 * Reads of events of one type, for `events/poll` and `events/stream` of MCP. These operations are not in the table:
 * they have no route of their own.
 */

export const positionInput = {
  cursor: optional(orNull(Type.String({ maxLength: 60 }), 'Cursor; starts now without one.')),
  maxAgeMs: optional(integer('Skips events that are older.', { minimum: 0 })),
};

const reading = {
  route: 'POST /mcp',
  permission: 'events:read',
  scope: 'filtered',
  messageContent: 'events',
  effect: 'read',
  thirdPartyText: true,
} as const;

export type Polled = Reading & Pick<Start, 'truncated'>;

export const pollEvents = defineOperation({
  ...reading,
  id: 'events.poll',
  uses: ['eventLog', 'filteredEventLog', 'addFields'],
  summary: 'Poll events',
  input: {
    ...selectionInput,
    ...positionInput,
    maxEvents: integer('Number of events.', { minimum: 1, maximum: 100, default: 20 }),
  },
  output: openObject('`Polled`.'),
  async run(ctx, { cursor, maxAgeMs, maxEvents, ...selection }): Promise<Polled> {
    const selected = await selectionOf(ctx, selection);
    const { from, truncated } = await startOf(ctx, cursor, maxAgeMs);
    // Without a cursor, a client only learns where it is.
    if (cursor === undefined || cursor === null) return { events: [], cursor: from, hasMore: false, truncated };
    const found = await readSelected(ctx, selected, from, maxEvents);
    const events = await ctx.addFields(ctx.accountId, found.events, includes);
    return { ...found, events, truncated };
  },
});

export type Opened = Start & { readonly selected: Awaited<ReturnType<typeof selectionOf>> };

export const openEvents = defineOperation({
  ...reading,
  id: 'events.open_stream',
  uses: ['eventLog'],
  summary: 'Open a stream of events',
  input: { ...selectionInput, ...positionInput },
  output: openObject('`Opened`.'),
  async run(ctx, { cursor, maxAgeMs, ...selection }): Promise<Opened> {
    return { selected: await selectionOf(ctx, selection), ...(await startOf(ctx, cursor, maxAgeMs)) };
  },
});
