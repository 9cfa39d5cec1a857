import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { groups } from '../../../site/src/navigation.ts';
import { type Block, blocksOf, pages } from './markdown.ts';
import { isRunElsewhere } from './otherPages.ts';
import { isStep, SHELL } from './steps.ts';

/* Every command of the pages that readers start with is run by a test, or has the reason why it is not. */

/** Pages for readers who connect a number or a tool. A page counts once the navigation lists it. */
const STARTING = ['getting-started', 'sending', 'whatsapp', 'whatsapp-cloud', 'n8n', 'chatwoot'];

/** The commands of a shell. A block in another language that begins with one would never run. */
const COMMAND =
  /^\s*(?:\$ )?(?:curl|npm|npx|node|docker|git|pip3?|python3?|php|go|switchboard|helm|kubectl|export) \S/m;

const listed = groups.flatMap(({ pages: entries }) => entries.map(([path]) => path));
const files = ['README.md', ...STARTING.filter((path) => listed.includes(path)).map((path) => `docs/${path}.md`)];

const isUnaccounted = (block: Block): boolean => {
  if (SHELL.includes(block.language)) return !isStep(block) && block.decision.type !== 'not run';
  return (
    ['', 'text', 'console', 'shell', 'zsh'].includes(block.language) && COMMAND.test(block.text) && !isOutput(block)
  );
};

const isOutput = ({ decision }: Block) => decision.type === 'output' || decision.type === 'not run';

describe('the commands of the pages that readers start with', () => {
  for (const file of files)
    it(`${file} are run, or have a reason`, () => {
      const page = pages.find((one) => one.file === file);
      assert.ok(page, 'the navigation lists the page, so it must exist');
      const blocks = blocksOf(page);
      assert.ok(blocks.some(({ language }) => SHELL.includes(language)) || isRunElsewhere(file), 'no command is found');
      const unaccounted = blocks.filter(isUnaccounted).map(({ line }) => `${file}:${line}`);
      assert.deepEqual(unaccounted, []);
      // Without a reason, nobody can tell whether the command still works.
      for (const { line, decision } of blocks)
        if (decision.type === 'not run') assert.match(decision.reason, /\w+ \w+/, `${file}:${line}`);
    });

  it('are recognized in blocks that would not be run', () => {
    const block = (language: string, text: string): Block => {
      const [found] = blocksOf({ file: 'page.md', text: `\`\`\`${language}\n${text}\n\`\`\`` });
      return found ?? assert.fail('no block');
    };
    assert.ok(isUnaccounted(block('text', 'curl -s http://127.0.0.1:8080/ready')));
    assert.ok(isUnaccounted(block('console', '$ npm start')));
    assert.ok(!isUnaccounted(block('sh', 'npm start')));
    assert.ok(!isUnaccounted(block('text', 'Nothing to run')));
  });
});
