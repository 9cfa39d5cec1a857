import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../src/clock.ts';
import { NoAnswerError, NodeClient } from '../../src/cluster/forward.ts';
import { NodeSignatures } from '../../src/cluster/nodeSignature.ts';
import { type FaultyLine, startFaultyLine } from '../support/connections/faultyLine.ts';
import { portOf } from '../support/connections/listening.ts';
import { type Home, newHome } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { PUPPET_NUMBER, puppet } from '../support/networks/puppet.ts';
import { type Answer, bearer, type Call, connectSession, startServer, type TestServer } from '../support/server.ts';

const PUPPET = fileURLToPath(new URL('../support/networks/puppet.ts', import.meta.url));

const isSent = ({ status }: Answer['body']) => status === 'sent' || status === 'delivered';

/** The shortest time after which a caller is told that its message is still queued. */
const TO_SEND_MS = 2000;

/** Sends a message and waits until it is sent. The response may report it as queued if the owner was slow. */
async function untilSent(call: Call, send: () => Promise<Answer>): Promise<void> {
  const startedAt = performance.now();
  const { status, body } = await send();
  const isQueuedLate = body.status === 'queued' && performance.now() - startedAt >= TO_SEND_MS - TIMERS_EARLY_MS;
  assert.deepEqual([status, isSent(body) || isQueuedLate], [201, true], JSON.stringify(body));
  await eventually(
    () => call('GET', `/messages/${body.messageId}`),
    (message) => isSent(message.body),
  );
}
/** Node may fire a timer a millisecond early. */
const TIMERS_EARLY_MS = 20;

describe('a message for a session of another node', () => {
  let home: Home;
  let line: FaultyLine;
  let owner: TestServer;

  before(async () => {
    home = await newHome('postgres');
    line = await startFaultyLine();
    const NODE_URL = `http://127.0.0.1:${line.port}`;
    owner = await startServer({ home, env: { NODE_URL, CONNECTORS: PUPPET } });
    line.aim(new URL(owner.url));
  });
  after(async () => {
    await owner?.stop();
    await line?.close();
    await home?.remove();
  });

  /** A session of the owner, and a node that forwards its sends. */
  async function session(test: TestContext, more: object = {}) {
    const DATA_DIR = join(home.dataDir, test.name);
    const asked = await startServer({ home, env: { DATA_DIR, NODE_ROLE: 'api', CONNECTORS: PUPPET } });
    test.after(() => asked.stop());
    const { call, token } = await asked.account();
    const sessionId = await connectSession(bearer(owner.url, token), undefined, more);
    const send = (message: string) => call('POST', '/messages/send', { sessionId, to: '491702222222', message });
    return { call, send };
  }

  it('is sent and reported as sent while the owner is alive but unreachable', async (test) => {
    const { call, send } = await session(test);
    test.after(() => line.refuse(false));
    line.refuse(true);
    line.reset();
    await untilSent(call, () => send('one'));
    await untilSent(call, () => send('two'));
    assert.equal((await call('GET', '/messages')).body.data.length, 2);
  });

  it("is sent once when the owner's response is lost", async (test) => {
    const { call, send } = await session(test);
    test.after(() => line.onRequest(() => {}));
    line.onRequest((_, connection) => connection.loseAnswer());
    await untilSent(call, () => send('hello'));
    assert.equal((await call('GET', '/messages')).body.data.length, 1);
  });

  it("is reported as queued when the owner's response is lost before the network acknowledged it", async (test) => {
    const { promise: answer, resolve } = Promise.withResolvers<void>();
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const sendAtOnce = puppet.send;
    test.after(() => {
      resolve();
      puppet.send = sendAtOnce;
    });
    puppet.send = async () => {
      begin();
      await answer;
      return { timestamp: Date.now() };
    };
    const { call, send } = await session(test, { connector: 'puppet', phoneNumber: PUPPET_NUMBER });
    const sending = send('hello');
    await begun;
    line.reset();
    const { status, body } = await sending;
    assert.deepEqual([status, body.status], [201, 'queued']);
    resolve();
    await eventually(
      () => call('GET', `/messages/${body.messageId}`),
      (message) => message.body.status === 'sent',
    );
    assert.equal((await call('GET', '/messages')).body.data.length, 1);
  });
});

describe('a request to another node', () => {
  const request = {
    method: 'GET',
    path: '/',
    body: undefined,
    credential: undefined,
    requestId: 'req_1',
    idempotencyKey: undefined,
    deadlineMs: 60_000,
  };
  const life = new AbortController().signal;
  const nodeAt = (port: number) => ({
    nodeId: 'nod_other',
    url: `http://127.0.0.1:${port}`,
    acceptsWork: true,
    fileStore: null,
    isAlive: true,
  });

  it('times out if nothing comes back, and the next one uses a new connection', async (test) => {
    const server = createServer((_, response) => {
      response.writeProcessing();
      response.end('{}');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const line = await startFaultyLine();
    line.aim({ hostname: '127.0.0.1', port: String(portOf(server)) });
    const forward = new NodeClient(new NodeSignatures('the secret of this test', 'nod_this', systemClock), {
      tickMs: 50,
    });
    test.after(async () => {
      await forward.close();
      await line.close();
      server.close();
    });
    const node = nodeAt(line.port);
    assert.equal((await forward.to(node, request, life)).status, 200);
    line.silence('both');
    await assert.rejects(
      forward.to(node, request, life),
      (error) => error instanceof NoAnswerError && !error.isLate && /silent/.test(String(error.cause)),
    );
    line.halfOpen(); // all open connections stay silent
    line.silence('none');
    assert.equal((await forward.to(node, request, life)).status, 200);
  });

  it('waits for an older node, which does not report progress', async (test) => {
    const answers = new Set<() => void>();
    const server = createServer((_, response) => void answers.add(() => response.end('{}'))).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const forward = new NodeClient(new NodeSignatures('the secret of this test', 'nod_this', systemClock), {
      tickMs: 5,
    });
    test.after(async () => {
      await forward.close();
      server.closeAllConnections();
      server.close();
    });
    const answered = forward.to(nodeAt(portOf(server)), request, life);
    let isOver = false;
    answered.then(
      () => (isOver = true),
      () => (isOver = true),
    );
    // Many times longer than silence is tolerated.
    for (let n = 0; n < 20 && !isOver; n++) await new Promise((resolve) => setTimeout(resolve, 20));
    for (const answer of answers) answer();
    assert.equal((await answered).status, 200);
  });

  it('waits for a node that reports progress, up to the deadline of the operation', async (test) => {
    const waiting = new Set<NodeJS.Timeout>();
    const server = createServer((_, response) => {
      waiting.add(setInterval(() => response.writeProcessing(), 5));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const forward = new NodeClient(new NodeSignatures('the secret of this test', 'nod_this', systemClock), {
      tickMs: 50,
    });
    test.after(async () => {
      for (const timer of waiting) clearInterval(timer);
      await forward.close();
      server.close();
    });
    const startedAt = performance.now();
    const node = nodeAt(portOf(server));
    await assert.rejects(
      forward.to(node, { ...request, deadlineMs: 800 }, life),
      (error) => error instanceof NoAnswerError && error.isLate,
    );
    assert.ok(performance.now() - startedAt > 790, 'longer than silence is tolerated');
  });
});
