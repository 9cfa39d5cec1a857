import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { CommanderError } from 'commander';
import { commandsOf, examplesOf, pageWithReference } from '../../../scripts/cliReference.ts';
import { exitCodes } from '../../src/cli/failure.ts';
import { createProgram, pathOf } from '../../src/cli/program.ts';

const page = readFileSync(new URL('../../../docs/cli.md', import.meta.url), 'utf8');

/** Parses a command as a shell would, and resolves with the path of the command that it runs. */
async function parsed(line: string): Promise<string> {
  let found = '';
  const program = createProgram(async (_, command) => {
    found = pathOf(command);
  });
  for (const command of [program, ...commandsOf(program)])
    command.exitOverride().configureOutput({ writeOut: () => {}, writeErr: () => {} });
  const words = [...line.matchAll(/'([^']*)'|"([^"]*)"|([^\s'"]+)/g)].map(([, a, b, c]) => a ?? b ?? c ?? '');
  const at = words.indexOf('switchboard') + 1;
  const end = words.findIndex((word, index) => index >= at && /^[<>|]$/.test(word));
  const args = words.slice(at, end === -1 ? undefined : end);
  if (args.length === 0) return 'switchboard';
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError) || error.exitCode !== 0) throw error;
    return 'help';
  }
  return found;
}

describe('docs/cli.md', () => {
  it('has the reference of all commands; npm run openapi writes it', () => {
    assert.equal(page, pageWithReference(page));
  });

  it('has the exit codes', () => {
    for (const [code, meaning] of Object.values(exitCodes)) assert.ok(page.includes(`| ${code} | ${meaning} |`));
  });

  it('shows only commands that exist, with options that they have', async () => {
    const lines = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].flatMap(([, block = '']) => block.trim().split('\n'));
    assert.ok(lines.length > 40);
    for (const line of lines) assert.notEqual(await parsed(line), '', line);
  });

  it('has an example of every command in its help', async () => {
    for (const command of commandsOf(createProgram(async () => {}))) {
      if (command.commands.length > 0) continue;
      const examples = examplesOf(command);
      assert.ok(examples.length > 0, pathOf(command));
      for (const example of examples) assert.equal(await parsed(example), pathOf(command), example);
    }
  });
});
