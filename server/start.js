/*
 * Starts the server. This file is JavaScript, because Node loads its TypeScript compiler for the first TypeScript file
 * that has no compiled code: that takes 20 MB of memory and 150 ms, also if all other files have it.
 */
import { mkdirSync } from 'node:fs';
import { constants, enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const { ENABLED, ALREADY_ENABLED } = constants.compileCacheStatus;

keepCompiledCode();
await import('./src/main.ts');

/**
 * Keeps compiled code, which halves the time of later starts: beside the code, where the install has already put it, or
 * in the data folder if this user may not write there. Only that user may write to the data folder.
 */
function keepCompiledCode() {
  const { status } = enableCompileCache(fileURLToPath(new URL('compiled', import.meta.url)));
  if (status === ENABLED || status === ALREADY_ENABLED) return;
  const folder = join(process.env.DATA_DIR || './data', 'compiled');
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    enableCompileCache(folder);
  } catch {
    // The server reports a data folder that cannot be used.
  }
}
