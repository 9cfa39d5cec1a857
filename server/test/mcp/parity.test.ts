import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createLog } from '../../src/log.ts';
import { operations } from '../../src/operations/index.ts';
import { type Receiver, startReceiver } from '../support/connections/receiver.ts';
import { callTool, mcpClient } from '../support/mcp/mcp.ts';
import { type Run, walkTools } from '../support/mcp/toolWalk.ts';
import { picture, upload } from '../support/media/media.ts';
import { requestOf } from '../support/operations/restRequest.ts';
import { type Call, startServer } from '../support/server.ts';

interface Line {
  readonly operation?: string;
  readonly channel?: string;
  readonly [field: string]: unknown;
}

interface Walk {
  readonly outputs: readonly [id: string, output: unknown][];
  readonly lines: readonly Line[];
}

it('every tool returns the result of its REST operation or its receipt, marked if untrusted, and writes the same log line', async () => {
  const receiver = await startReceiver();
  const bytes = picture();
  const rest = await walk(receiver, bytes, async ({ call }) => async (id, input = {}) => {
    const { method, path, body } = requestOf(id, input);
    const answer = await call(method, path, body);
    assert.ok(answer.status < 300, `${id}: ${JSON.stringify(answer.body)}`);
    const receipt: readonly string[] | undefined = operations.find((operation) => operation.id === id)?.receipt;
    if (receipt === undefined) return id.startsWith('events.') ? answer.body : withoutHidden(answer.body);
    return Object.fromEntries(Object.entries(answer.body).filter(([name]) => receipt.includes(name)));
  });
  const mcp = await walk(receiver, bytes, async ({ url, key }) => {
    const client = await mcpClient({ url }, key, '2026-07-28');
    return async (id, input) => {
      const { isError, output } = await callTool(client, id.replaceAll('.', '_'), input);
      assert.ok(!isError, `${id}: ${JSON.stringify(output)}`);
      const { thirdPartyText: _, ...same } = output;
      return same;
    };
  });
  await receiver.close();

  assert.equal(rest.outputs.length, operations.filter(({ tool }) => tool).length);
  const [named, namedMcp] = [withoutChance(rest.outputs), withoutChance(mcp.outputs)];
  for (const [index, expected] of named.entries()) assert.deepEqual(namedMcp[index], expected);
  assert.deepEqual(linesOf(mcp, 'mcp'), linesOf(rest, 'rest'));
});

/** Calls all tools on a server of its own, and keeps results and log lines. */
async function walk(
  receiver: Receiver,
  bytes: Buffer,
  door: (server: { url: string; key: string; call: Call }) => Promise<Run>,
): Promise<Walk> {
  const lines: Line[] = [];
  const log = createLog('info', { write: (line: string) => void lines.push(JSON.parse(line)) });
  const server = await startServer({ log });
  const { call, token } = await server.account();
  const key = (await call('POST', '/api-keys/create', { name: 'parity' })).body.key as string;
  const { mediaId } = (await upload(server, token, bytes)).body;
  const simulate = (sessionId: string, action: object) => call('POST', `/sessions/${sessionId}/simulate`, action);
  const byKey: Call = (method, path, body) => server.call(method, path, body, { authorization: `Bearer ${key}` });
  const run = await door({ url: server.url, key, call: byKey });
  const outputs: [string, unknown][] = [];
  const seen = receiver.deliveries.length;
  lines.length = 0;
  await walkTools(
    async (id, input) => {
      const output = await run(id, input);
      outputs.push([id, output]);
      return output;
    },
    {
      phoneNumber: '491701111111',
      receiverUrl: receiver.url,
      mediaId,
      pair: async (sessionId) => void (await simulate(sessionId, { action: 'pair' })),
      write: async (sessionId, from) => void (await simulate(sessionId, { action: 'incoming', from, message: 'hi' })),
      arrived: () => receiver.waitFor(seen + 1),
    },
  );
  await server.stop();
  return { outputs, lines };
}

/** Fields that only programs get. */
const HIDDEN = [
  ...['networkId', 'networkChatId', 'networkGroupId', 'toNumber'],
  ...['markedUnread', 'disappearingSeconds', 'labelIds', 'starred', 'pinnedUntil'],
  ...['memberAdd', 'history', 'network', 'savedName', 'pushName'],
  ...['linkedAt', 'lastDay', 'lastHour', 'startedChats'],
  ...['width', 'height', 'durationSeconds', 'waveform', 'hasThumbnail', 'createdByKeyId'],
];

/** The output without what an agent does not get: ids of the network, and what a preview repeats. */
function withoutHidden(value: unknown, isPreview = false): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutHidden(item));
  if (typeof value !== 'object' || value === null) return value;
  // The metadata of chats, not that of sessions.
  const isOfChat = Object.hasOwn(value, 'lastMessage');
  const isShown = (name: string) =>
    !HIDDEN.includes(name) &&
    !(isOfChat && name === 'metadata') &&
    !(isPreview && ['chatId', 'sessionId'].includes(name));
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => isShown(name))
      .map(([name, member]) => [name, withoutHidden(member, name === 'lastMessage')]),
  );
}

/** Replaces random and time-dependent values by names: ids, numbers, times, durations, signatures. */
function withoutChance(outputs: Walk['outputs']): Walk['outputs'] {
  const names = new Map<string, string>();
  const nameOf = (value: string, kind: string) => {
    const known = names.get(value) ?? `${kind} ${names.size}`;
    names.set(value, known);
    return known;
  };
  const plain = (value: unknown, field = ''): unknown => {
    // One entry per minute, so two if a minute ends during the walk.
    if (field === 'series') return typeof value;
    if (Array.isArray(value)) return value.map((item) => plain(item));
    if (typeof value === 'object' && value !== null)
      return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member, name)]));
    if (/Ms$|^ms$|latency|p50|p95|p99|duration/i.test(field)) return typeof value;
    if (['sequence', 'code', 'qr', 'inviteCode', 'inviteLink', 'prefix', 'nextCursor'].includes(field))
      return typeof value;
    if (typeof value !== 'string') return value;
    if (/signature|timestamp|sequence/i.test(field)) return typeof value;
    return value
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'a moment')
      .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'an id of the network')
      .replace(/[a-z]{3}_[0-9A-Z]{26}/g, (id) => nameOf(id, id.slice(0, 3)));
  };
  return outputs.map(([id, output]) => [id, plain(output)]);
}

/** The log lines of one interface, in order, without random and time-dependent values. */
function linesOf({ lines }: Walk, channel: string): unknown[] {
  return lines
    .filter((line) => line.operation !== undefined && line.operation !== 'sessions.simulate')
    .map(({ time: _time, ms: _ms, requestId: _requestId, account: _account, channel: own, ...line }) => {
      assert.equal(own, channel, String(line.operation));
      return line;
    });
}
