import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkText } from '../../../scripts/language.ts';

const found = (path: string, text: string) => checkText(path, text).map(({ line, found }) => `${line}: ${found}`);

describe('the language check', () => {
  for (const sentence of [
    'Whoever calls next gets the answer.',
    'Who waits for the answer gets every error.',
    'What is left of it is deleted.',
    'It is not this connection that reports the error.',
    'The lease is to be released.',
    'Nothing runs here any more.',
    'The attempt is under way.',
    'The file tells of an event.',
    'The node hands over its sessions.',
    'The node puts down its leases.',
    'The next node takes up the session.',
    'A second run mends the file.',
    'The attempt waits for ever.',
    'The connection closes all the same.',
    'The lane hears of the event.',
    'It is not retried, for it is a bug.',
    'The behaviour of the server is the same.',
    'The text is normalised.',
  ])
    it(`rejects "${sentence}"`, () => {
      assert.equal(found('a.md', `# Title\n\n${sentence}\n`).length, 1);
      assert.equal(found('a.ts', `/** Returns the text. ${sentence} */\nconst a = 1;\n`).length, 1);
      assert.equal(found('a.ts', `log('${sentence}');\n`).length, 1);
    });

  it('accepts plain sentences, questions, headings and code', () => {
    const text = [
      '# What limits you next',
      'Who can read the log? Callers with `events:read`.',
      'The next owner takes up to 8 s.',
      'All the same rules apply, in fewer words.',
      '`whoever` is a name here.',
      '```\nWhoever reads this reads code.\n```',
    ].join('\n\n');
    assert.deepEqual(found('a.md', text), []);
    assert.deepEqual(found('a.ts', "const state = 'anew';\nrelease(lease); // Before the pool closes.\n"), []);
  });

  it('names the line of a finding', () => {
    assert.deepEqual(found('a.md', 'Plain.\n\nIt is gone. Nothing runs any more.\n'), ['3: any more.']);
    assert.deepEqual(found('a.ts', '\n\n// Runs no more.\nconst a = `Not any more`;\n'), ['4: any more']);
  });
});
