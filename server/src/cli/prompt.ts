import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { CliError } from './failure.ts';
import type { Io } from './io.ts';

interface Question {
  readonly text: string;
  /** Whether the answer does not appear on the screen. */
  readonly isSecret?: boolean;
  readonly byDefault?: string | undefined;
}

/** The longest message text, 65,536 characters in UTF-8, with a line break. */
const MAX_STDIN_BYTES = 4 * 65_536 + 2;

/** Whether the terminal is interactive. */
export const isInteractive = ({ stdin, stderr }: Io): boolean => stdin.isTTY === true && stderr.isTTY === true;

/**
 * Asks a person at the terminal. The question goes to standard error, so that standard output has results only.
 * @throws {CliError} `interrupted` after Ctrl-C, or at the end of the input
 */
export function ask(io: Io, { text, isSecret = false, byDefault }: Question): Promise<string> {
  const prompt = `${text}${byDefault === undefined ? '' : ` [${byDefault}]`}: `;
  // The library would show what is typed. Editing keys still work.
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: io.stdin, output: isSecret ? silent : io.stderr, prompt, terminal: true });
  // Only now, because until then the terminal itself shows what is typed.
  if (isSecret) io.stderr.write(prompt);
  else lines.prompt();
  return new Promise((resolve, reject) => {
    let answer: string | undefined;
    lines.on('line', (line) => {
      answer = isSecret ? line : line.trim();
      lines.close();
    });
    lines.on('SIGINT', () => lines.close());
    lines.on('close', () => {
      if (isSecret) io.stderr.write('\n'); // the one that was typed was not shown
      if (answer === undefined) reject(new CliError('interrupted', 'Interrupted.'));
      else resolve(answer || (byDefault ?? ''));
    });
  });
}

/**
 * Reads a secret that a program passes on standard input: its first line.
 * @throws {CliError} `usage` if there is none
 */
export async function readSecretLine({ stdin }: Io, name: string): Promise<string> {
  const [line = ''] = (await readAll(stdin)).split(/\r?\n/, 1);
  if (line === '') throw new CliError('usage', `Standard input has no ${name}.`);
  return line;
}

/** Reads all of standard input as text. */
export async function readAll(stdin: Io['stdin']): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stdin) {
    const bytes = Buffer.from(chunk);
    length += bytes.length;
    if (length > MAX_STDIN_BYTES) throw new CliError('usage', `Standard input has more than ${MAX_STDIN_BYTES} bytes.`);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString();
}
