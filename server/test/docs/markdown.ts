import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/*
 * The code blocks of the documentation, and what a test does with each. A block is run or checked by its language. HTML
 * comments above it, each on its own line, decide otherwise:
 *
 *   <!-- not run: it needs Docker -->        a command that the tests cannot run, with the reason
 *   <!-- file: receiver.mjs -->              saved under this name, for the commands that follow
 *   <!-- terminal: receiver until "text" --> commands of another terminal; the page goes on after the text
 *   <!-- output -->                          what the commands above it print
 *   <!-- output: receiver -->                lines that the other terminal prints, among others
 *   <!-- run -->                             a JavaScript or TypeScript block that is executed
 *   <!-- given: body: string -->             a TypeScript fragment, and the variables that it gets
 *
 * In the output, identifiers, times and long numbers may differ. A line `…` stands for any lines, and `…` within a text
 * of a JSON output for any characters.
 */

export const root = fileURLToPath(new URL('../../..', import.meta.url));

export interface Page {
  /** Path below the root of the repository. */
  readonly file: string;
  readonly text: string;
}

export interface Block {
  readonly file: string;
  /** Line of the fence, from 1. */
  readonly line: number;
  readonly language: string;
  readonly text: string;
  readonly decision: Decision;
}

export type Decision =
  | { readonly type: 'default' | 'run' }
  | { readonly type: 'not run'; readonly reason: string }
  | { readonly type: 'file'; readonly name: string }
  | { readonly type: 'terminal'; readonly name: string; readonly until: string }
  /** Of the commands above it, or of another terminal. */
  | { readonly type: 'output'; readonly terminal: string | undefined }
  | { readonly type: 'given'; readonly parameters: string };

export const pages: readonly Page[] = ['README.md', ...globSync('docs/*.md', { cwd: root }).toSorted()].map((file) => ({
  file,
  text: readFileSync(join(root, file), 'utf8'),
}));

const FENCE = /^(\s*)(`{3,}|~{3,})\s*(\S*)/;
const COMMENT = /^\s*<!-- (.*) -->$/;

/** The fenced blocks of a page, including those that are indented within a list. */
export function blocksOf({ file, text }: Page): Block[] {
  const lines = text.split('\n');
  const blocks: Block[] = [];
  for (let index = 0; index < lines.length; index++) {
    const [fence, indent = '', ticks = '', language = ''] = FENCE.exec(lines[index] ?? '') ?? [];
    if (fence === undefined) continue;
    const end = lines.findIndex((line, at) => at > index && line.trim() === ticks);
    if (end === -1) throw new Error(`${file}:${index + 1}: the block has no end`);
    const content = lines
      .slice(index + 1, end)
      .map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line));
    const comments = commentsAbove(lines, index);
    const decision = comments.map(decide).find((decided) => decided !== undefined) ?? { type: 'default' };
    blocks.push({ file, line: index + 1, language, text: `${content.join('\n')}\n`, decision });
    index = end;
  }
  return blocks;
}

function commentsAbove(lines: readonly string[], index: number): string[] {
  const comments: string[] = [];
  for (let at = index - 1; at >= 0; at--) {
    const [, comment] = COMMENT.exec(lines[at] ?? '') ?? [];
    if (comment === undefined) break;
    comments.push(comment);
  }
  return comments;
}

/** Undefined for a comment that decides nothing. */
function decide(comment: string): Decision | undefined {
  const [name, value] = comment.split(/: (.*)/s);
  switch (name) {
    case 'run':
      return { type: 'run' };
    case 'output':
      return { type: 'output', terminal: value };
    case 'not run':
      return { type: 'not run', reason: value ?? '' };
    case 'file':
      // Never outside the folder of the page.
      return { type: 'file', name: basename(value ?? '') };
    case 'given':
      return { type: 'given', parameters: value ?? '' };
    case 'terminal': {
      const [, terminal = '', until = ''] = /^(\w+) until "(.+)"$/.exec(value ?? '') ?? [];
      return { type: 'terminal', name: terminal, until };
    }
    default:
      return undefined;
  }
}
