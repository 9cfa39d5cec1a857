import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { run } from '../../src/cli/cli.ts';
import { eventually } from '../support/eventually.ts';

/** The file that `switchboard` runs. */
export const entry = fileURLToPath(new URL('../../start.js', import.meta.url));

/** A folder that takes the place of a person's home. */
export interface Person {
  readonly home: string;
  readonly configFile: string;
  remove(): void;
}

export function newPerson(): Person {
  const home = mkdtempSync(join(tmpdir(), 'switchboard-cli-'));
  return {
    home,
    configFile: join(home, '.config', 'switchboard', 'config.json'),
    remove: () => rmSync(home, { recursive: true, force: true }),
  };
}

export interface Result {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** The only line of JSON on standard output. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into output of every shape
  readonly json: any;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Standard input, if it is no terminal. */
  readonly stdin?: string;
  /** Answers to questions at a terminal, by the beginning of the question. */
  readonly answers?: Readonly<Record<string, string>>;
  /** Takes the place of Ctrl-C. */
  readonly stop?: AbortSignal;
  readonly isTerminal?: boolean;
  readonly onOutput?: (stdout: string) => void;
  readonly onNote?: (stderr: string) => void;
}

/** Runs a command in this process, with streams of its own. */
export async function cli(person: Person, args: readonly string[], options: RunOptions = {}): Promise<Result> {
  const { env = {}, stdin = '', answers, stop = new AbortController().signal, isTerminal = false } = options;
  const isInteractive = answers !== undefined;
  const input = Object.assign(new PassThrough(), { isTTY: isInteractive, setRawMode: () => {} });
  const stdout = Object.assign(new PassThrough(), { isTTY: isTerminal });
  const stderr = Object.assign(new PassThrough(), { isTTY: isInteractive });
  let printed = '';
  stdout.on('data', (chunk) => {
    printed += chunk;
    options.onOutput?.(printed);
  });
  let noted = '';
  const unanswered = new Map(Object.entries(answers ?? {}));
  stderr.on('data', (chunk) => {
    noted += chunk;
    options.onNote?.(noted);
    for (const [question, answer] of unanswered)
      if (noted.includes(question)) {
        unanswered.delete(question);
        setImmediate(() => input.write(answer));
      }
  });
  if (!isInteractive) input.end(stdin);
  const code = await run(args, {
    env: { HOME: person.home, ...env },
    platform: 'linux',
    homeDir: person.home,
    hostName: 'testing',
    stdin: input,
    stdout,
    stderr,
    stopSignal: () => stop,
  });
  stdout.end();
  stderr.end();
  await Promise.all([once(stdout, 'close'), once(stderr, 'close')]);
  return {
    code,
    stdout: printed,
    stderr: noted,
    get json() {
      return JSON.parse(printed);
    },
  };
}

export interface CliProcess {
  readonly child: ChildProcess;
  readonly output: { stdout: string; stderr: string };
  /** Resolves once the output matches. */
  waitFor(pattern: RegExp): Promise<RegExpExecArray>;
  end(signal: NodeJS.Signals): Promise<number | null>;
}

/** Runs a command as a separate process, like a person does. */
export function spawnCli(
  person: Person,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): CliProcess {
  const { PATH = '', NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, [entry, ...args], {
    env: { PATH, HOME: person.home, ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => (output.stdout += chunk));
  child.stderr.on('data', (chunk) => (output.stderr += chunk));
  return {
    child,
    output,
    async waitFor(pattern) {
      const find = async () => {
        if (child.exitCode !== null) throw new Error(`ended with ${child.exitCode}: ${JSON.stringify(output)}`);
        return pattern.exec(output.stdout) ?? pattern.exec(output.stderr);
      };
      const found = await eventually(find, (match) => match !== null);
      if (found === null) throw new Error('unreachable');
      return found;
    },
    async end(signal) {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill(signal);
        await once(child, 'close');
      }
      return child.exitCode;
    },
  };
}

export const PASSWORD = 'correct horse battery';
