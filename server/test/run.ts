import { globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { finished } from 'node:stream/promises';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { globalSetup, globalTeardown } from './support/globalSetup.ts';

/*
 * Runs all tests, or those in the arguments, in four processes at a time. A test file in its own process spends half of
 * its CPU time on loading and compiling the server, so files share processes and run one after the other in each.
 */
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CACHE = join(ROOT, 'node_modules/.cache');
const TESTS = ['{server,sdk,connector-kit,mcpb,site}/test/**/*.test.ts', '{dashboard,mcp-apps}/test/**/*.test.ts'];
const AT_ONCE = 4;
/** Names the test that hangs. Even beside other work, the longest one takes a minute. */
const TEST_TIMEOUT_MS = 300_000;
/** Ends a group that hangs outside its tests. */
const GROUP_TIMEOUT_MS = 1_800_000;
const SERVER_GROUPS = 8;
const DASHBOARD_GROUPS = 4;
/** Files that need a process of their own. They start first, because some of them take longest. */
const ALONE = [
  'server/test/cluster.test.ts', // takes longest
  'server/test/unlikeNodes.test.ts', // takes longest
  'dashboard/test/manyRows.test.ts', // measures frames
  'server/test/restart.test.ts', // takes long
  'server/test/fuzz.test.ts', // takes long
  'server/test/cli/package.test.ts', // installs the package
  'sdk/test/package.test.ts', // takes long, and builds an application
  'connector-kit/test/package.test.ts', // takes long
  'server/test/tracing.test.ts', // OpenTelemetry is set up once per process
  'server/test/api/media.test.ts', // measures the memory of its process
  'server/test/outgoing.test.ts', // takes all files that its process may open
  'server/test/support/faultyReceiver.test.ts', // counts the connections and timers of its process
  'server/test/whatsapp/profiles.test.ts', // hides the image library from the whole process
  'server/test/whatsapp/signalContexts.test.ts', // loads Baileys before anything else does
];

const named = process.argv.slice(2);
const files = globSync(named.length > 0 ? named : TESTS, { cwd: ROOT })
  .map((file) => relative(ROOT, resolve(ROOT, file)))
  .toSorted();
if (files.length === 0) throw new Error(`No test file matches ${named.join(', ')}`);
const alone = ALONE.filter((file) => files.includes(file));
const shared = Map.groupBy(
  files.filter((file) => !alone.includes(file)),
  (file) => (/^(dashboard|mcp-apps)\//.test(file) ? 'dashboard' : 'server'),
);

mkdirSync(CACHE, { recursive: true });
const groups = mkdtempSync(join(CACHE, 'testGroups-'));
await globalSetup();
const tests = run({
  files: [
    ...alone.map((file, index) => moduleOf(`alone${index + 1}`, [file])),
    ...group('dashboard', DASHBOARD_GROUPS),
    ...group('server', SERVER_GROUPS),
  ],
  concurrency: AT_ONCE,
  timeout: GROUP_TIMEOUT_MS,
  execArgv: [`--test-timeout=${TEST_TIMEOUT_MS}`],
  forceExit: true,
});
let hasFailed = false;
tests.on('test:fail', () => {
  hasFailed = true;
});
const report = tests.compose(spec);
report.pipe(process.stdout);
await finished(report);
await globalTeardown();
rmSync(groups, { recursive: true });
// Explicit: the embedded PostgreSQL ends a process that has nothing left to do with code 0.
process.exit(hasFailed ? 1 : 0);

/** Distributes the files of a part over modules that import them. */
function group(part: 'dashboard' | 'server', count: number): string[] {
  const members = Map.groupBy((shared.get(part) ?? []).entries(), ([index]) => index % count);
  return [...members].map(([index, entries]) => {
    const files = entries.map(([, file]) => file);
    return moduleOf(`${part}${index + 1}`, files);
  });
}

/** Writes a module that runs these files one after the other. */
function moduleOf(name: string, members: readonly string[]): string {
  const path = join(groups, `${name}.mjs`);
  const imports = ['server/test/support/completion.ts', ...members].map(
    (file) => `import '${pathToFileURL(resolve(ROOT, file))}';\n`,
  );
  writeFileSync(path, imports.join(''));
  return path;
}
