import { globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { finished } from 'node:stream/promises';
import { run } from 'node:test';
import { spec, type TestEvent } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { globalSetup, globalTeardown } from './support/runner/globalSetup.ts';
import { SlowestFiles } from './support/runner/slowestFiles.ts';
import { cpuMs } from './support/runner/usage.ts';

/*
 * Runs all tests, or those in the arguments, in four processes at a time. A test file in its own process spends half of
 * its CPU time on loading and compiling the server, so files share processes and run one after the other in each.
 */
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CACHE = join(ROOT, 'node_modules/.cache');
const TESTS = [
  '{server,sdk,connector-kit,chatwoot,mcpb,n8n,site}/test/**/*.test.ts',
  '{dashboard,mcp-apps}/test/**/*.test.ts',
];
const AT_ONCE = 4;
/** Ends a file that hangs. On a machine that is busy with other work, one can take minutes. */
const FILE_TIMEOUT_MS = 900_000;
/** Ends a group that hangs outside its tests. */
const GROUP_TIMEOUT_MS = 1_800_000;
const SERVER_GROUPS = 8;
const DASHBOARD_GROUPS = 4;
/** Files that need a process of their own. They start first, because some of them take longest. */
const ALONE = [
  'server/test/cluster/cluster.test.ts', // takes longest
  'server/test/cluster/unlikeNodes.test.ts', // takes longest
  'dashboard/test/manyRows.test.ts', // measures frames
  'server/test/process/restart.test.ts', // takes long
  'server/test/invoke/fuzz.test.ts', // takes long
  'server/test/cli/package.test.ts', // installs the package
  'sdk/test/package.test.ts', // takes long, and builds an application
  'connector-kit/test/package.test.ts', // takes long
  'chatwoot/test/kill.test.ts', // takes long
  'server/test/process/tracing.test.ts', // OpenTelemetry is set up once per process
  'server/test/media/media.test.ts', // measures the memory of its process
  'server/test/process/outgoing.test.ts', // takes all files that its process may open
  'server/test/support/connections/faultyReceiver.test.ts', // counts the connections and timers of its process
  'server/test/whatsapp/profiles.test.ts', // hides the image library from the whole process
  'server/test/whatsapp/connection/signalContexts.test.ts', // loads Baileys before anything else does
];

const { values, positionals: named } = parseArgs({
  options: { shard: { type: 'string' }, slowest: { type: 'string', default: '20' } },
  allowPositionals: true,
});
const files = shardOf(
  globSync(named.length > 0 ? named : TESTS, { cwd: ROOT })
    .map((file) => relative(ROOT, resolve(ROOT, file)))
    .toSorted(),
  values.shard,
);
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
  execArgv: [`--test-timeout=${FILE_TIMEOUT_MS}`],
  forceExit: true,
});
let hasFailed = false;
tests.on('test:fail', () => {
  hasFailed = true;
});
const slowest = new SlowestFiles(Number(values.slowest));
const report = tests.compose((events: AsyncIterable<TestEvent>) => slowest.collect(events)).compose(spec);
report.pipe(process.stdout, { end: false });
await finished(report);
await globalTeardown();
rmSync(groups, { recursive: true });
process.stdout.write(slowest.table(cpuMs()));
// Explicit: the embedded PostgreSQL ends a process that has nothing left to do with code 0.
process.exit(hasFailed ? 1 : 0);

/** Returns the part `n/m` of the files, for a run on several machines. */
function shardOf(files: readonly string[], shard = '1/1'): string[] {
  const [place = 0, count = 0] = shard.split('/').map(Number);
  if (!(place >= 1 && place <= count)) throw new Error(`--shard must be like 1/3, not ${shard}`);
  return files.filter((_, index) => index % count === place - 1);
}

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
  const lines = [
    // Outside of the files, so that its `after` closes the browser once they all have ended.
    ...(name.startsWith('dashboard')
      ? [`import '${import.meta.resolve('../../dashboard/test/support/browser.ts')}';`]
      : []),
    `import { runFile } from '${import.meta.resolve('./support/runner/testFile.ts')}';`,
    ...members.map((file) => `runFile(${JSON.stringify(file)}, ${JSON.stringify(resolve(ROOT, file))});`),
  ];
  writeFileSync(path, lines.join('\n'));
  return path;
}
