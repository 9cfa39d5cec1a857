import type { Block } from './markdown.ts';

export const SHELL: readonly string[] = ['sh', 'bash'];

/** Whether a test executes the block, or compares it with what the others print. */
export function isStep({ language, decision }: Pick<Block, 'language' | 'decision'>): boolean {
  if (decision.type === 'not run' || decision.type === 'given') return false;
  if (decision.type !== 'default') return true;
  return SHELL.includes(language) || language === 'python';
}
