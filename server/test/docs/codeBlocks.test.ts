import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parse as parseYaml } from 'yaml';
import { bearer, type Call, startServer, type TestServer } from '../support/server.ts';
import { type Checkout, makeCheckout } from './checkout.ts';
import { assertPart, isAmong, isOutput, parseOutput } from './expectedOutput.ts';
import { type Block, blocksOf, pages } from './markdown.ts';
import { isRunElsewhere } from './otherPages.ts';
import { quietPort } from './quietPort.ts';
import { assertValid, requestsIn } from './requests.ts';
import { type Scene, sceneOf } from './scenes.ts';
import { isStep, SHELL } from './steps.ts';
import { Terminal } from './terminal.ts';
import { typeErrors } from './typeCheck.ts';

const blocks = pages.flatMap((page) => blocksOf(page));

const MODULES = ['js', 'ts'];
/** Languages in which a block is only shown. */
const SHOWN = ['mermaid', 'text', 'toml', 'http', 'php', 'go'];
const PROGRAMS: Readonly<Record<string, string>> = { js: 'node', ts: 'node', python: 'python3' };

/** The shell function that "Getting started" defines for the other pages. */
const [HELPER = assert.fail('docs/getting-started.md does not define field()')] =
  /^field\(\).*\n/m.exec(pages.find(({ file }) => file === 'docs/getting-started.md')?.text ?? '') ?? [];

const at = ({ file, line }: Block) => `${file}:${line}`;

const hasPython = spawnSync('python3', ['--version']).status === 0;
const usesPython = ({ language, text }: Block) => language === 'python' || /\bpython3\b/.test(text);
const isCommand = ({ language, decision }: Block) => SHELL.includes(language) && decision.type === 'default';

it('every code block names a language that a test runs, checks or may leave alone', () => {
  assert.ok(blocks.length > 100, 'blocks are found');
  const known = [...SHELL, ...MODULES, ...SHOWN, 'python', 'json', 'yaml'];
  const unknown = blocks.filter(({ language, decision }) => !known.includes(language) && decision.type !== 'not run');
  assert.deepEqual(unknown.map(at), []);
  const unexplained = blocks.filter(({ decision }) => decision.type === 'not run' && decision.reason.length < 10);
  assert.deepEqual(unexplained.map(at), [], 'the reason is missing');
});

it('every data block can be parsed', () => {
  for (const block of blocks) {
    const { language, text } = block;
    try {
      if (language === 'json') JSON.parse(text);
      if (language === 'yaml') parseYaml(text);
    } catch (error) {
      assert.fail(`${at(block)}: ${error}`);
    }
  }
});

it('TypeScript blocks pass the type check, and JavaScript blocks can be parsed', async () => {
  const checkout = makeCheckout();
  const modules = blocks.filter(
    ({ file, language, decision }) =>
      MODULES.includes(language) && decision.type !== 'not run' && !isRunElsewhere(file),
  );
  try {
    assert.equal(await typeErrors(checkout.folder, modules), '');
  } finally {
    checkout.remove();
  }
});

describe('commands that no test runs', () => {
  let server: TestServer;
  let call: Call;
  before(async () => {
    server = await startServer();
    ({ call } = await server.account());
  });
  after(() => server.stop());

  it('send valid requests', async () => {
    const idle = blocks.filter(({ language, decision }) => SHELL.includes(language) && decision.type === 'not run');
    for (const block of idle)
      for (const request of requestsIn(block.text))
        await assertValid(call, request).catch((error) => assert.fail(`${at(block)}: ${error}`));
  });
});

describe('the commands of a page', () => {
  for (const { file } of pages) {
    const steps = blocks.filter((block) => block.file === file && isStep(block));
    if (isRunElsewhere(file) || steps.length === 0) continue;
    const skip = steps.some(usesPython) && !hasPython && 'python3 is not installed';
    it(`${file} work in their order`, { skip }, () => runPage(file, steps));
  }
});

async function runPage(file: string, steps: readonly Block[]): Promise<void> {
  const checkout = makeCheckout();
  const scene = await sceneOf(file);
  const server = await startServer({ env: { ...scene.env } });
  const { call, token } = await server.account();
  const here = await portsHere(server);
  const terminal = new Terminal(checkout.folder, await environmentOf(server, call, token, scene, checkout));
  try {
    if (!scene.isFirst) await terminal.run(HELPER);
    let printed = '';
    for (const [index, step] of steps.entries())
      try {
        printed = await take({ ...step, text: here(step.text) }, index, { terminal, checkout, printed });
        if (scene.after === undefined || !isCommand(step)) continue;
        const key = await terminal.run('printf %s "$KEY"');
        if (key !== '') await scene.after({ text: step.text, printed, call: bearer(server.url, key), server });
      } catch (error) {
        throw new Error(`${at(step)}: ${(error as Error).message}`, { cause: error });
      }
  } finally {
    terminal.close();
    await server.stop();
    await scene.close?.();
    checkout.remove();
  }
}

/**
 * Replaces the ports of a text by those of this test: the default port of the server, and ports of receivers, from
 * 3000.
 */
async function portsHere(server: TestServer): Promise<(text: string) => string> {
  const ports = new Map([['8080', new URL(server.url).port]]);
  for (const port of ['3000', '3001', '3002']) ports.set(port, String(await quietPort()));
  return (text) => text.replaceAll(/\b(?:8080|300[0-2])\b/g, (port) => ports.get(port) ?? port);
}

/** The variables that "Getting started" sets. Those that it explains itself are not set for it. */
async function environmentOf(server: TestServer, call: Call, token: string, scene: Scene, checkout: Checkout) {
  const common = {
    PATH: checkout.path,
    HOME: join(checkout.folder, '..'),
    SWITCHBOARD_URL: server.url,
    // The folder of dependencies is that of the repository: no block may change it.
    npm_config_dry_run: 'true',
  };
  if (scene.isFirst) return { ...common, ...scene.variables };
  const { key } = (await call('POST', '/api-keys/create', { name: 'docs' }, { authorization: `Bearer ${token}` })).body;
  return { ...common, API: `${server.url}/api/v1`, KEY: key, TOKEN: token, SWITCHBOARD_KEY: key, ...scene.variables };
}

interface Stage {
  readonly terminal: Terminal;
  readonly checkout: Checkout;
  /** Output of the last commands. */
  readonly printed: string;
}

/** Runs a block, or checks an output. @returns what the last commands have printed */
async function take({ language, text, decision }: Block, index: number, stage: Stage): Promise<string> {
  const { terminal, checkout, printed } = stage;
  switch (decision.type) {
    case 'file':
      writeFileSync(join(checkout.folder, decision.name), text);
      return printed;
    case 'terminal':
      await terminal.start(decision.name, text, decision.until);
      return printed;
    case 'output':
      if (decision.terminal !== undefined) await terminal.expect(decision.terminal, (output) => isAmong(text, output));
      else if (language === 'json') assertPart(JSON.parse(text), parseOutput(printed));
      else assert.ok(isOutput(text, printed), `expected:\n${text}\nprinted:\n${printed}`);
      return printed;
    default: {
      if (SHELL.includes(language)) return terminal.run(text);
      const name = `block${index}.${language === 'python' ? 'py' : language}`;
      writeFileSync(join(checkout.folder, name), text);
      return terminal.run(`${PROGRAMS[language]} ${name}`);
    }
  }
}
