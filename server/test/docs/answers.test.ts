import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { bearer, type Call, startServer, type TestServer } from '../support/server.ts';
import { type Checkout, makeCheckout } from './checkout.ts';
import { type Block, blocksOf, pages } from './markdown.ts';
import { connect, type Program, type Running, skipWithout, start } from './programs.ts';
import { quietPort } from './quietPort.ts';

/*
 * Runs the programs of "Answer an incoming message" in docs/sending.md, and the endpoints of docs/php.md and
 * docs/go.md, in each language that is installed.
 */

const SECRET = 'a long random text';

const php = {
  check: ['php', '--version'],
  copies: { 'SwitchboardWebhooks.php': 'clients/php/SwitchboardWebhooks.php' },
} as const;
const go = { check: ['go', 'version'], copies: { 'webhooks/webhooks.go': 'clients/go/webhooks.go' } } as const;

interface Saved extends Program {
  /** File name on the page. */
  readonly file: string;
}

const endpoints: Readonly<Record<string, Saved>> = {
  TypeScript: { file: 'answer.ts', check: ['node', '--version'] },
  Python: { file: 'answer.py', check: ['python3', '-c', 'import sys; sys.exit(sys.version_info < (3, 9))'] },
  PHP: { file: 'answer.php', ...php },
  Go: { file: 'main.go', ...go },
};

const blocksIn = (name: string) =>
  blocksOf(pages.find(({ file }) => file === name) ?? assert.fail(`${name} is missing`));

/** The program, and the command below it that starts it. */
function programOf(blocks: readonly Block[], isProgram: (block: Block) => boolean): readonly [string, string] {
  const at = blocks.findIndex(isProgram);
  const [program, command] = blocks.slice(at, at + 2);
  assert.ok(at !== -1 && program !== undefined && command?.language === 'sh', 'the program has no command');
  return [program.text, command.text];
}

describe('documented programs', () => {
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
    const environment = { API: `${server.url}/api/v1`, KEY: String(key), WEBHOOK_SECRET: SECRET };
    const write = () =>
      call('POST', `/sessions/${sessionId}/simulate`, { action: 'incoming', from: '491707654321', message: 'Hi' });
    return { call, write, environment };
  }

  function folderOf(name: string, files: Readonly<Record<string, string>>): string {
    const folder = join(checkout.folder, name);
    mkdirSync(folder);
    for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
    return folder;
  }

  function startAnswer(test: TestContext, saved: Saved, port: number, environment: Readonly<Record<string, string>>) {
    const [text, commands] = programOf(
      blocksIn('docs/sending.md'),
      ({ decision }) => decision.type === 'file' && decision.name === saved.file,
    );
    const folder = folderOf(saved.file.replace('.', '-'), { [saved.file]: text });
    return start(test, saved, { checkout, folder, commands, port, environment });
  }

  const sentBy = async (call: Call) => (await call('GET', '/messages?direction=outgoing')).body.data;
  const firstSentBy = async (call: Call, running: Running) => {
    const [first] = await eventually(
      () => sentBy(call),
      ({ length }) => length > 0,
    ).catch((error) => assert.fail(`${error}\n${running.output()}`));
    return first;
  };

  for (const [language, saved] of Object.entries(endpoints))
    it(`answer a message once in ${language}`, { skip: skipWithout(saved.check) }, async (test) => {
      const { call, write, environment } = await newAccount();
      const port = await quietPort();
      const running = startAnswer(test, saved, port, environment);
      await connect(call, running, port, SECRET);
      await write();
      const answer = await firstSentBy(call, running);
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

  const curl: Saved = { file: 'answer.sh', check: ['jq', '--version'] };
  it('answer the next message in curl', { skip: skipWithout(curl.check) }, async (test) => {
    const { call, write, environment } = await newAccount();
    const running = startAnswer(test, curl, 0, environment);
    await eventually(
      async () => running.output(),
      (output) => output.includes('Waiting'),
    );
    await write();
    const answer = await firstSentBy(call, running);
    assert.deepEqual([answer.to, answer.message], ['491707654321', 'You wrote: Hi']);
  });

  it('verify webhooks in PHP', { skip: skipWithout(php.check) }, async (test) => {
    const { call, environment } = await newAccount();
    const port = await quietPort();
    const [text, commands] = programOf(blocksIn('docs/php.md'), ({ language }) => language === 'php');
    const folder = folderOf('php-receiver', { 'receiver.php': text });
    await connect(call, start(test, php, { checkout, folder, commands, port, environment }), port, SECRET);
  });

  it('verify webhooks in Go', { skip: skipWithout(go.check) }, async (test) => {
    const { call, environment } = await newAccount();
    const port = await quietPort();
    const [text, commands] = programOf(blocksIn('docs/go.md'), ({ language }) => language === 'go');
    const folder = folderOf('go-receiver', {
      'main.go': text.replace('switchboard/webhooks', 'receiver/webhooks'),
      'go.mod': 'module receiver\n\ngo 1.19\n',
    });
    await connect(call, start(test, go, { checkout, folder, commands, port, environment }), port, SECRET);
  });
});
