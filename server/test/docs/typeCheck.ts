import { execFile } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Block, root } from './markdown.ts';

const TSC = join(root, 'node_modules/.bin/tsc');
/** Readers' own projects are strict, but not as strict as this one. */
const OPTIONS = { allowJs: true, noPropertyAccessFromIndexSignature: false, noUncheckedIndexedAccess: false };
const IMPORT = /^import\b[^;]*;$/gm;

/**
 * Type-checks TypeScript blocks, and parses JavaScript blocks, as modules in a checkout.
 * @returns the errors, each at the line of its page
 */
export async function typeErrors(folder: string, blocks: readonly Block[]): Promise<string> {
  const files = blocks.map((block, index) => {
    const name = `block${index}.${block.language === 'ts' ? 'ts' : 'mjs'}`;
    writeFileSync(join(folder, name), moduleOf(block));
    return name;
  });
  const config = { extends: './tsconfig.json', compilerOptions: OPTIONS, include: files, exclude: [] };
  writeFileSync(join(folder, 'tsconfig.blocks.json'), JSON.stringify(config));
  const output = await promisify(execFile)(TSC, ['--noEmit', '--pretty', 'false', '-p', 'tsconfig.blocks.json'], {
    cwd: folder,
  }).then(
    () => '',
    ({ stdout, message }) => stdout || message,
  );
  for (const name of files) rmSync(join(folder, name));
  return output.replaceAll(/^block(\d+)\.m?[jt]s\((\d+)/gm, (_: string, index: string, line: string) => {
    const block = blocks[Number(index)];
    return `${block?.file}(${(block?.line ?? 0) + Number(line)}`;
  });
}

/** A module with the block. A fragment becomes a function of the variables that it gets. Keeps the lines. */
function moduleOf({ text, decision }: Block): string {
  if (decision.type !== 'given') return `${text}export {};\n`;
  const imports = [...text.matchAll(IMPORT)].map(([found]) => found);
  const body = text.replaceAll(IMPORT, (found) => found.replaceAll(/[^\n]/g, ''));
  return `export async function fragment(${decision.parameters}) {${body}}\n${imports.join('\n')}\n`;
}
