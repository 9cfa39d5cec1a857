import autocannon from 'autocannon';
import { count, defineFigure, ROUNDS } from '../figure.ts';
import { recipient, setUp } from '../harness/api.ts';
import { onSqlite } from '../harness/home.ts';
import { Receiver } from '../harness/receiver.ts';

const SECONDS = count(3, 1);
const REQUESTS = 200;

interface Request {
  readonly method: 'POST';
  readonly path: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** `tools/call` of messages_send, beside the REST call of the same operation on the same server. */
export const mcp = defineFigure({
  about: 'tools/call of messages_send, beside POST /messages/send, 20 connections, SQLite',
  rounds: ROUNDS,
  readings: {
    calls: { what: 'tools/call per second', unit: '/s', digits: 0 },
    sends: { what: 'the same over REST', unit: '/s', digits: 0 },
    ratio: { what: 'share of the REST rate', unit: '×', digits: 2, goal: { atLeast: 0.5 } },
  },
  async prepare(tree, scope) {
    const receiver = await Receiver.start(scope);
    const home = await onSqlite.open(tree, scope);
    const server = await home.start();
    scope.defer(() => server.stop());
    const { key } = await setUp(server, receiver.hook);
    const messages = Array.from({ length: REQUESTS }, (_, n) => ({ to: recipient(n), message: 'Hello there' }));
    const rest = messages.map((message) => restCall(key, message));
    const tools = messages.map((message, n) => toolCall(key, message, n));
    await requireSuccess(server.url, tools[0] as Request);
    return async () => {
      const [sends, calls] = [await rate(server.url, rest), await rate(server.url, tools)];
      return { sends, calls, ratio: calls / sends };
    };
  },
});

const restCall = (key: string, message: object): Request => ({
  method: 'POST',
  path: '/api/v1/messages/send',
  body: JSON.stringify(message),
  headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
});

const toolCall = (key: string, message: object, id: number): Request => {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const params = { name: 'messages_send', arguments: message, _meta: meta };
  return {
    method: 'POST',
    path: '/api/v1/mcp',
    body: JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params }),
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'messages_send',
    },
  };
};

async function requireSuccess(url: string, { path, ...request }: Request): Promise<void> {
  const answer = await fetch(url + path, request);
  const { result } = (await answer.json()) as { result?: { isError?: boolean } };
  if (result === undefined || result.isError) throw new Error('the tool call failed');
}

async function rate(url: string, requests: readonly Request[]): Promise<number> {
  const load = requests.map((request) => ({ ...request }));
  const result = await autocannon({ url, connections: 20, duration: SECONDS, requests: load });
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${result.non2xx} refused, ${result.errors} errors`);
  return result['2xx'] / result.duration;
}
