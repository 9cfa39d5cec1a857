import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { bearer, type Call, startServer, type TestServer } from '../support/server.ts';
import { type Checkout, makeCheckout } from './checkout.ts';
import { type Block, blocksOf, pages, root } from './markdown.ts';
import { quietPort } from './quietPort.ts';

/* Runs the programs of "Answer an incoming message" in docs/sending.md, in each language that is installed. */

const SECRET = 'a secret of at least 16 characters';

interface Program {
  /** Name under which the page saves it. */
  readonly file: string;
  /** A command that succeeds if the language is installed. */
  readonly check: readonly [program: string, ...args: string[]];
  /** Files of the repository that the page tells its readers to copy. */
  readonly copies?: Readonly<Record<string, string>>;
}

const endpoints: Readonly<Record<string, Program>> = {
  TypeScript: { file: 'answer.ts', check: ['node', '--version'] },
  Python: { file: 'answer.py', check: ['python3', '-c', 'import sys; sys.exit(sys.version_info < (3, 9))'] },
  PHP: {
    file: 'answer.php',
    check: ['php', '--version'],
    copies: { 'SwitchboardWebhooks.php': 'clients/php/SwitchboardWebhooks.php' },
  },
  Go: {
    file: 'main.go',
    check: ['go', 'version'],
    copies: { 'webhooks/webhooks.go': 'clients/go/webhooks.go' },
  },
};

const blocks = blocksOf(
  pages.find(({ file }) => file === 'docs/sending.md') ?? assert.fail('docs/sending.md is missing'),
);

/** The program, and the command below it that starts it. */
function programOf(file: string): readonly [program: Block, command: Block] {
  const at = blocks.findIndex(({ decision }) => decision.type === 'file' && decision.name === file);
  const [program, command] = blocks.slice(at, at + 2);
  assert.ok(at !== -1 && program !== undefined && command?.language === 'sh', `${file} has no command`);
  return [program, command];
}

function skipWithout([program, ...args]: Program['check']): string | false {
  return spawnSync(program, args).status === 0 ? false : `this machine has no ${program}`;
}

describe('the programs that answer an incoming message', () => {
  let server: TestServer;
  let checkout: Checkout;
  before(async () => {
    server = await startServer();
    checkout = makeCheckout();
  });
  after(async () => {
    await server.stop();
    checkout.remove();
  });

  /** An account with a connected session, and its key. */
  async function newAccount() {
    const account = await server.account();
    const { key } = (await account.call('POST', '/api-keys/create', { name: 'answers' })).body;
    const call = bearer(server.url, key);
    const { sessionId } = (await call('POST', '/sessions', { connector: 'sandbox' })).body;
    await call('POST', `/sessions/${sessionId}/connect`);
    const environment = { API: `${server.url}/api/v1`, KEY: key, WEBHOOK_SECRET: SECRET };
    return { call, sessionId: String(sessionId), environment };
  }

  /** Saves the program in a separate folder, and runs the command of the page there. */
  function start(test: TestContext, { file, copies = {} }: Program, port: number, environment: object): ChildProcess {
    const [program, command] = programOf(file);
    const folder = join(checkout.folder, file.replace('.', '-'));
    mkdirSync(join(folder, 'webhooks'), { recursive: true });
    writeFileSync(join(folder, file), program.text);
    for (const [to, from] of Object.entries(copies)) copyFileSync(join(root, from), join(folder, to));
    const running = spawn('bash', ['-ec', command.text.replaceAll('3000', String(port))], {
      cwd: folder,
      env: {
        ...process.env,
        PATH: checkout.path,
        PORT: String(port),
        PYTHONPATH: join(root, 'clients/python/src'),
        PYTHONDONTWRITEBYTECODE: '1',
        GOCACHE: join(checkout.folder, '.go-cache'),
        ...environment,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true, // so that the whole group can be ended
    });
    test.after(() => {
      if (running.pid !== undefined && running.exitCode === null) process.kill(-running.pid, 'SIGKILL');
    });
    return running;
  }

  const sentBy = async (call: Call) => (await call('GET', '/messages?direction=outgoing')).body.data;

  for (const [language, program] of Object.entries(endpoints))
    it(`in ${language} answer once, and refuse strangers`, { skip: skipWithout(program.check) }, async (test) => {
      const { call, sessionId, environment } = await newAccount();
      const port = await quietPort();
      const running = start(test, program, port, environment);
      let output = '';
      for (const stream of [running.stdout, running.stderr]) stream?.on('data', (part) => (output += String(part)));
      const url = `http://127.0.0.1:${port}/hook`;
      await call('POST', '/webhooks/set', { webhookUrl: url, events: ['message.incoming'], secret: SECRET });
      const sample = await eventually(
        async () => {
          assert.equal(running.exitCode, null, output);
          return (await call('GET', '/webhooks/test')).body;
        },
        ({ status }) => status !== null,
      );
      assert.equal(sample.status, 204, `${sample.message}\n${output}`);
      assert.equal((await fetch(url, { method: 'POST', body: '{}' })).status, 401);

      await call('POST', `/sessions/${sessionId}/simulate`, {
        action: 'incoming',
        from: '491707654321',
        message: 'Hi',
      });
      const [answer] = await eventually(
        () => sentBy(call),
        ({ length }) => length > 0,
      ).catch((error) => assert.fail(`${error}\n${output}`));
      const [{ messageId }] = (await call('GET', '/messages?direction=incoming')).body.data;
      assert.deepEqual([answer.to, answer.message, answer.replyTo], ['491707654321', 'You wrote: Hi', messageId]);

      const [{ deliveryId }] = (await call('GET', `/webhooks/deliveries?messageId=${messageId}`)).body.data;
      const attempted = (count: number) =>
        eventually(
          async () => (await call('GET', `/webhooks/deliveries/${deliveryId}`)).body,
          ({ state, attempts }) => state === 'delivered' && attempts === count,
        );
      await attempted(1);
      await call('POST', '/webhooks/replay', { deliveryIds: [deliveryId] });
      await attempted(2);
      assert.equal((await sentBy(call)).length, 1, 'a repeated event gets no second answer');
    });

  const curl: Program = { file: 'answer.sh', check: ['jq', '--version'] };
  it('in curl answers the next message', { skip: skipWithout(curl.check) }, async (test) => {
    const { call, sessionId, environment } = await newAccount();
    const running = start(test, curl, 0, environment);
    let output = '';
    for (const stream of [running.stdout, running.stderr]) stream?.on('data', (part) => (output += String(part)));
    await eventually(
      async () => output,
      (text) => text.includes('Waiting'),
    );
    await call('POST', `/sessions/${sessionId}/simulate`, { action: 'incoming', from: '491707654321', message: 'Hi' });
    const [answer] = await eventually(
      () => sentBy(call),
      ({ length }) => length > 0,
    ).catch((error) => assert.fail(`${error}\n${output}`));
    assert.deepEqual([answer.to, answer.message], ['491707654321', 'You wrote: Hi']);
  });
});
