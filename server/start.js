#!/usr/bin/env node
/*
 * Starts the server, or runs a command of the command line: this is `switchboard`, and `npm start`. The file is
 * JavaScript, because Node loads its TypeScript compiler for any TypeScript file without compiled code: 20 MB of memory
 * and 150 ms, even if every other file has it. Older versions of Node must be able to parse it, to be told what they
 * lack.
 */
import { existsSync, mkdirSync } from 'node:fs';
import module from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const OLDEST_NODE = '24.9'; // older ones do not let a server choose the requests that it upgrades
/** The package has only JavaScript, because Node runs no TypeScript below `node_modules`. A checkout runs its sources. */
const isPackage = !existsSync(new URL('src/main.ts', import.meta.url));

if (isOlder(process.versions.node, OLDEST_NODE)) {
  const advice = isPackage
    ? `Install a newer one, for example from https://nodejs.org, and try again.`
    : '`npm ci` without --ignore-scripts installs it, and `npm start` uses it.';
  process.stderr.write(
    `Switchboard needs Node.js ${OLDEST_NODE} or newer, and this is ${process.version}. ${advice}\n`,
  );
  process.exit(1);
}
const [command, ...rest] = process.argv.slice(2);
const isServer = command === undefined || (command === 'start' && rest.length === 0);
keepCompiledCode();
if (isServer) await (isPackage ? import('./dist/server/src/main.js') : import('./src/main.ts'));
else {
  const { main } = await (isPackage ? import('./dist/server/src/cli/cli.js') : import('./src/cli/cli.ts'));
  await main();
}

/**
 * Keeps compiled code for later starts: beside the code, where the install has put it, or elsewhere if it cannot write
 * there. Threads find it through the environment.
 */
function keepCompiledCode() {
  let { status, directory } = module.enableCompileCache(fileURLToPath(new URL('compiled', import.meta.url)));
  if (status === module.constants.compileCacheStatus.FAILED) {
    // A command must not create a data folder.
    const folder = isServer
      ? join(process.env.DATA_DIR || './data', 'compiled') // the default of the setting
      : join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'switchboard', 'compiled');
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
