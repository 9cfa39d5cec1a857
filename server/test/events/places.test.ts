import assert from 'node:assert/strict';
import { it } from 'node:test';
import { firstIdAt, hashOfId } from '../../src/ids.ts';
import { eventsAbout, positionAt } from '../../src/webhooks/log/places.ts';
import { describeOnEachDatabase } from '../support/databases/databases.ts';
import { storeLog } from '../support/databases/storedLog.ts';
import { serversFor } from '../support/server.ts';

const DAY_MS = 86_400_000;
const EVENTS = 300;

describeOnEachDatabase('places in the event log', (_, database) => {
  const start = serversFor(database);

  /** Stores an event every hour until now, in turn for two accounts, about messages that share a hash. */
  async function setUp() {
    const server = await start();
    const { database: db, steady } = server.app.services;
    const accounts = [await server.account(), await server.account()].map(({ accountId }) => accountId);
    const first = steady.now() - 90 * DAY_MS;
    const at = (n: number) => first + (n * 90 * DAY_MS) / EVENTS;
    const messages = [0, 1, 2].map((n) => `${firstIdAt('msg', first - 1).slice(0, -8)}${n}0ABCDEF`);
    for (let n = 0; n < EVENTS; n++)
      await db.commit((tx) =>
        storeLog(tx, accounts[n % 2] ?? '', [{ eventId: firstIdAt('evt', at(n)), messageId: messages[n % 3] ?? '' }]),
      );
    return { on: db.longReader, accounts, messages, at };
  }

  it('are found by time', async () => {
    const { on, at } = await setUp();
    const rows = await on.kysely.selectFrom('events').select(['position', 'event_id']).orderBy('position').execute();
    for (const n of [0, 1, 150, EVENTS - 1]) {
      const event = rows.find(({ event_id }) => event_id === firstIdAt('evt', at(n)));
      const before = rows.findLast(({ event_id }) => event_id <= firstIdAt('evt', at(n) - 120_000));
      const position = await positionAt(on, at(n));
      assert.ok(position <= (event?.position ?? 0), `${n}`);
      assert.ok(before === undefined || position > before.position, `${n}`);
    }
  });

  it('are found by message, even if others have its hash', async () => {
    const { on, accounts, messages } = await setUp();
    const [one = '', two = ''] = messages;
    assert.equal(hashOfId(one), hashOfId(two));
    for (const accountId of accounts) {
      const positions = await eventsAbout(on, accountId, one);
      assert.equal(positions.length, EVENTS / 6);
      const found = on.kysely.selectFrom('events').select('message_id').distinct().where('position', 'in', positions);
      assert.deepEqual(await found.execute(), [{ message_id: one }]);
      assert.deepEqual(await eventsAbout(on, accountId, one, 1).then((all) => all[0]), positions[0]);
    }
  });
});
