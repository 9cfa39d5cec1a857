import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { systemClock } from '../../src/clock.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { Deletions } from '../../src/jobs/deletions.ts';
import { createLog } from '../../src/log.ts';
import { describeOnEachDatabase } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { createFakeClock } from '../support/fakeClock.ts';
import { connectSession, startServer } from '../support/server.ts';

const recorded = ({ reader }: Database) =>
  reader.kysely.selectFrom('deletions').select(['kind', 'resource_id']).execute();

describeOnEachDatabase('recorded deletions', (newHome) => {
  const setUp = async (test: TestContext) => {
    const home = await newHome();
    const database = await openDatabase(home, systemClock);
    const clock = createFakeClock();
    const deletions = new Deletions({ database, clock, log: createLog('silent', { write: () => {} }) });
    test.after(async () => {
      await deletions.stop();
      await database.close();
      await home.remove();
    });
    return { database, clock, deletions };
  };
  const ofChat = (details: string) => ({
    resourceId: 'ses_1/491701',
    accountId: 'acc_1',
    kind: 'chat' as const,
    details,
  });

  it('run one after the other when a second one of the resource begins during the first', async (test) => {
    const { database, deletions } = await setUp(test);
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
    const handled: string[] = [];
    deletions.handle('chat', async ({ details }, _, complete) => {
      handled.push(details);
      reach();
      await gate;
      await database.commit(complete);
      return details;
    });
    const begin = async (details: string) => {
      await database.commit((tx) => deletions.record(tx, ofChat(details)));
      return { result: deletions.run(ofChat(details)) };
    };
    const first = await begin('first');
    await reached;
    const [second, same, third] = [await begin('second'), await begin('second'), await begin('third')];
    assert.deepEqual(handled, ['first']);
    open();
    const results = await Promise.all([first, second, same, third].map(({ result }) => result));
    assert.deepEqual(results, ['first', 'second', 'second', 'third']);
    assert.deepEqual(handled, ['first', 'second', 'third']);
    assert.deepEqual(await recorded(database), []);
  });

  it('keep a connect waiting for ten seconds at most', async (test) => {
    const home = await newHome();
    const clock = createFakeClock(Date.now());
    const server = await startServer({ home, clock });
    const { promise, resolve } = Promise.withResolvers<void>();
    test.after(async () => {
      resolve();
      await server.stop();
      await home.remove();
    });
    const { call, accountId } = await server.account();
    const sessionId = await connectSession(call);
    assert.equal((await call('POST', `/sessions/${sessionId}/logout`)).status, 200);
    const { deletions, database } = server.app.services;
    deletions.handle('queue', () => promise);
    const deletion = { resourceId: `queue/${sessionId}`, accountId, kind: 'queue', details: '{}' } as const;
    await database.commit((tx) => deletions.record(tx, deletion));
    const others = clock.timersDueIn(10_000);
    const connecting = call('POST', `/sessions/${sessionId}/connect`);
    await eventually(
      async () => clock.timersDueIn(10_000),
      (timers) => timers > others,
    );
    await clock.advance(10_000);
    const { status, body, headers } = await connecting;
    assert.deepEqual([status, body.code, headers.get('retry-after')], [503, 'session_unavailable', '10']);
    assert.equal((await call('GET', `/sessions/${sessionId}`)).body.status, 'logged_out');
  });

  it('keep the record of a later one when an earlier one completes', async (test) => {
    const { database, deletions, clock } = await setUp(test);
    const handled: string[] = [];
    deletions.handle('chat', async ({ details }, _, complete) => {
      handled.push(details);
      if (details === 'first') await database.commit((tx) => deletions.record(tx, ofChat('second')));
      await database.commit(complete);
    });
    await database.commit((tx) => deletions.record(tx, ofChat('first')));
    await deletions.run(ofChat('first'));
    assert.equal((await recorded(database)).length, 1);
    await database.commit(({ kysely }) => kysely.updateTable('deletions').set({ worked_until: 0 }).execute());
    deletions.start();
    await eventually(
      async () => {
        await clock.advance(10_000);
        return recorded(database);
      },
      (rows) => rows.length === 0,
    );
    assert.deepEqual(handled, ['first', 'second']);
  });

  it('run while many older ones keep failing', async (test) => {
    const { database, deletions, clock } = await setUp(test);
    const handled: string[] = [];
    deletions.handle('session', async ({ resourceId }, _, complete) => {
      handled.push(resourceId);
      if (resourceId !== 'ses_last') throw new Error('fails again');
      await database.commit(complete);
    });
    const failing = Array.from({ length: 10 }, (_, n) => `ses_${n}`);
    const rows = [...failing, 'ses_last'].map((resource_id, n) => ({
      ...{ resource_id, account_id: 'acc_1', kind: 'session' as const, details: '{}' },
      ...{ created_at: n, worked_until: 0 },
    }));
    await database.commit(({ kysely }) => kysely.insertInto('deletions').values(rows).execute());
    deletions.start();
    await eventually(
      async () => {
        await clock.advance(10_000);
        return handled;
      },
      ({ length }) => length > failing.length,
    );
    assert.deepEqual(handled, [...failing, 'ses_last']);
  });
});
