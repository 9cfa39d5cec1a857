import assert from 'node:assert/strict';
import { createHmac, randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import { type Received, type Respond, startReceiver } from '../connections/receiver.ts';
import { type Call, newNumber, type TestServer } from '../server.ts';

/** A response to a JSON-RPC request. */
export interface RpcAnswer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into results of every shape
  readonly result: any;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into errors of every shape
  readonly error: any;
}

export type Rpc = (method: string, params?: object) => Promise<RpcAnswer>;

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** Posts a request of protocol version 2026-07-28. */
export function post(
  { url }: Pick<TestServer, 'url'>,
  credential: string,
  method: string,
  params: object,
  signal?: AbortSignal,
  query = '',
): Promise<Response> {
  return fetch(`${url}/api/v1/mcp${query}`, {
    method: 'POST',
    body: JSON.stringify({ jsonrpc: '2.0', id: 7, method, params: { ...params, _meta: META } }),
    headers: {
      authorization: `Bearer ${credential}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
    },
    ...(signal && { signal }),
  });
}

/**
 * Returns a function that makes requests of protocol version 2026-07-28.
 * @param query of the URL, such as `?readonly=true`
 */
export function rpcOf(server: Pick<TestServer, 'url'>, credential: string, query = ''): Rpc {
  return async (method, params = {}) => {
    const response = await post(server, credential, method, params, undefined, query);
    const { result, error } = (await response.json()) as RpcAnswer;
    return { status: response.status, result, error };
  };
}

/** An API key with these permissions and limits. */
export async function makeKey(call: Call, permissions: readonly string[] = ['*'], limits: object = {}) {
  const { status, body } = await call('POST', '/api-keys/create', { name: 'agent', permissions, ...limits });
  assert.equal(status, 201, JSON.stringify(body));
  return { key: body.key as string, keyId: body.keyId as string };
}

/** Lets somebody write to a session. */
export async function receive(call: Call, sessionId: string, message: string, from = newNumber()): Promise<void> {
  const { status, body } = await call('POST', `/sessions/${sessionId}/simulate`, { action: 'incoming', from, message });
  assert.equal(status, 200, JSON.stringify(body));
}

export const newSecret = (bytes = 32): string => `whsec_${randomBytes(bytes).toString('base64')}`;

/** Whether a delivery is signed with a secret, as Standard Webhooks define it. */
export function isSigned({ headers, body }: Received, secret: string): boolean {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  const expected = `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
  return String(headers['webhook-signature']).split(' ').includes(expected);
}

/** A callback that confirms challenges. Other requests are answered as the test says. */
export async function startCallback(test: TestContext) {
  const receiver = await startReceiver();
  test.after(() => receiver.close());
  let respond: Respond = (_, response) => response.writeHead(204).end();
  let confirm = (challenge: string, response: ServerResponse): unknown =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ challenge }));
  receiver.respond((received, response) => {
    if (received.parsed?.type === 'verification') confirm(received.parsed.challenge, response);
    else respond(received, response);
  });
  return {
    url: receiver.url,
    /** Waits until the callback has that many requests besides challenges. */
    waitFor: (count: number) => receiver.waitFor(() => others().length >= count),
    get deliveries() {
      return others();
    },
    get challenges() {
      return receiver.deliveries.filter(({ parsed }) => parsed?.type === 'verification');
    },
    respond(next: Respond | number) {
      respond = typeof next === 'number' ? (_, response) => response.writeHead(next).end() : next;
    },
    confirm(next: typeof confirm) {
      confirm = next;
    },
  };

  function others() {
    return receiver.deliveries.filter(({ parsed }) => parsed?.type !== 'verification');
  }
}

/** The notifications of a stream, as they arrive. */
export async function openStream(test: TestContext, server: TestServer, credential: string, params: object) {
  const stop = new AbortController();
  test.after(() => stop.abort());
  const response = await post(server, credential, 'events/stream', params, stop.signal);
  assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8', await textOf(response));
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  assert.ok(reader);
  // biome-ignore lint/suspicious/noExplicitAny: tests look into messages of every shape
  const messages: any[] = [];
  let rest = '';
  let hasEnded = false;
  const readSome = async () => {
    const { done, value = '' } = await reader.read();
    hasEnded = done;
    const frames = (rest + value).split('\n\n');
    rest = frames.pop() ?? '';
    for (const frame of frames) messages.push(JSON.parse(/^data: (.*)$/m.exec(frame)?.[1] ?? ''));
  };
  return {
    messages,
    close: () => stop.abort(),
    /** The params of the notifications with this name. */
    paramsOf: (name: string) =>
      messages.filter(({ method }) => method === `notifications/events/${name}`).map(({ params }) => params),
    async until(isMet: () => boolean) {
      while (!isMet() && !hasEnded) await readSome();
      assert.ok(isMet(), JSON.stringify(messages));
    },
  };
}

/** The text of a response that is not a stream. */
async function textOf(response: Response): Promise<string> {
  return response.headers.get('content-type')?.startsWith('text/event-stream') ? '' : response.text();
}
