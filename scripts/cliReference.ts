import { readFileSync, writeFileSync } from 'node:fs';
import { createProgram, pathOf } from '../server/src/cli/program.ts';

/*
 * Writes the reference of the commands into `docs/cli.md`, from the tree of commands: `npm run openapi`. With `--check`
 * it fails if the page is out of date.
 */

type Command = ReturnType<typeof createProgram>;

const PAGE = new URL('../docs/cli.md', import.meta.url);
const MARK = '<!-- reference: npm run openapi writes the rest of this page -->\n';

/** The page as it should be. */
export function pageWithReference(page = readFileSync(PAGE, 'utf8')): string {
  const at = page.indexOf(MARK);
  if (at === -1) throw new Error('docs/cli.md has no mark of the reference');
  const program = createProgram(async () => {});
  const commands = [...commandsOf(program)].filter((command) => command.commands.length === 0);
  return `${page.slice(0, at)}${MARK}\n${commands.map(sectionOf).join('\n')}`;
}

/** Every command, with the groups. */
export function* commandsOf(command: Command): Generator<Command> {
  for (const each of command.commands) {
    yield each;
    yield* commandsOf(each);
  }
}

/** The lines below "Examples" in the help of a command. */
export function examplesOf(command: Command): string[] {
  const [, lines = ''] = /^Examples:\n((?: {2}.+\n)+)/m.exec(helpOf(command)) ?? [];
  return lines.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]));
}

function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({ writeOut: (part) => (text += part) });
  command.outputHelp();
  return text;
}

function sectionOf(command: Command): string {
  const helper = command.createHelp();
  const rows = [
    ...helper
      .visibleArguments(command)
      .map((argument) => [helper.argumentTerm(argument), helper.argumentDescription(argument)]),
    ...helper.visibleOptions(command).map((option) => [helper.optionTerm(option), helper.optionDescription(option)]),
  ].filter(([term]) => term !== '-h, --help');
  const table = [
    '| argument or option | meaning |',
    '| --- | --- |',
    ...rows.map(([term = '', meaning = '']) => `| \`${term}\` | ${escaped(meaning)} |`),
  ];
  return [
    `### ${pathOf(command)}`,
    '',
    escaped(helper.commandDescription(command)),
    '',
    ...(rows.length > 0 ? [...table, ''] : []),
    '```sh',
    ...examplesOf(command),
    '```',
    '',
  ].join('\n');
}

/** Text of the help as Markdown. */
const escaped = (text: string) => text.replace(/[|*<>]/g, '\\$&');

if (import.meta.main) {
  if (!process.argv.includes('--check')) writeFileSync(PAGE, pageWithReference());
  else if (readFileSync(PAGE, 'utf8') !== pageWithReference()) {
    process.stderr.write('docs/cli.md is out of date: run `npm run openapi` and commit it\n');
    process.exitCode = 1;
  }
}
