import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { eventually, PATIENCE_MS } from '../support/eventually.ts';

type Environment = Readonly<Record<string, string>>;

interface OtherTerminal {
  readonly shell: ChildProcess;
  output: string;
}

/**
 * The terminals in which a reader runs the commands of a page. One shell runs all commands of the first terminal, so
 * that variables and background jobs last. The others have shells of their own.
 */
export class Terminal {
  readonly #folder: string;
  readonly #environment: Environment;
  readonly #shell: ChildProcess;
  readonly #others = new Map<string, OtherTerminal>();
  #steps = 0;
  #done = 0;

  /** @param folder the working folder, where it also keeps scripts and output */
  constructor(folder: string, environment: Environment) {
    this.#folder = folder;
    this.#environment = environment;
    mkdirSync(join(folder, '.steps'));
    this.#shell = spawn('bash', ['--noprofile', '--norc'], {
      cwd: folder,
      env: environment,
      stdio: ['pipe', 'ignore', 'ignore', 'pipe'],
      detached: true,
    });
    this.#shell.stdin?.on('error', () => {}); // the shell has ended, which `run` reports
    // The file descriptor 3 is open by `stdio` above.
    (this.#shell.stdio[3] as Readable).setEncoding('utf8').on('data', (text: string) => {
      this.#done += text.length;
    });
    // `-a`: programs that the commands start get the variables too.
    this.#send('set -eao pipefail');
  }

  /** Runs commands. @returns their standard output. Fails with all output if a command fails. */
  async run(commands: string): Promise<string> {
    const step = ++this.#steps;
    const file = join(this.#folder, '.steps', `${step}`);
    writeFileSync(`${file}.sh`, commands);
    this.#send(`exec >'${file}.out' 2>'${file}.err'; . '${file}.sh' </dev/null; printf . >&3`);
    const read = (name: string) => readFileSync(`${file}.${name}`, 'utf8');
    await eventually(
      async () => this.#done === step || hasEnded(this.#shell),
      (isOver) => isOver,
    ).catch(() => {});
    if (this.#done !== step)
      assert.fail(`the commands failed, or did not end:\n${commands}\n${read('out')}${read('err')}`);
    return read('out');
  }

  /** Starts commands in another terminal. Resolves once they have printed the text. */
  async start(name: string, commands: string, until: string): Promise<void> {
    const shell = spawn('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', commands], {
      cwd: this.#folder,
      env: this.#environment,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    const other: OtherTerminal = { shell, output: '' };
    this.#others.set(name, other);
    for (const stream of [shell.stdout, shell.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        other.output += text;
      });
    }
    await eventually(
      async () => other.output.includes(until) || hasEnded(shell),
      (isOver) => isOver,
    );
    assert.ok(other.output.includes(until), `${name} ended without "${until}":\n${other.output}`);
  }

  /** Resolves once another terminal has printed what is expected. */
  async expect(name: string, isMet: (output: string) => boolean): Promise<void> {
    const other = this.#others.get(name);
    assert.ok(other, `there is no terminal ${name}`);
    await eventually(
      async () => other.output,
      (output) => isMet(output),
      PATIENCE_MS,
    );
  }

  /** Ends all programs that the commands have started. */
  close(): void {
    for (const { pid } of [this.#shell, ...[...this.#others.values()].map(({ shell }) => shell)]) {
      try {
        if (pid !== undefined) process.kill(-pid, 'SIGKILL');
      } catch {
        // Everything has ended already.
      }
    }
    this.#shell.stdio[3]?.destroy();
  }

  #send(line: string): void {
    this.#shell.stdin?.write(`${line}\n`);
  }
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;
