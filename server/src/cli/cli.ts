import { type Command, CommanderError } from 'commander';
import { Context } from './context.ts';
import { exitCodes, failureOf } from './failure.ts';
import { type Io, Output, processIo } from './io.ts';
import type { Handler } from './options.ts';
import { createProgram, pathOf } from './program.ts';
import { jsonLine } from './text.ts';

/** Runs the command of this process, and sets its exit code. */
export async function main(): Promise<void> {
  // A reader that has enough, such as `head`, closes the pipe.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
  process.umask(0o077); // files with keys and messages are for their owner only
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
  const isJson = given.includes('--json');
  prepare(program, io, isJson);
  try {
    await program.parseAsync(given, { from: 'user' });
    return exitCodes.ok[0];
  } catch (error) {
    const { exitCode, ...failure } = failureOf(error);
    if (exitCode === exitCodes.ok[0]) return exitCode; // it was asked for help
    if (isJson) io.stderr.write(`${jsonLine({ error: failure })}\n`);
    else if (!(error instanceof CommanderError)) report(io, failure);
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
function prepare(command: Command, io: Io, isJson: boolean): void {
  command.exitOverride();
  command.configureOutput({
    writeOut: (text) => void io.stdout.write(text),
    writeErr: (text) => void (isJson || io.stderr.write(text)),
    outputError: (text, write) => write(text.replace(/^error: (.)/, (_, first: string) => first.toUpperCase())),
    getOutHasColors: () => false,
    getErrHasColors: () => false,
    getOutHelpWidth: () => 100,
    getErrHelpWidth: () => 100,
  });
  command.showHelpAfterError(`Run ${pathOf(command)} --help to see how it works.`);
  for (const each of command.commands) prepare(each, io, isJson);
}
