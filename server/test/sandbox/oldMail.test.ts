import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { openDatabase } from '../../src/db/database.ts';
import type { Media } from '../../src/media/media.ts';
import { DatabaseSandboxStore } from '../../src/sandbox/databaseStore.ts';
import { describeOnEachDatabase } from '../support/databases/databases.ts';
import { createFakeClock } from '../support/fakeClock.ts';

const MAIL = 1200;
const DAY_MS = 86_400_000;

describeOnEachDatabase('mail that a sandbox session never fetched', (newHome) => {
  async function setUp(test: TestContext) {
    const home = await newHome();
    const clock = createFakeClock();
    const database = await openDatabase(home, clock);
    test.after(async () => {
      await database.close();
      await home.remove();
    });
    const changed: number[] = [];
    const commit: typeof database.commit = (work, key) =>
      database.commit(async (tx) => {
        const query: typeof tx.connection.query = async (text, parameters, name) => {
          const result = await tx.connection.query<never>(text, parameters, name);
          if (/^\s*delete from "sandbox_mailbox"/i.test(text)) changed.push(result.changed);
          return result;
        };
        return work({ ...tx, connection: { ...tx.connection, query } });
      }, key);
    const media: Partial<Media> = {}; // there are no files
    const store = new DatabaseSandboxStore({ database: { ...database, commit }, media: media as Media, clock });
    for (const [number, sessionId] of [
      ['4917011111', 'ses_sender'],
      ['4917012345', 'ses_1'],
      ['4917012346', 'ses_2'],
    ] as const)
      assert.equal(await store.claim(number, sessionId), sessionId);
    const send = (to: string, count: number) =>
      store.put(
        Array.from({ length: count }, (_, n) => ({
          to: [to],
          event: {
            ...{ type: 'message', networkId: `${to} ${clock.now()} ${n}`, from: '4917011111', timestamp: 0 },
            ...{ chat: { type: 'direct', id: '4917011111' }, content: { type: 'text', text: 'x' }, replyTo: null },
          },
          sender: { sessionId: 'ses_sender', address: '4917011111' },
        })),
      );
    return { store, clock, changed, send, countOf: async (id: string) => (await store.mailOf(id, 10_000)).length };
  }

  it('is deleted after 30 days, in steps', async (test) => {
    const { store, clock, changed, send, countOf } = await setUp(test);
    await send('4917012345', MAIL);
    clock.skip(29 * DAY_MS);
    await send('4917012346', 10);
    await store.prune();
    assert.deepEqual([await countOf('ses_1'), await countOf('ses_2'), changed], [MAIL, 10, [0]]);
    clock.skip(2 * DAY_MS);
    await store.prune();
    assert.deepEqual([await countOf('ses_1'), await countOf('ses_2')], [0, 10]);
    assert.ok(changed.length >= 3 && Math.max(...changed) <= 500, `${changed}`);
  });

  it('is deleted with the number of the session, in steps', async (test) => {
    const { store, changed, send, countOf } = await setUp(test);
    await send('4917012345', MAIL);
    await send('4917012346', 10);
    await store.release('ses_1');
    assert.deepEqual([await countOf('ses_1'), await countOf('ses_2')], [0, 10]);
    assert.ok(changed.length >= 3 && Math.max(...changed) <= 500, `${changed}`);
    assert.equal(await store.claim('4917012345', 'ses_3'), 'ses_3', 'the number is free');
  });
});
