import { homedir, hostname } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { styleText } from 'node:util';
import { clean, jsonLine, widthOf } from './text.ts';

/** The parts of its process that a command uses, so that tests can replace them. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly homeDir: string;
  readonly hostName: string;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean };
  readonly stderr: Writable & { readonly isTTY?: boolean };
  /** Aborted by Ctrl-C and SIGTERM from the first call on. Until then, they end the process. */
  stopSignal(): AbortSignal;
}

export function processIo(): Io {
  let stopping: AbortController | undefined;
  return {
    env: process.env,
    platform: process.platform,
    homeDir: homedir(),
    hostName: hostname(),
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    stopSignal() {
      if (stopping === undefined) {
        const controller = new AbortController();
        stopping = controller;
        // Once: a second Ctrl-C ends the process at once.
        for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => controller.abort());
      }
      return stopping.signal;
    },
  };
}

type Style = 'bold' | 'dim' | 'green' | 'yellow' | 'red';
/** Text with a style, which only a terminal gets. */
interface Styled {
  readonly style: Style;
  readonly text: string;
}
export type Part = string | number | null | Styled;

export const styled = (style: Style, text: string): Styled => ({ style, text });

/** The output of a command: text for people, or one JSON value per line for programs. */
export class Output {
  readonly isJson: boolean;
  readonly #io: Io;

  constructor(io: Io, isJson: boolean) {
    this.#io = io;
    this.isJson = isJson;
  }

  /** Prints JSON to programs, and for people calls the function. */
  result(value: unknown, forPeople: () => void): void {
    if (this.isJson) this.json(value);
    else forPeople();
  }

  json(value: unknown): void {
    this.#io.stdout.write(`${jsonLine(value)}\n`);
  }

  /** Prints one line. Its parts may contain anything: control characters are removed. */
  line(...parts: readonly Part[]): void {
    this.#io.stdout.write(`${parts.map((part) => this.#shown(part, this.#io.stdout)).join('')}\n`);
  }

  /** Prints a line that is no result: progress, advice, a warning. Programs get the results alone. */
  note(...parts: readonly Part[]): void {
    if (this.isJson) return;
    this.#io.stderr.write(`${parts.map((part) => this.#shown(part, this.#io.stderr)).join('')}\n`);
  }

  /** Prints a picture that was made here. */
  picture(text: string): void {
    this.#io.stdout.write(`${text}\n`);
  }

  table(heads: readonly string[], rows: readonly (readonly Part[])[]): void {
    const texts = rows.map((row) => row.map((part) => clean(textOf(part))));
    const widths = heads.map((head, column) =>
      Math.max(head.length, ...texts.map((row) => widthOf(row[column] ?? ''))),
    );
    const last = heads.length - 1;
    const padded = (text: string, column: number) =>
      text + ' '.repeat(column === last ? 0 : (widths[column] ?? 0) - widthOf(text));
    this.line(styled('dim', heads.map(padded).join('  ')));
    for (const [index, row] of rows.entries())
      this.line(
        ...row.flatMap((part, column) => {
          const text = padded(texts[index]?.[column] ?? '', column);
          return [typeof part === 'object' && part !== null ? { ...part, text } : text, column === last ? '' : '  '];
        }),
      );
  }

  /** Prints names and values of one thing. */
  fields(fields: Readonly<Record<string, Part | undefined>>): void {
    const shown = Object.entries(fields).filter(([, value]) => value !== undefined);
    const width = Math.max(...shown.map(([name]) => name.length));
    for (const [name, value = null] of shown) this.line(styled('dim', `${name.padEnd(width)}  `), value);
  }

  #shown(part: Part, stream: Writable): string {
    const text = clean(textOf(part));
    if (typeof part !== 'object' || part === null) return text;
    const { NO_COLOR: noColor } = this.#io.env;
    const isTerminal = 'isTTY' in stream && stream.isTTY === true && this.#io.env['TERM'] !== 'dumb';
    return isTerminal && !noColor ? styleText(part.style, text, { validateStream: false }) : text;
  }
}

function textOf(part: Part): string {
  if (part === null) return '-';
  return typeof part === 'object' ? part.text : String(part);
}
