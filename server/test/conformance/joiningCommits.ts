import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import type { JointWork } from '../../src/db/commit.ts';
import { FencedError } from '../../src/db/dialect.ts';
import { GroupCommit } from '../../src/db/groupCommit.ts';
import { openPostgres } from '../../src/db/postgres/postgres.ts';
import { openSqlite } from '../../src/db/sqlite/sqlite.ts';
import type { Home } from '../support/databases/databases.ts';

const NEVER_MS = 600_000;
const CAN_WAIT = { canWait: true };

/** Guarantees for work that can wait until other work is committed. */
export function joiningCommits(newHome: () => Promise<Home>): void {
  async function open(test: TestContext, patienceMs = NEVER_MS) {
    const home = await newHome();
    const { databaseUrl, dataDir } = home;
    const store = databaseUrl === '' ? openSqlite(`${dataDir}/switchboard.db`) : openPostgres(databaseUrl);
    const group = new GroupCommit(store, { patienceMs });
    test.after(async () => {
      await group.stop();
      await store.close();
      await home.remove();
    });
    await group.commit(({ kysely }) => sql`create table things (id text primary key, n bigint)`.execute(kysely));
    const begin = test.mock.method(store, 'begin');
    const insert: JointWork<string, string> = async ({ kysely }, items) => {
      for (const id of items) await sql`insert into things (id, n) values (${id}, 0)`.execute(kysely);
      return items;
    };
    const put = (id: string) => group.commit(async (tx) => (await insert(tx, [id]))[0]);
    const putSometime = (id: string, key?: string) => group.commitJointly(insert, id, key, CAN_WAIT);
    return { group, put, putSometime, transactions: () => begin.mock.callCount() };
  }

  /** Lets everything run that could start a transaction. */
  const turns = async () => {
    for (let n = 0; n < 10; n++) await setImmediate();
  };

  describe('work that can wait', () => {
    it('shares the transaction of the next other work', async (test) => {
      const { put, putSometime, transactions } = await open(test);
      const waiting = ['a', 'b', 'c'].map((id) => putSometime(id));
      await turns();
      assert.equal(transactions(), 0);
      assert.equal(await put('other'), 'other');
      assert.deepEqual(await Promise.all(waiting), ['a', 'b', 'c']);
      assert.equal(transactions(), 1);
    });

    it('starts a transaction after the longest wait, and each time again', async (test) => {
      const { putSometime, transactions } = await open(test, 5);
      assert.deepEqual(await Promise.all([putSometime('a'), putSometime('b')]), ['a', 'b']);
      assert.equal(transactions(), 1);
      assert.equal(await putSometime('c'), 'c');
      assert.equal(transactions(), 2);
    });

    it('starts a transaction as soon as it fills one', async (test) => {
      const { put, putSometime, transactions } = await open(test);
      const waiting = Array.from({ length: 130 }, (_, n) => putSometime(`id ${n}`));
      await Promise.all(waiting.slice(0, 128));
      assert.equal(transactions(), 1);
      await put('other');
      await Promise.all(waiting);
      assert.equal(transactions(), 2);
    });

    it('does not start a transaction after the one it came too late for', async (test) => {
      const { group, putSometime, transactions } = await open(test);
      let late: Promise<string> | undefined;
      await group.commit(async () => {
        late = putSometime('late');
      });
      await turns();
      assert.equal(transactions(), 1);
      await group.commit(async () => {});
      assert.equal(await late, 'late');
      assert.equal(transactions(), 2);
    });

    it('takes effect in order of arrival with all other work of its key', async (test) => {
      const { group } = await open(test, 5);
      const order: number[] = [];
      const add: JointWork<number, void> = async (_, items) => {
        order.push(...items);
        return items.map(() => undefined);
      };
      const all = Array.from({ length: 300 }, (_, n) => [
        group.commitJointly(add, n, 'key', { canWait: n % 3 !== 0 }),
        group.commitJointly(async (_, items: readonly number[]) => items, n, `other ${n % 7}`, {
          canWait: n % 2 === 0,
        }),
      ]);
      await Promise.all(all.flat());
      assert.deepEqual(
        order,
        Array.from({ length: 300 }, (_, n) => n),
      );
    });

    it('fails alone, without the work whose transaction it shares', async (test) => {
      const { put, putSometime } = await open(test);
      await put('taken');
      const waiting = Promise.allSettled([putSometime('taken'), putSometime('free')]);
      assert.equal(await put('other'), 'other');
      assert.deepEqual(
        (await waiting).map(({ status }) => status),
        ['rejected', 'fulfilled'],
      );
    });

    it('is committed without a wait once the server stops, and by the stop itself', async (test) => {
      const { group, putSometime } = await open(test);
      const first = putSometime('first');
      group.hurry();
      assert.equal(await first, 'first');
      assert.equal(await putSometime('second'), 'second');
      const last = putSometime('last');
      await group.stop();
      assert.equal(await last, 'last');
      await assert.rejects(putSometime('late'), { code: 'shutting_down' });
    });

    it('fails like other work when the node is shut out', async (test) => {
      const { group, putSometime } = await open(test);
      const waiting = assert.rejects(putSometime('a'), FencedError);
      group.shutOut();
      await waiting;
    });
  });
}
