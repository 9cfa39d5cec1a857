import { cpus } from 'node:os';
import * as figures from './figures.ts';
import { cleanUp } from './harness.ts';
import { idleCost } from './idleCost.ts';
import { search } from './search.ts';
import { whatsappIdle, whatsappLatency } from './whatsapp.ts';

/*
 * npm run bench [name…]
 *
 * Compares figures with a bare limit, measured in turns in the same run: medians of five rounds. Absolute numbers
 * depend on the machine, ratios on the product.
 */
const all = {
  startup: figures.startup,
  send: figures.send,
  sendPostgres: figures.sendPostgres,
  mcp: figures.mcp,
  deliver: figures.deliver,
  queue: figures.queue,
  queuePostgres: figures.queuePostgres,
  backlog: figures.backlog,
  fairness: figures.fairness,
  search,
  held: figures.held,
  whatsappIdle,
  whatsappLatency,
  idle: idleCost,
};
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !Object.hasOwn(all, name));
if (unknown.length > 0) {
  process.stderr.write(`Unknown benchmark: ${unknown.join(', ')}. Choose from: ${Object.keys(all).join(', ')}\n`);
  process.exit(1);
}
process.on('exit', cleanUp);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));

process.stdout.write(`${process.version}, ${cpus().length} × ${cpus()[0]?.model}\n\n`);
for (const [name, measure] of Object.entries(all)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  for (const { what, ours, beside, figure, goal, met } of await measure()) {
    process.stdout.write(
      `${met ? 'met   ' : 'missed'}  ${what}\n        ${[ours, beside, figure && `ratio ${figure}`, `goal ${goal}`].filter(Boolean).join('  ·  ')}\n`,
    );
  }
}
