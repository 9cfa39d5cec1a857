/*
 * Starts the server. This file is JavaScript, because Node loads its TypeScript compiler for any TypeScript file without
 * compiled code: 20 MB of memory and 150 ms, even if every other file has it.
 */
import { mkdirSync } from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const OLDEST_NODE = '24.9'; // older ones do not let a server choose the requests that it upgrades

if (isOlder(process.versions.node, OLDEST_NODE)) {
  process.stderr.write(
    `Switchboard needs Node.js ${OLDEST_NODE} or newer, and this is ${process.version}. \`npm ci\` without --ignore-scripts installs it, and \`npm start\` uses it.\n`,
  );
  process.exit(1);
}
keepCompiledCode();
await import('./src/main.ts');

/**
 * Keeps compiled code for later starts: beside the code, where the install has put it, or in the data folder if the
 * server cannot write there. Threads find it through the environment.
 */
function keepCompiledCode() {
  let { status, directory } = module.enableCompileCache(fileURLToPath(new URL('compiled', import.meta.url)));
  // An argument, such as --help, starts no server, so it must not create a data folder.
  if (status === module.constants.compileCacheStatus.FAILED && process.argv.length === 2) {
    const folder = join(process.env.DATA_DIR || './data', 'compiled'); // the default of the setting
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      ({ directory } = module.enableCompileCache(folder));
    } catch {
      // The server reports a data folder that it cannot use.
    }
  }
  if (directory !== undefined) process.env.NODE_COMPILE_CACHE ??= directory;
}

/**
 * @param {string} version
 * @param {string} other
 */
function isOlder(version, other) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [otherMajor = 0, otherMinor = 0] = other.split('.').map(Number);
  return major < otherMajor || (major === otherMajor && minor < otherMinor);
}
