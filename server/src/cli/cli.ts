import { type Command, CommanderError } from 'commander';
import { Context, type Globals } from './context.ts';
import { failureOf, usageCode } from './failure.ts';
import { type Io, Output, processIo } from './io.ts';
import { createProgram, type Handler } from './program.ts';
import { jsonLine } from './text.ts';

/** Runs the command of this process, and sets its exit code. */
export async function main(): Promise<void> {
  // A reader that has enough, such as `head`, closes the pipe.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
  process.exitCode = await run(process.argv.slice(2), processIo());
  process.stdin.destroy(); // an open terminal would keep the process alive
}

/** Runs a command. @returns its exit code */
export async function run(given: readonly string[], io: Io): Promise<number> {
  const program = createProgram(async (load, command, values) => {
    const handler: Handler = await load();
    // The arguments and options are those that the handler declares; the tree of commands parsed them.
    await handler(new Context(io, command.optsWithGlobals()), ...(values as never[]));
  });
  prepare(program, io);
  try {
    await program.parseAsync(given, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return usageCode(error);
    const { exitCode, ...failure } = failureOf(error);
    const { json }: Globals = program.opts();
    if (json) io.stderr.write(`${jsonLine({ error: failure })}\n`);
    else report(io, failure);
    return exitCode;
  }
}

function report(io: Io, { message, fields = [], requestId }: Omit<ReturnType<typeof failureOf>, 'exitCode'>): void {
  const out = new Output(io, false);
  for (const line of message.split('\n')) out.note(line);
  for (const { field, message } of fields) if (fields.length > 1) out.note(`  ${field}: ${message}`);
  if (requestId && message.includes('`requestId`')) out.note(`The requestId is ${requestId}.`);
}

/** Lets the commands write to the given streams and throw, in place of ending the process. */
function prepare(command: Command, io: Io): void {
  command.exitOverride();
  command.configureOutput({
    writeOut: (text) => void io.stdout.write(text),
    writeErr: (text) => void io.stderr.write(text),
    outputError: (text, write) => write(text.replace(/^error: (.)/, (_, first: string) => first.toUpperCase())),
    getOutHasColors: () => false,
    getErrHasColors: () => false,
    getOutHelpWidth: () => 100,
    getErrHelpWidth: () => 100,
  });
  command.showHelpAfterError(`Run ${pathOf(command)} --help to see how it works.`);
  for (const each of command.commands) prepare(each, io);
}

const pathOf = (command: Command): string =>
  command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
