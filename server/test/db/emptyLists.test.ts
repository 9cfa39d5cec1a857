import assert from 'node:assert/strict';
import { it } from 'node:test';
import { systemClock } from '../../src/clock.ts';
import { openDatabase } from '../../src/db/database.ts';
import { describeOnEachDatabase } from '../support/databases/databases.ts';

describeOnEachDatabase('a comparison with an empty list', (newHome) => {
  it('matches no row with "in", and every row with "not in"', async (test) => {
    const home = await newHome();
    const database = await openDatabase(home, systemClock);
    test.after(async () => {
      await database.close();
      await home.remove();
    });
    const epochs = () => database.reader.kysely.selectFrom('log_epochs').select('epoch'); // the schema starts with one
    const all = await epochs().execute();
    assert.equal(all.length, 1);
    assert.deepEqual(await epochs().where('epoch', 'in', []).execute(), []);
    assert.deepEqual(await epochs().where('epoch', 'not in', []).execute(), all);
    assert.deepEqual(await epochs().where('created_at', 'not in', []).execute(), all);
    const either = epochs().where(({ or, eb }) => or([eb('epoch', 'in', []), eb('epoch', '=', '')]));
    assert.deepEqual(await either.execute(), all);
    assert.deepEqual(await epochs().where('epoch', 'in', ['']).execute(), all);
  });
});
