import assert from 'node:assert/strict';
import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { it } from 'node:test';
import fc from 'fast-check';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { type ErrorCode, errors } from '../../src/errors.ts';
import { errorCodesOf } from '../../src/http/openapi/openapiErrors.ts';
import type { Operation } from '../../src/invoke/operation.ts';
import { operations } from '../../src/operations/index.ts';
import { startReceiver } from '../support/connections/receiver.ts';
import { databaseNames } from '../support/databases/databases.ts';
import { picture, upload } from '../support/media/media.ts';
import { closed } from '../support/operations/closedSchema.ts';
import { anyRequest, type FuzzRequest, type Known, type WireRequest } from '../support/operations/requests.ts';
import { type Call, connectSession, startServer, type TestServer } from '../support/server.ts';

const SEED = Number(process.env['FUZZ_SEED'] ?? Date.now() % 2 ** 31);
/** More in `npm run test:soak`. */
const RUNS = { sqlite: Number(process.env['FUZZ_RUNS'] ?? 1500), postgres: Number(process.env['FUZZ_RUNS'] ?? 500) };
/** After this many requests, the account is furnished again, because much of it was deleted. */
const FURNISH_EVERY = 200;
/** After these, most other requests would find nothing. */
const TAKES_FURNITURE = ['sessions.delete', 'sessions.logout', 'sessions.disconnect', 'webhooks.delete'];
const PASSWORD = 'correct horse battery';

for (const database of databaseNames) {
  it(`answers ${RUNS[database]} generated requests as documented (${database})`, {
    timeout: 240_000 + RUNS[database] * 240,
  }, async (test) => {
    test.diagnostic(`FUZZ_SEED=${SEED}`);
    const server = await startServer({
      database,
      env: { WEBHOOK_TIMEOUT_MS: '500', WEBHOOK_RETRY_SECONDS: '3600' },
    });
    const receiver = await startReceiver();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const client = await createClient(server, receiver.url, agent);
    let succeeded = 0;
    try {
      await fc.assert(
        fc.asyncProperty(anyRequest(operations), async (made) => {
          const answer = await client.send(made);
          if (answer.status < 300) succeeded++;
          const complaint = judge(made.operation, answer);
          assert.equal(complaint, undefined, `${made}`);
        }),
        { seed: SEED, numRuns: RUNS[database] },
      );
    } finally {
      agent.destroy();
      await receiver.close();
    }
    // Without successful requests, nothing behind validation would be tested.
    test.diagnostic(`${succeeded} of ${RUNS[database]} succeeded`);
    assert.ok(succeeded > RUNS[database] / 10, `only ${succeeded} succeeded`);
    assert.equal(({} as { polluted?: unknown }).polluted, undefined, 'the prototype of all objects was polluted');
    assert.equal((await server.call('GET', '/ready')).status, 200);
    await server.stop();
  });
}

interface FuzzAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Describes a response that violates the operation table; undefined if it conforms. */
function judge(operation: Operation, { status, headers, body }: FuzzAnswer): string | undefined {
  const type = headers['content-type'] ?? '';
  if (status < 300) {
    if (status !== (operation.status ?? 200)) return `the status is ${status}`;
    if (Object.keys(operation.representations ?? {}).includes(type)) return undefined;
    const output: unknown = JSON.parse(body.toString());
    const check = checkOf(operation.output);
    return check.Check(output)
      ? undefined
      : `the output is not its schema: ${JSON.stringify(check.Errors(output))} ${body}`;
  }
  if (!/^application\/problem\+json\b/.test(type)) return `${status} as ${type}: ${body}`;
  const problem = JSON.parse(body.toString());
  const code = problem.code as ErrorCode;
  if (!Object.hasOwn(errors, code)) return `there is no code ${code}`;
  const [declared, title] = errors[code];
  if (status !== declared || problem.status !== declared || problem.title !== title) return `${status} for ${code}`;
  if (problem.requestId !== headers['x-request-id']) return 'the request id differs from the header';
  // A corrupted path matches another route.
  if (code === 'route_not_found' || code === 'method_not_allowed') return undefined;
  if (status >= 500 && code !== 'send_failed') return `${code}: ${body}`;
  return errorCodesOf(operation).includes(code) ? undefined : `${code} is not declared: ${body}`;
}

const checks = new Map<TSchema, ReturnType<typeof Compile>>();
function checkOf(schema: TSchema) {
  const check = checks.get(schema) ?? Compile(closed(JSON.parse(JSON.stringify(schema))) as TSchema);
  checks.set(schema, check);
  return check;
}

/** Sends requests with a credential, to an account that is kept furnished with the resources they refer to. */
async function createClient(server: TestServer, receiverUrl: string, agent: Agent) {
  const owner = await server.account();
  const { body } = await owner.call('POST', '/api-keys/create', { name: 'fuzz' });
  const key: string = body.key;
  const ownKeyId: string = body.keyId;
  // For operations that require a login, such as ending every login: an account that can be replaced.
  let victim = await server.account();
  let known: Known = {};
  let left = 0;
  return {
    async send(made: FuzzRequest): Promise<FuzzAnswer> {
      if (left-- === 0) {
        left = FURNISH_EVERY;
        const furniture = await furnish(owner.call, server, owner.token, receiverUrl);
        known = {
          ...furniture,
          keyId: (furniture['keyId'] ?? []).filter((id) => id !== ownKeyId),
          phoneNumber: ['491701000001', '491701000002', '15550000001'],
          url: [receiverUrl],
          email: [owner.email, victim.email],
          password: [PASSWORD],
        };
      }
      const { id, credential } = made.operation;
      const endsLogins = id === 'auth.logout' || id === 'auth.change_password';
      const token = endsLogins ? victim.token : credential === 'jwt' ? owner.token : key;
      const request = made.toWire(known);
      const headers = { authorization: `Bearer ${token}`, ...request.headers };
      const answer = await exchange(server.url, { ...request, headers }, agent);
      if (answer.status < 300 && endsLogins) victim = await server.account();
      if (answer.status < 300 && TAKES_FURNITURE.includes(id)) left = 0;
      return answer;
    },
  };
}

/** Ensures that there is a resource of each type, and returns their ids. */
async function furnish(call: Call, server: TestServer, token: string, receiverUrl: string): Promise<Known> {
  const { body: old } = await call('GET', '/sessions?limit=200');
  for (const { sessionId } of old.data) await call('DELETE', `/sessions/${sessionId}`);
  const sessionId = await connectSession(call);
  const { body: pairing } = await call('POST', '/sessions', { options: { pairing: true } });
  await call('POST', `/sessions/${pairing.sessionId}/connect`);
  const to = '491701000001';
  const send = async (more: object = {}) =>
    (await call('POST', '/messages/send', { sessionId, to, message: 'hello', ...more })).body.messageId as string;
  const messages = [
    await send(),
    await send(),
    await send({ sendAt: new Date(Date.now() + 3_600_000).toISOString() }),
    (await call('POST', '/messages/send-poll', { sessionId, to, question: '?', options: ['a', 'b'] })).body.messageId,
  ];
  await call('POST', `/sessions/${sessionId}/simulate`, { action: 'incoming', from: '491701000002', message: 'hi' });
  for (const subject of ['a', 'b']) await call('POST', '/groups', { sessionId, subject, phoneNumbers: [to] });
  await call('POST', '/webhooks/set', { webhookUrl: receiverUrl, events: ['message.sent', 'message.incoming'] });
  await call('POST', '/webhooks/endpoints', { webhookUrl: receiverUrl, events: ['message.read'] });
  await call('POST', '/api-keys/create', { name: 'furniture' });

  const listOf = async (path: string, id: string) => {
    const { body } = await call('GET', path);
    const ids: string[] = body.data.map((entry: Record<string, string>) => entry[id]);
    return { ids, cursors: body.nextCursor === null ? [] : [String(body.nextCursor)] };
  };
  const groupId = (await listOf(`/groups?sessionId=${sessionId}`, 'groupId')).ids;
  const invite = await call('GET', `/groups/${groupId[0]}/invite-link`);
  const deliveries = await listOf('/webhooks/deliveries?limit=5', 'deliveryId');
  return {
    sessionId: [sessionId, sessionId, sessionId, sessionId, pairing.sessionId],
    messageId: [...messages, ...(await listOf(`/messages?sessionId=${sessionId}`, 'messageId')).ids],
    groupId,
    cursor: [...(await listOf('/messages?limit=1', 'messageId')).cursors, ...deliveries.cursors],
    eventCursor: (await listOf('/events?limit=2', 'eventId')).cursors,
    mediaId: [
      (await upload(server, token, picture())).body.mediaId,
      (await upload(server, token, 'text')).body.mediaId,
    ],
    keyId: (await listOf('/api-keys', 'keyId')).ids,
    deliveryId: deliveries.ids,
    webhookId: (await listOf('/webhooks/endpoints', 'webhookId')).ids,
    invite: [invite.body.inviteLink],
  };
}

function exchange(url: string, { method, path, headers, body }: WireRequest, agent: Agent): Promise<FuzzAnswer> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const length = body === undefined ? {} : { 'content-length': String(body.length) };
    const request = httpRequest(
      { agent, hostname, port, method, path: `/api/v1${path}`, headers: { ...length, ...headers } },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
        );
      },
    );
    request.on('error', reject);
    request.setTimeout(20_000, () => request.destroy(new Error(`no answer to ${method} ${path.slice(0, 200)}`)));
    request.end(body);
  });
}
