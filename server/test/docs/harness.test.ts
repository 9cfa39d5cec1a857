import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { makeCheckout } from './checkout.ts';
import { assertPart, isAmong, isOutput, parseOutput } from './expectedOutput.ts';
import { blocksOf } from './markdown.ts';
import { Terminal } from './terminal.ts';
import { typeErrors } from './typeCheck.ts';

/* The tests of the documentation fail when they should. */

const page = (...lines: string[]) => ({ file: 'docs/page.md', text: lines.join('\n') });

describe('the blocks of a page', () => {
  it('have a language, a line and the decision above them', () => {
    const [first, second, third] = blocksOf(
      page(
        'Text',
        '<!-- a note -->',
        '<!-- not run: it needs Docker -->',
        '```sh',
        'docker ps',
        '```',
        '1. Item',
        '   ~~~json',
        '   {',
        '   }',
        '   ~~~',
        '```',
        'no language',
        '```',
      ),
    );
    const decision = { type: 'not run', reason: 'it needs Docker' };
    assert.deepEqual(first, { file: 'docs/page.md', line: 4, language: 'sh', text: 'docker ps\n', decision });
    assert.deepEqual([second?.language, second?.text, second?.decision], ['json', '{\n}\n', { type: 'default' }]);
    assert.equal(third?.language, '');
  });

  it('know what each comment means', () => {
    const decisionAfter = (comment: string) => blocksOf(page(`<!-- ${comment} -->`, '```sh', '```'))[0]?.decision;
    assert.deepEqual(decisionAfter('file: ../../outside.mjs'), { type: 'file', name: 'outside.mjs' });
    assert.deepEqual(decisionAfter('terminal: receiver until "Listening: 1"'), {
      type: 'terminal',
      name: 'receiver',
      until: 'Listening: 1',
    });
    assert.deepEqual(decisionAfter('output'), { type: 'output', terminal: undefined });
    assert.deepEqual(decisionAfter('output: receiver'), { type: 'output', terminal: 'receiver' });
    assert.deepEqual(decisionAfter('given: a: string, b: number'), {
      type: 'given',
      parameters: 'a: string, b: number',
    });
    assert.deepEqual(decisionAfter('run'), { type: 'run' });
    assert.deepEqual(decisionAfter('some remark'), { type: 'default' });
  });

  it('must end', () => {
    assert.throws(() => blocksOf(page('```sh', 'echo')), /docs\/page\.md:1: the block has no end/);
  });
});

describe('an expected output', () => {
  it('may differ in ids, times, long numbers and our version, and in nothing else', () => {
    const printed = 'sent msg_01KAJ7Q2ZB0Y8T3M5N6P9R4S1V at 2026-11-22T00:20:00.000Z in 12 ms, port 38045\n201\n';
    assert.ok(
      isOutput('sent msg_01M89QPDRNXDZMQ1ZN888XAGJJ at 2027-01-01T12:00:00Z in 7 ms, port 8080\n201\n', printed),
    );
    assert.ok(
      !isOutput('sent msg_01M89QPDRNXDZMQ1ZN888XAGJJ at 2027-01-01T12:00:00Z in 7 ms, port 8080\n409\n', printed),
    );
    assert.ok(!isOutput('201\n', printed));
    assert.ok(isOutput('…\n201\n', printed));
    assert.ok(!isOutput('…\n409\n', printed));
    assert.ok(isOutput('"user-agent": "Switchboard/0.1.0",\n', '"user-agent": "Switchboard/12.0.0-rc.1",\n'));
    assert.ok(!isOutput('"user-agent": "Switchboard/0.1.0",\n', '"user-agent": "Other/0.1.0",\n'));
  });

  it('of another terminal is among its lines, in order', () => {
    assert.ok(isAmong('b\nd\n', 'a\nb\nc\nd\n'));
    assert.ok(!isAmong('d\nb\n', 'a\nb\nc\nd\n'));
  });

  it('in JSON may leave out fields, and has no others', () => {
    const printed = parseOutput(
      '{"token":"x"}\n{"status":"sent","to":"491707654321","error":null,"list":[{"a":1,"b":2}]}',
    );
    assertPart({ status: 'sent', to: '4930123456', error: null, list: [{ a: 5 }] }, printed);
    assert.throws(() => assertPart({ status: 'queued' }, printed), /output\.status/);
    assertPart({ status: 's…' }, printed);
    assert.throws(() => assertPart({ status: 'q…' }, printed), /output\.status/);
    assert.throws(() => assertPart({ state: 'sent' }, printed), /output\.state is missing/);
    assert.throws(() => assertPart({ error: 'none' }, printed), /output\.error is not a text/);
    assert.throws(() => assertPart({ list: [{ a: '1' }] }, printed), /output\.list\.0\.a is not a text/);
    assert.throws(() => assertPart({ list: [{ a: 1 }, { a: 1 }] }, printed), /output\.list\.1/);
  });
});

describe('a terminal', () => {
  const open = (t: TestContext) => {
    const folder = mkdtempSync(join(tmpdir(), 'switchboard-terminal-'));
    const terminal = new Terminal(folder, { PATH: process.env['PATH'] ?? '' });
    t.after(() => {
      terminal.close();
      rmSync(folder, { recursive: true });
    });
    return terminal;
  };

  it('keeps variables and functions, and exports them', async (t) => {
    const terminal = open(t);
    await terminal.run('NAME=Ada\ngreet() { echo "Hello $1"; }\n');
    assert.equal(await terminal.run('greet "$NAME"; sh -c \'echo "again $NAME"\''), 'Hello Ada\nagain Ada\n');
  });

  it('fails with the output of the commands, also in a pipe', async (t) => {
    await assert.rejects(open(t).run('echo before\nls /does-not-exist\necho after\n'), /before\n.*does-not-exist/s);
    await assert.rejects(open(t).run('false | cat\n'), /the commands failed/);
  });

  it('starts others without its variables, and waits for their output', async (t) => {
    const terminal = open(t);
    await terminal.run('NAME=Ada');
    await terminal.start('other', 'echo "[$NAME] is ready"; exec sleep 600', 'ready');
    await terminal.expect('other', (output) => output === '[] is ready\n');
    await assert.rejects(terminal.start('failing', 'echo no; exit 3', 'ready'), /failing ended without "ready":\nno/);
  });
});

it('the type check names the line of the page', async () => {
  const checkout = makeCheckout();
  const block = {
    file: 'docs/page.md',
    line: 10,
    language: 'ts',
    text: 'const a = 1;\nconst b: string = a;\n',
  } as const;
  const given = { type: 'given', parameters: 'a: number' } as const;
  try {
    const wrong = await typeErrors(checkout.folder, [
      { ...block, decision: { type: 'default' } },
      { ...block, line: 20, text: 'return a + 1;\n', decision: given },
      { ...block, line: 30, text: 'return a.length;\n', decision: given },
    ]);
    assert.match(wrong, /^docs\/page\.md\(12,7\): error TS2322/m);
    assert.match(wrong, /^docs\/page\.md\(31,\d+\): error TS2339/m);
    assert.doesNotMatch(wrong, /\(2\d,/);

    const script = { ...block, language: 'js', text: 'const = 1;\n', decision: { type: 'default' } } as const;
    assert.match(await typeErrors(checkout.folder, [script]), /^docs\/page\.md\(11,7\): error/m);
  } finally {
    checkout.remove();
  }
});
