import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { getHeapStatistics } from 'node:v8';
import { collectGarbage, type HeapSize, IdleMemory, nativeTrimmer } from '../../../src/app/idleMemory.ts';
import { createFakeClock } from '../../support/fakeClock.ts';

const MB = 1024 * 1024;

describe('the memory of an idle process', () => {
  /** Starts a process whose heap shrinks to `heapAfter` with each collection. */
  function startIdle(heap: HeapSize, collectionMs = 0) {
    const process = {
      heap,
      heapAfter: { reserved: 40 * MB, used: 35 * MB },
      busyShare: 0,
      collections: 0,
      trims: 0,
      error: undefined as Error | undefined,
    };
    const clock = createFakeClock();
    const memory = new IdleMemory({
      clock,
      readBusyShare: () => process.busyShare,
      readHeap: () => process.heap,
      collect: async () => {
        process.collections++;
        if (process.error !== undefined) throw process.error;
        clock.skip(collectionMs);
        process.heap = process.heapAfter;
      },
      trim: async () => void process.trims++,
    });
    memory.start();
    return { process, clock, memory };
  }

  it('is collected once after the start, and again after it has grown', async () => {
    const { process, clock } = startIdle({ reserved: 75 * MB, used: 50 * MB });
    await clock.advance(10_000);
    assert.equal(process.collections, 1);
    await clock.advance(600_000);
    assert.equal(process.collections, 1);
    process.heap = { reserved: 60 * MB, used: 50 * MB };
    await clock.advance(10_000);
    assert.equal(process.collections, 2);
  });

  it('is trimmed after each collection', async () => {
    const { process, clock } = startIdle({ reserved: 75 * MB, used: 50 * MB });
    await clock.advance(10_000);
    assert.deepEqual([process.collections, process.trims], [1, 1]);
  });

  it('is collected at most once a minute', async () => {
    const { process, clock } = startIdle({ reserved: 75 * MB, used: 50 * MB });
    await clock.advance(10_000);
    process.heap = { reserved: 75 * MB, used: 50 * MB };
    await clock.advance(50_000);
    assert.equal(process.collections, 1);
    await clock.advance(10_000);
    assert.equal(process.collections, 2);
  });

  it('is collected less often if a collection takes long', async () => {
    const { process, clock } = startIdle({ reserved: 75 * MB, used: 50 * MB }, 200);
    await clock.advance(10_000);
    process.heap = { reserved: 75 * MB, used: 50 * MB };
    await clock.advance(190_000);
    assert.equal(process.collections, 1);
    await clock.advance(20_000);
    assert.equal(process.collections, 2);
  });

  it('is collected again if it had shrunk by itself in the meantime', async () => {
    const { process, clock } = startIdle({ reserved: 75 * MB, used: 50 * MB });
    process.heapAfter = { reserved: 200 * MB, used: 50 * MB };
    await clock.advance(10_000);
    process.heap = { reserved: 60 * MB, used: 50 * MB };
    await clock.advance(60_000);
    process.heap = { reserved: 190 * MB, used: 50 * MB };
    await clock.advance(10_000);
    assert.equal(process.collections, 2);
  });

  it('is left alone if this Node cannot collect', async () => {
    const { process, clock } = startIdle({ reserved: 75 * MB, used: 50 * MB });
    process.error = new Error('no inspector');
    await clock.advance(600_000);
    assert.equal(process.collections, 1);
  });

  it('is left alone while the process is busy, if a collection would take long, and after a stop', async () => {
    const { process, clock, memory } = startIdle({ reserved: 75 * MB, used: 50 * MB });
    process.busyShare = 0.05;
    await clock.advance(60_000);
    process.busyShare = 0;
    process.heap = { reserved: 400 * MB, used: 300 * MB };
    await clock.advance(60_000);
    memory.stop();
    process.heap = { reserved: 75 * MB, used: 50 * MB };
    await clock.advance(60_000);
    assert.equal(process.collections, 0);
  });

  it('shrinks by what is no longer used', async () => {
    let kept: unknown[] = Array.from({ length: 300_000 }, (_, n) => ({ n, text: `entry ${n}` }));
    const full = getHeapStatistics().total_heap_size;
    assert.equal(kept.length, 300_000);
    kept = [];
    await collectGarbage();
    assert.ok(full - getHeapStatistics().total_heap_size > 10 * MB);
  });

  it('shrinks by what native code has freed', { skip: !hasGlibc() && 'needs glibc' }, async () => {
    // Small arrays whose neighbors stay in use: glibc could return nothing else by itself.
    const others = process.memoryUsage().arrayBuffers;
    let arrays = Array.from({ length: 300_000 }, () => new Uint8Array(200));
    const kept = arrays.filter((_, n) => n % 1000 === 0);
    arrays = [];
    await collectGarbage();
    while (process.memoryUsage().arrayBuffers > others + 20 * MB) await setTimeout(1); // a thread frees the arrays
    const before = process.memoryUsage.rss();
    await nativeTrimmer()();
    assert.ok(before - process.memoryUsage.rss() > 20 * MB);
    assert.equal(kept.length, 300);
  });
});

function hasGlibc(): boolean {
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
  return header.glibcVersionRuntime !== undefined;
}
