import { Type } from 'typebox';
import { isoTime } from '../../clock.ts';
import type { ToolCallTable } from '../../db/schema.ts';
import { noSuch } from '../../errors.ts';
import { integer, named, optional, orNull, record, string, time } from '../../invoke/input/fields.ts';
import { ref } from '../../invoke/input/references.ts';
import { type Context, defineOperation } from '../../invoke/operation.ts';
import { keysOf, pageInput, pageOf, readPage } from '../../invoke/pages.ts';

const ToolCall = named('ToolCall', {
  callId: string('Id of the call (`cal_…`).'),
  tool: string('Name of the tool, such as `messages_send`.'),
  arguments: record(
    Type.Unknown(),
    'Ids, recipients, choices, times and numbers as they were passed. Every other value is replaced by its size, such as `(24 characters)`.',
  ),
  outcome: string(
    '`ok`, or the code of the error. `pending_approval`: the message waits for a person; `confirmation_required`: the user was asked; `confirmation_declined`: the user did not agree.',
  ),
  durationMs: integer('Duration of the call in milliseconds.'),
  clientName: orNull(
    Type.String(),
    'Name of the client, which nothing verifies; null if its protocol version does not send it with the call.',
  ),
  clientVersion: orNull(Type.String(), 'Version of the client; null if its name is null or it sends none.'),
  requestId: string('Id of the request, as in the log of the server.'),
  createdAt: time('When the call ended.'),
});

export const listKeyCalls = defineOperation({
  id: 'api_keys.list_calls',
  route: 'GET /api-keys/{keyId}/calls',
  permission: 'account:read',
  scope: 'account',
  effect: 'read',
  summary: 'List the tool calls of an API key',
  description:
    'List the calls of agents with a key over MCP, newest first, without the content of messages. The calls of a revoked key stay listed until they are as old as events may get (`EVENT_RETENTION_DAYS`). Calls above the rate limit are not listed.',
  input: {
    keyId: string('Id of the key (`key_…`), which may be revoked.', { ...ref('other'), maxLength: 100 }),
    tool: optional(string('Only calls of this tool, such as `messages_send`.', { maxLength: 100 })),
    outcome: optional(
      string(
        'Only calls with this outcome: `ok`, `pending_approval`, `failed` for any error, or the code of an error.',
        {
          maxLength: 100,
        },
      ),
    ),
    ...pageInput,
  },
  output: pageOf(ToolCall),
  errors: ['not_found'],
  example: { keyId: 'key_01JZ0000000000000000000000', outcome: 'failed' },
  async run(ctx, { keyId, tool, outcome, ...page }) {
    const own = ctx.database.longReader.kysely
      .selectFrom('tool_calls')
      .selectAll()
      .where('account_id', '=', ctx.accountId)
      .where('key_id', '=', keyId);
    let calls = own;
    if (tool !== undefined) calls = calls.where('tool', '=', tool);
    if (outcome === 'failed') calls = calls.where('outcome', 'not in', ['ok', 'pending_approval']);
    else if (outcome !== undefined) calls = calls.where('outcome', '=', outcome);
    const show = (rows: readonly ToolCallTable[]) => rows.map(toCall);
    const passed = tool === undefined && outcome === undefined ? undefined : keysOf(own.clearSelect(), 'call_id');
    const found = await readPage('key_calls', calls, 'call_id', page, show, 'desc', passed);
    if (found.data.length === 0) await requireKey(ctx, keyId);
    return found;
  },
});

/** @throws {AppError} `not_found` unless the account has the key, or has had it and lists its calls */
async function requireKey({ database, accountId }: Context, keyId: string): Promise<void> {
  for (const table of ['api_keys', 'tool_calls'] as const) {
    const row = await database.reader.kysely
      .selectFrom(table)
      .select('key_id')
      .where('account_id', '=', accountId)
      .where('key_id', '=', keyId)
      .limit(1)
      .executeTakeFirst();
    if (row !== undefined) return;
  }
  throw noSuch('API key', keyId);
}

function toCall(row: ToolCallTable) {
  return {
    callId: row.call_id,
    tool: row.tool,
    arguments: JSON.parse(row.arguments) as Record<string, unknown>,
    outcome: row.outcome,
    durationMs: row.duration_ms,
    clientName: row.client_name,
    clientVersion: row.client_version,
    requestId: row.request_id,
    createdAt: isoTime(row.created_at),
  };
}
