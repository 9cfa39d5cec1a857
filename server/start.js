/*
 * Starts the server. This file is JavaScript, because Node loads its TypeScript compiler for any TypeScript file without
 * compiled code: 20 MB of memory and 150 ms, even if every other file has it.
 */
import { mkdirSync } from 'node:fs';
import { constants, enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const { FAILED } = constants.compileCacheStatus;

keepCompiledCode();
await import('./src/main.ts');

/**
 * Keeps compiled code for later starts: beside the code, where the install has put it, or in the data folder if the
 * server cannot write there. Threads find it through the environment.
 */
function keepCompiledCode() {
  let { status, directory } = enableCompileCache(fileURLToPath(new URL('compiled', import.meta.url)));
  // An argument, such as --help, starts no server, so it must not create a data folder.
  if (status === FAILED && process.argv.length === 2) {
    const folder = join(process.env.DATA_DIR || './data', 'compiled'); // the default of the setting
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      ({ directory } = enableCompileCache(folder));
    } catch {
      // The server reports a data folder that it cannot use.
    }
  }
  if (directory !== undefined) process.env.NODE_COMPILE_CACHE ??= directory;
}
