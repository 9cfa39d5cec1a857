import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { limitForecast, limitOutcome, worst } from '../../../src/connectors/contract/standing.ts';
import { messagesOnDay, newChatsOnDay, SendBudget, WARM_UP_DAYS } from '../../../src/connectors/sendBudget.ts';
import { AppError } from '../../../src/errors.ts';
import { createFakeClock } from '../../support/fakeClock.ts';

const DAY_MS = 24 * 3600 * 1000;

function budgetOf(newChatsPerDay: number, warmUp: boolean) {
  const clock = createFakeClock();
  const values = new Map<string, string>();
  const store = {
    get: async (key: string) => values.get(key),
    set: async (key: string, value: string) => void values.set(key, value),
  };
  const open = () => new SendBudget({ newChatsPerDay, warmUp }, { clock, store });
  return { clock, values, open, budget: open() };
}

const refusal = async (work: Promise<void>) => {
  const error = await work.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  assert.ok(error instanceof AppError, 'it was refused');
  return [error.code, error.retryAfterSeconds];
};

describe('the warm-up of a number', () => {
  it('allows more each day, up to the limit of the session', () => {
    const days = Array.from({ length: WARM_UP_DAYS }, (_, index) => index + 1);
    assert.deepEqual(
      [1, 2, 7, 13, 14].map((day) => newChatsOnDay(day, 50)),
      [10, 13, 28, 47, 50],
    );
    assert.deepEqual(
      [1, 2, 14].map((day) => messagesOnDay(day)),
      [50, 100, 700],
    );
    for (const limit of [0, 5, 10, 50, 10_000])
      for (const day of days.slice(1)) assert.ok(newChatsOnDay(day, limit) >= newChatsOnDay(day - 1, limit));
    for (const limit of [0, 5]) for (const day of days) assert.equal(newChatsOnDay(day, limit), limit);
  });

  it('limits new chats and messages until the day ends, and ends itself after 14 days', async () => {
    const { clock, budget } = budgetOf(50, true);
    await budget.start();
    for (let n = 0; n < 10; n++) await budget.beginChat();
    await clock.advance(3600_000);
    assert.deepEqual(await refusal(budget.beginChat()), ['rate_limited', 23 * 3600]);
    for (let n = 0; n < 50; n++) await budget.countMessage();
    assert.deepEqual(await refusal(budget.countMessage()), ['rate_limited', 23 * 3600]);
    await clock.advance(DAY_MS);
    assert.deepEqual(await budget.messages(), { used: 0, total: 100, freeInMs: 23 * 3600_000 });
    await budget.countMessage();
    assert.equal((await budget.messages())?.used, 1);
    await clock.advance(13 * DAY_MS);
    assert.equal(await budget.messages(), undefined);
    assert.equal((await budget.newChats()).total, 50);
    for (let n = 0; n < 1000; n++) await budget.countMessage();
  });

  it('stays on its first day until the session connects', async () => {
    const { clock, values, budget } = budgetOf(50, true);
    await clock.advance(5 * DAY_MS);
    assert.deepEqual([(await budget.newChats()).total, (await budget.messages())?.total], [10, 50]);
    assert.equal(values.size, 0);
    await budget.start();
    await clock.advance(DAY_MS);
    assert.deepEqual([(await budget.newChats()).total, (await budget.messages())?.total], [13, 100]);
  });

  it('continues with the next connection, and survives a clock that is set back', async () => {
    const { clock, budget, open } = budgetOf(50, true);
    await budget.start();
    await clock.advance(3 * DAY_MS);
    await budget.countMessage();
    clock.set(clock.now() - 2 * DAY_MS);
    const next = open();
    await next.start();
    assert.deepEqual([(await next.messages())?.used, (await next.messages())?.total], [1, 200]);
  });

  it('counts concurrent messages exactly', async () => {
    const { budget } = budgetOf(50, true);
    await budget.start();
    const all = await Promise.allSettled(Array.from({ length: 80 }, () => budget.countMessage()));
    assert.equal(all.filter(({ status }) => status === 'fulfilled').length, 50);
  });

  it('stores nothing for a session without it', async () => {
    const { budget, values } = budgetOf(50, false);
    await budget.start();
    for (let n = 0; n < 100; n++) await budget.countMessage();
    assert.equal(values.size, 0);
  });
});

describe('the forecast of a limit', () => {
  it('is near in the last fifth, and reached beyond it', () => {
    assert.deepEqual(
      [0, 7, 8, 9, 10, 11].map((used) => limitOutcome(used, 10)),
      ['ok', 'ok', 'limit_near', 'limit_near', 'limit_reached', 'limit_reached'],
    );
    assert.deepEqual([limitOutcome(0, 0), limitOutcome(0, 1)], ['limit_reached', 'limit_near']);
    assert.match(
      limitForecast({ used: 10, total: 10, freeInMs: 5 }, 1, 'the day').reason ?? '',
      /number 12 of the day/,
    );
  });

  it('is the gravest of several', () => {
    assert.equal(worst([]).outcome, 'ok');
    assert.equal(worst([undefined, { outcome: 'limit_near' }, { outcome: 'ok' }]).outcome, 'limit_near');
    assert.equal(worst([{ outcome: 'limit_near' }, { outcome: 'limit_reached' }]).outcome, 'limit_reached');
  });
});
