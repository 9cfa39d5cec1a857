import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { pino } from 'pino';
import { Agent } from 'undici';
import { BUILT_IN, WebVersions } from '../../../src/connectors/whatsapp/link/webVersion.ts';
import { portOf } from '../../support/connections/listening.ts';
import { createFakeClock } from '../../support/fakeClock.ts';
import { createTestStore } from '../../whatsapp/host.ts';

const BUILT_IN_VERSION = [2, 3000, 1_043_857_760] as const;
const NEWER = [2, 3000, 1_999_999_999] as const;
const DAY_MS = 24 * 60 * 60_000;

/** A server with a page, and a session that reads it. */
async function startPage(test: TestContext, answer: RequestListener) {
  let reads = 0;
  const server = createServer((request, response) => {
    reads++;
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const dispatcher = new Agent();
  test.after(async () => {
    await dispatcher.destroy();
    server.closeAllConnections();
    server.close();
  });
  const clock = createFakeClock();
  const store = createTestStore();
  const lines: string[] = [];
  const host = { clock, store, log: pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) }) };
  const url = `ws://127.0.0.1:${portOf(server)}/ws/chat`;
  const reader = { dispatcher, route: '', host };
  return { url, reader, host, store, clock, lines, reads: () => reads };
}

const stating =
  (text: string): RequestListener =>
  (_request, response) =>
    void response.end(text);

describe('the version of WhatsApp Web', () => {
  for (const text of ['a={"client_revision":1999999999}', 'a="{\\"client_revision\\": 1999999999, \\"x\\":1}"'])
    it(`reads it from ${text}, and continues with it in the next process`, async (test) => {
      const { url, reader, store, reads } = await startPage(test, stating(text));
      const versions = new WebVersions('auto', url);
      assert.equal(versions.current, undefined);
      assert.deepEqual(await versions.renew(BUILT_IN_VERSION, reader), NEWER);
      assert.deepEqual(versions.current, NEWER);
      assert.deepEqual(await versions.renew(BUILT_IN_VERSION, reader), NEWER);
      assert.equal(reads(), 1);
      const later = new WebVersions('auto', url);
      await later.restore(store, BUILT_IN_VERSION);
      assert.deepEqual(later.current, NEWER);
      const upgraded = new WebVersions('auto', url);
      await upgraded.restore(store, [2, 3000, 2_000_000_000]);
      assert.equal(upgraded.current, undefined, 'an upgrade brings a newer one');
    });

  const useless: Record<string, RequestListener> = {
    'an error': (_request, response) => void response.writeHead(503).end('"client_revision":1999999999'),
    'a redirect': (_request, response) => void response.writeHead(302, { location: 'http://10.0.0.1/' }).end(),
    'a page without a version': stating('hello'),
    'a number that no version has': stating('"client_revision":1'),
    'the refused version': stating(`"client_revision":${BUILT_IN_VERSION[2]}`),
    'an endless page': (_request, response) => {
      const more = () => {
        while (response.writable && response.write('x'.repeat(65_536)));
      };
      response.on('drain', more);
      more();
    },
  };
  for (const [title, answer] of Object.entries(useless))
    it(`keeps the built-in one after ${title}, and reads once a minute`, async (test) => {
      const { url, reader, clock, reads } = await startPage(test, answer);
      const versions = new WebVersions('auto', url);
      await assert.rejects(versions.renew(BUILT_IN_VERSION, reader));
      await assert.rejects(versions.renew(BUILT_IN_VERSION, reader));
      assert.equal(reads(), 1);
      assert.equal(versions.current, undefined);
      clock.skip(60_000);
      await assert.rejects(versions.renew(BUILT_IN_VERSION, reader));
      assert.equal(reads(), 2);
    });

  it('is read again after a failure when a person asks, once for those who ask at the same time', async (test) => {
    const { url, reader, clock, reads } = await startPage(test, stating('hello'));
    const versions = new WebVersions('auto', url);
    await assert.rejects(versions.renew(BUILT_IN_VERSION, reader));
    clock.skip(1000);
    const asked = { ...reader, isAsked: true };
    const both = [versions.renew(BUILT_IN_VERSION, asked), versions.renew(BUILT_IN_VERSION, asked)];
    for (const one of both) await assert.rejects(one);
    await assert.rejects(versions.renew(BUILT_IN_VERSION, reader));
    assert.equal(reads(), 2);
  });

  it('gives up a page that does not answer', async (test) => {
    const { url, reader, clock, reads } = await startPage(test, () => {});
    const renewed = new WebVersions('auto', url).renew(BUILT_IN_VERSION, reader);
    await assert.rejects(clock.settle(renewed, 5000), /within 10 s/);
    assert.ok(reads() <= 1);
  });

  it('is renewed by one session while the way out of another is slow', async (test) => {
    const page = new EventEmitter();
    const held: ServerResponse[] = [];
    const { url, reader, store } = await startPage(test, (_request, response) => {
      if (held.length > 0) return void response.end('"client_revision":1999999999');
      held.push(response);
      page.emit('held');
    });
    const versions = new WebVersions('auto', url);
    const isHeld = once(page, 'held');
    const slow = versions.renew(BUILT_IN_VERSION, { ...reader, route: 'slow' });
    await isHeld;
    assert.deepEqual(await versions.renew(BUILT_IN_VERSION, { ...reader, route: 'fast' }), NEWER);
    for (const response of held) response.writeHead(503).end();
    assert.deepEqual(await slow, NEWER, 'its own failure does not matter any longer');
    assert.equal(await store.get('web-version'), NEWER.join('.'));
  });

  it('waits for the store of no other session', async (test) => {
    const { url, reader, reads } = await startPage(test, stating('"client_revision":1999999999'));
    const versions = new WebVersions('auto', url);
    const stuck = new EventEmitter();
    const isStuck = once(stuck, 'stuck');
    const store = createTestStore();
    store.set = () => new Promise(() => void stuck.emit('stuck'));
    void versions.renew(BUILT_IN_VERSION, { ...reader, host: { ...reader.host, store } });
    await isStuck;
    assert.deepEqual(await versions.renew(BUILT_IN_VERSION, reader), NEWER);
    assert.equal(reads(), 1);
  });

  it('survives a store that fails', async (test) => {
    const { url, reader, store } = await startPage(test, stating('"client_revision":1999999999'));
    store.refuses = () => true;
    assert.deepEqual(await new WebVersions('auto', url).renew(BUILT_IN_VERSION, reader), NEWER);
  });

  it('is the configured one, without a read', async (test) => {
    const { store } = await startPage(test, stating(''));
    await store.set('web-version', NEWER.join('.'));
    const fixed = new WebVersions([2, 3000, 5], 'ws://127.0.0.1:9');
    await fixed.restore(store, BUILT_IN_VERSION);
    assert.deepEqual(fixed.current, [2, 3000, 5]);
    const off = new WebVersions('off', 'ws://127.0.0.1:9');
    await off.restore(store, BUILT_IN_VERSION);
    assert.equal(off.current, undefined);
    assert.ok(!fixed.isAutomatic && !off.isAutomatic);
  });

  it('warns once when the built-in one is older than eight weeks', async (test) => {
    const { host, clock, lines } = await startPage(test, stating(''));
    clock.set(BUILT_IN.releasedAt + 55 * DAY_MS);
    const versions = new WebVersions('off');
    versions.warnIfOld(host);
    assert.equal(lines.length, 0);
    clock.skip(2 * DAY_MS);
    versions.warnIfOld(host);
    versions.warnIfOld(host);
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', /"weeks":8.*built-in version of WhatsApp Web is old/);
  });

  it('has the release date of the installed Baileys', () => {
    const installed = new URL('../package.json', import.meta.resolve('baileys'));
    assert.equal(JSON.parse(readFileSync(installed, 'utf8')).version, BUILT_IN.baileys);
  });
});
