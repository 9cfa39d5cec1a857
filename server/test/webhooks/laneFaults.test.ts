import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { AppError } from '../../src/errors.ts';
import { createIds } from '../../src/ids.ts';
import { Lane, type LaneDeps } from '../../src/webhooks/lanes/lane.ts';
import { readStarts } from '../../src/webhooks/lanes/laneReader.ts';
import { createSettleLanes } from '../../src/webhooks/lanes/settling.ts';
import type { Due } from '../../src/webhooks/queue/due.ts';
import type { Outcome } from '../../src/webhooks/queue/outcome.ts';
import { storeLog } from '../support/databases/storedLog.ts';
import { eventually } from '../support/eventually.ts';
import { createFakeClock } from '../support/fakeClock.ts';
import { startServer } from '../support/server.ts';

const OPEN_MS = 5000;
const answered = (status: 200 | 500): Outcome => ({
  class: status === 200 ? 'ok' : 'server_error',
  status,
  durationMs: 1,
  message: `Answered ${status}`,
  response: null,
  retryAfterMs: null,
});

/** A lane on the database of a server whose own lanes have stopped. Its attempts end on command. */
async function openLane(test: TestContext, change: (deps: LaneDeps) => Partial<LaneDeps> = () => ({})) {
  const clock = createFakeClock();
  const server = await startServer({ clock });
  test.after(() => server.stop());
  const { services } = server.app;
  const { database, steady } = services;
  await services.engine.stop(0);
  const { call, accountId } = await server.account();
  const { body } = await call('POST', '/webhooks/endpoints', { webhookUrl: server.url, events: ['message.sent'] });
  const webhookId: string = body.webhookId;
  const inFlight: { body: string; end: (outcome: Outcome) => void }[] = [];
  const sent: string[] = [];
  const deps: LaneDeps = {
    ...services,
    settleLanes: createSettleLanes(services),
    showOccurrence: async () => ({ refusal: 'no subscription' }),
    withFiles: (_, body, use) => use(body),
    deliver: {
      ...services.deliver,
      attempt: ({ body: text }) => {
        sent.push(text);
        return new Promise((resolve) => inFlight.push({ body: text, end: resolve }));
      },
    },
    retry: { stepsMs: [60_000], random: () => 0.5 },
    breaker: { openMs: OPEN_MS, random: () => 0 },
    readStart: async (id) => (await readStarts(database, [id], steady.now()))(id),
    room: () => 1024,
    offer: () => {
      while (lane.canStart) lane.startOne();
    },
    release: () => {},
    idle: () => {},
  };
  const lane: Lane = new Lane(webhookId, { ...deps, ...change(deps) });
  test.after(() => lane.abandon());
  const newId = createIds(clock);

  /** Stores deliveries, each in a conversation of its own, named after its body. */
  const add = async (names: readonly string[], more: { attempts?: number; dueAt?: number } = {}): Promise<Due[]> => {
    const rows = names.map((name) => ({
      ...{ eventId: newId('evt'), deliveryId: newId('dlv'), webhookId, conversation: name, body: name },
      ...{ createdAt: clock.now(), ...more },
    }));
    const keys = await database.commit((tx) => storeLog(tx, accountId, rows));
    return rows.map(({ eventId, deliveryId, conversation, body }, n) => ({
      webhook: keys[n]?.webhook ?? 0,
      deliveryId,
      eventId,
      kind: 'message.sent',
      conversation,
      attempts: 0,
      steps: 0,
      dueAt: 0,
      body,
      trace: null,
      sequence: keys[n]?.event ?? 0,
      createdAt: 0,
    }));
  };
  const endAll = (outcome: Outcome) => {
    for (const { end } of inFlight.splice(0)) end(outcome);
  };
  const stateOf = async (name: string) => {
    const { kysely } = database.reader;
    const row = await kysely
      .selectFrom('deliveries as d')
      .innerJoin('events as e', 'e.position', 'd.event')
      .select('d.state')
      .where('e.conversation', '=', name)
      .executeTakeFirstOrThrow();
    return row.state;
  };
  const storedBreaker = async () => {
    const { kysely } = database.reader;
    const row = await kysely
      .selectFrom('webhooks')
      .select('breaker_state')
      .where('webhook_id', '=', webhookId)
      .executeTakeFirstOrThrow();
    return row.breaker_state;
  };
  const isInFlight = (count: number) =>
    eventually(
      () => Promise.resolve(inFlight.length),
      (found) => found === count,
    );
  /** Makes the webhook a subscription of an MCP client, whose key does not exist. */
  const subscribe = async () => {
    await services.subscriptionKeeper.stop();
    await database.commit(({ kysely }) =>
      kysely
        .updateTable('webhooks')
        .set({ subscription_id: 'sub_1', key_id: 'key_1', expires_at: clock.now() + 3_600_000, ordering: 'strict' })
        .where('webhook_id', '=', webhookId)
        .execute(),
    );
  };
  return { lane, clock, steady, sent, inFlight, add, endAll, isInFlight, stateOf, storedBreaker, subscribe };
}

const names = (prefix: string, count: number) => Array.from({ length: count }, (_, n) => `${prefix}${n}`);

/** Holds what passes it until it is opened. */
function createGate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  let isClosed = false;
  return {
    close: () => {
      isClosed = true;
    },
    open: () => {
      isClosed = false;
      resolve();
    },
    pass: async () => {
      if (isClosed) await promise;
    },
  };
}

describe('a lane', () => {
  it('sends a retry that becomes due while new deliveries keep it busy', async (test) => {
    const { lane, clock, steady, sent, add, endAll, isInFlight } = await openLane(test);
    await add(['first']);
    await add(['retry'], { attempts: 1, dueAt: steady.now() + 1000 });
    lane.wake();
    await isInFlight(1);
    lane.wake(await add(names('new', 30)));
    await isInFlight(8);
    await clock.advance(1000);
    for (let n = 0; n < 4; n++) {
      endAll(answered(200));
      await isInFlight(n === 3 ? 0 : 8);
    }
    assert.ok(sent.includes('retry'), sent.join());
  });

  it('sends a probe although its breaker opened during a read', async (test) => {
    const gate = createGate();
    const { lane, clock, sent, add, endAll, isInFlight, storedBreaker } = await openLane(test, ({ database }) => {
      const { reader } = database;
      const query: typeof reader.connection.query = async (...of) => {
        await gate.pass();
        return reader.connection.query(...of);
      };
      return { database: { ...database, reader: { ...reader, connection: { query } } } };
    });
    await add(names('first', 8));
    lane.wake();
    await isInFlight(8);
    await add(names('later', 20));
    gate.close();
    lane.wake();
    endAll(answered(500));
    await eventually(storedBreaker, (state) => state === 'open');
    gate.open();
    await clock.advance(OPEN_MS);
    await isInFlight(1);
    assert.equal(sent.length, 9);
  });

  it('keeps what a probe has shown while the webhook is read again', async (test) => {
    const gate = createGate();
    const { lane, clock, sent, add, endAll, isInFlight, storedBreaker } = await openLane(test, ({ readStart }) => ({
      readStart: async (id) => {
        const start = await readStart(id);
        await gate.pass();
        return start;
      },
    }));
    await add(names('first', 8));
    lane.wake();
    await isInFlight(8);
    endAll(answered(500));
    await eventually(storedBreaker, (state) => state === 'open');
    lane.wake(await add(names('later', 3)));
    await clock.advance(OPEN_MS);
    await isInFlight(1);
    gate.close();
    lane.reload();
    endAll(answered(500));
    await eventually(storedBreaker, (state) => state === 'open');
    gate.open();
    await clock.advance(OPEN_MS - 1);
    assert.equal(sent.length, 9, 'the next probe is not due yet');
    await clock.advance(1);
    await isInFlight(1);
  });

  it('goes on after its database failed while a delivery for a subscriber was prepared', async (test) => {
    let released = 0;
    const failures = [new AppError('storage_unavailable'), new Error('refused')];
    const { lane, clock, sent, add, endAll, isInFlight, stateOf, subscribe } = await openLane(test, () => ({
      showOccurrence: async ({ due }) => {
        const failure = due.body === 'first' ? failures.shift() : undefined;
        if (failure !== undefined) throw failure;
        return { body: due.body };
      },
      release: () => {
        released++;
      },
    }));
    await subscribe();
    await add(['first', 'second']);
    lane.wake();
    await isInFlight(1);
    await eventually(
      async () => released,
      (count) => count === 1,
    );
    assert.deepEqual(sent, ['second']);
    endAll(answered(200));
    await eventually(
      () => stateOf('second'),
      (state) => state === 'delivered',
    );
    assert.equal(await stateOf('first'), 'pending');
    await clock.advance(250);
    await eventually(
      async () => released,
      (count) => count === 3,
    );
    assert.deepEqual(sent, ['second'], 'the second failure came');
    await clock.advance(30_000);
    await isInFlight(1);
    assert.deepEqual(sent, ['second', 'first']);
    endAll(answered(200));
    await eventually(
      () => stateOf('first'),
      (state) => state === 'delivered',
    );
    await lane.abort(); // resolves only if nothing counts as in flight
  });

  /** Fails the settlements for which `failureOf` returns an error. */
  const failing =
    (failureOf: (settlement: { due: { body?: string }; outcome: Outcome }) => Error | undefined) =>
    ({ database }: LaneDeps): Partial<LaneDeps> => ({
      database: {
        ...database,
        commitJointly: async (work, item, key) => {
          // The lane settles what it names here.
          const { settlements } = item as { settlements: readonly { due: { body?: string }; outcome: Outcome }[] };
          for (const settlement of settlements) {
            const failure = failureOf(settlement);
            if (failure !== undefined) throw failure;
          }
          return database.commitJointly(work, item, key);
        },
      },
    });
  const isDelivered = (state: string) => state === 'delivered';

  it('settles the other deliveries if the database refuses one of them, and sends that one again', async (test) => {
    let refuses = true;
    const refuse = failing(({ due }) => (refuses && due.body === 'refused' ? new Error('refused') : undefined));
    const { lane, clock, sent, add, endAll, isInFlight, stateOf } = await openLane(test, refuse);
    await add(['refused', 'accepted']);
    lane.wake();
    await isInFlight(2);
    endAll(answered(200));
    await eventually(() => stateOf('accepted'), isDelivered);
    assert.equal(await stateOf('refused'), 'pending');
    refuses = false;
    await eventually(
      async () => {
        await clock.advance(30_000);
        return sent.length;
      },
      (count) => count === 3,
    );
    await isInFlight(1);
    endAll(answered(200));
    await eventually(() => stateOf('refused'), isDelivered);
  });

  it('stores an outcome without its details if the database refuses those', async (test) => {
    const refuse = failing(({ outcome }) => (outcome.response === null ? undefined : new Error('refused')));
    const { lane, sent, add, endAll, isInFlight, stateOf } = await openLane(test, refuse);
    await add(['first']);
    lane.wake();
    await isInFlight(1);
    endAll({ ...answered(200), response: 'unusual' });
    await eventually(() => stateOf('first'), isDelivered);
    assert.deepEqual(sent, ['first']);
  });

  it('keeps an outcome while its row is locked, and sends the delivery again after a minute', async (test) => {
    let isLocked = true;
    let failures = 0;
    const cause = Object.assign(new Error('locked'), { code: 'ERR_SQLITE_ERROR', errcode: 4 });
    const lock = failing(({ due }) => {
      if (!isLocked || due.body === 'free') return undefined;
      failures++;
      return new AppError('storage_unavailable', undefined, { cause });
    });
    const { lane, clock, sent, add, endAll, isInFlight, stateOf } = await openLane(test, lock);
    await add(['locked', 'free']);
    lane.wake();
    await isInFlight(2);
    endAll(answered(200));
    await eventually(() => stateOf('free'), isDelivered);
    const failAgain = async () => {
      const before = failures;
      await eventually(
        async () => {
          await clock.advance(250);
          return failures;
        },
        (count) => count > before,
      );
    };
    await failAgain();
    assert.deepEqual(sent.toSorted(), ['free', 'locked'], 'it is not sent again while its outcome may be stored');
    await eventually(
      async () => {
        await clock.advance(10_000);
        return sent.length;
      },
      (count) => count === 3,
    );
    isLocked = false;
    await isInFlight(1);
    endAll(answered(200));
    await eventually(() => stateOf('locked'), isDelivered);
  });

  it('sends a delivery again whose attempt failed unexpectedly', async (test) => {
    let attempts = 0;
    const { lane, clock, add, endAll, isInFlight, stateOf } = await openLane(test, ({ deliver }) => ({
      deliver: {
        ...deliver,
        attempt: (request) => {
          if (++attempts === 1) throw new TypeError('a bug');
          return deliver.attempt(request);
        },
      },
    }));
    await add(['first']);
    lane.wake();
    await eventually(
      async () => attempts,
      (count) => count === 1,
    );
    await eventually(
      async () => {
        await clock.advance(30_000);
        return attempts;
      },
      (count) => count === 2,
    );
    await isInFlight(1);
    endAll(answered(200));
    await eventually(() => stateOf('first'), isDelivered);
  });
});
