import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import type { Figure } from './figure.ts';
import { agentTasks } from './figures/agentTasks.ts';
import { backlog } from './figures/backlog.ts';
import { cost, costPostgres } from './figures/cost.ts';
import { failingWebhooks } from './figures/failingWebhooks.ts';
import { fairness } from './figures/fairness.ts';
import { filters } from './figures/filters.ts';
import { growth, growthPostgres } from './figures/growth.ts';
import { held } from './figures/held.ts';
import { history } from './figures/history.ts';
import { idle } from './figures/idle.ts';
import { limits } from './figures/limits.ts';
import { lone, lonePostgres } from './figures/lone.ts';
import { manyWebhooks } from './figures/manyWebhooks.ts';
import { mcp } from './figures/mcp.ts';
import { media } from './figures/media.ts';
import { memory } from './figures/memory.ts';
import { queue, queuePostgres } from './figures/queue.ts';
import { recovery } from './figures/recovery.ts';
import { responsive } from './figures/responsive.ts';
import { search, searchPostgres } from './figures/search.ts';
import { sends, sendsPostgres } from './figures/sends.ts';
import { sockets } from './figures/sockets.ts';
import { standstill } from './figures/standstill.ts';
import { startup } from './figures/startup.ts';
import { whatsappGroup } from './figures/whatsappGroup.ts';
import { whatsappIdle } from './figures/whatsappIdle.ts';
import { whatsappIncoming } from './figures/whatsappIncoming.ts';
import { whatsappLatency } from './figures/whatsappLatency.ts';
import { writes, writesPostgres } from './figures/writes.ts';
import { cleanUp } from './harness/processes.ts';
import { checkOut, presentTree, type Tree, UnknownRefError } from './harness/tree.ts';
import { print, run } from './run.ts';

/*
 * npm run bench -- [name…] [--compare REF]
 *
 * Measures figures, each with a peer in the same run. Absolute numbers depend on the machine, ratios
 * on the product.
 */
const figures: Readonly<Record<string, Figure>> = {
  cost,
  costPostgres,
  queue,
  queuePostgres,
  sends,
  sendsPostgres,
  lone,
  lonePostgres,
  growth,
  growthPostgres,
  writes,
  writesPostgres,
  responsive,
  standstill,
  filters,
  manyWebhooks,
  failingWebhooks,
  startup,
  memory,
  sockets,
  limits,
  recovery,
  backlog,
  held,
  fairness,
  media,
  search,
  searchPostgres,
  mcp,
  'agent-tasks': agentTasks,
  history,
  whatsappIdle,
  whatsappLatency,
  whatsappIncoming,
  whatsappGroup,
  idle,
};

process.on('exit', cleanUp);
const { names, trees } = readArguments();
const scope = new AsyncDisposableStack();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => void scope.disposeAsync().finally(() => process.exit(1)));
}
print(`${process.version}, ${cpus().length} × ${cpus()[0]?.model}\n\n`);
for (const [name, figure] of Object.entries(figures)) {
  if (names.length > 0 && !names.includes(name)) continue;
  await using own = scope.use(new AsyncDisposableStack());
  await run(name, figure, trees, own);
}

function readArguments(): { names: string[]; trees: Tree[] } {
  try {
    const { positionals, values } = parseArgs({ options: { compare: { type: 'string' } }, allowPositionals: true });
    if (positionals.includes('list')) {
      for (const [name, { about }] of Object.entries(figures)) print(`${name.padEnd(18)}${about}\n`);
      process.exit(0);
    }
    const unknown = positionals.filter((name) => !Object.hasOwn(figures, name));
    if (unknown.length > 0)
      refuse(`Unknown figure: ${unknown.join(', ')}. \`npm run bench -- list\` prints the names.`);
    const before = values.compare === undefined ? [] : [checkOut(values.compare)];
    return { names: positionals, trees: [...before, presentTree] };
  } catch (error) {
    if (error instanceof UnknownRefError || error instanceof TypeError) return refuse(error.message);
    throw error;
  }
}

function refuse(reason: string): never {
  process.stderr.write(`${reason}\n`);
  process.exit(2);
}
