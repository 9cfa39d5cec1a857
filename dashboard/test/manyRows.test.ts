import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { systemClock } from '../../server/src/clock.ts';
import type { Tx } from '../../server/src/db/commit.ts';
import { accountNumber } from '../../server/src/db/numbers.ts';
import { createIds } from '../../server/src/ids.ts';
import { startReceiver } from '../../server/test/support/connections/receiver.ts';
import { connectSession } from '../../server/test/support/server.ts';
import { type Account, assertSoon, startDashboard } from './support/browser.ts';
import { FRIEND, writeIn } from './support/sandbox.ts';

const ROWS = 10_000;
const INSERTED_AT_ONCE = 500;
/** Limits the rendered rows to a few screens. */
const MAX_RENDERED = 120;
/** Limits the elements of a row. A menu in each row would exceed it. */
const MAX_ELEMENTS_PER_ROW = 30;

describe('10,000 rows', async () => {
  const dashboard = startDashboard();
  const newId = createIds(systemClock);
  const receiver = await startReceiver();
  after(() => receiver.close());
  let account: Account;

  before(async () => {
    account = await dashboard.server.account();
    const { call, accountId } = account;
    await call('POST', '/webhooks/set', { webhookUrl: receiver.url, events: ['message.incoming'] });
    const sessionId = await connectSession(call);
    await writeIn(call, sessionId, 'Message 1, which says nothing more');
    await assertSoon(async () => (await call('GET', '/webhooks/deliveries?states=delivered')).body.data.length, 1);
    await copyMessage(accountId);
  });

  const database = () => dashboard.server.app.services.database;

  /** Copies the message of an account with its event and delivery, as the message of the same chat at other times. */
  async function copyMessage(accountId: string): Promise<void> {
    const { kysely } = database().reader;
    const [message, event, delivery] = await Promise.all([
      kysely.selectFrom('messages').selectAll().where('account_id', '=', accountId).executeTakeFirstOrThrow(),
      kysely
        .selectFrom('events')
        .selectAll()
        .where('account', '=', accountNumber(accountId))
        .where('kind', '=', 'message.incoming')
        .executeTakeFirstOrThrow(),
      kysely
        .selectFrom('deliveries')
        .selectAll()
        .where('account', '=', accountNumber(accountId))
        .executeTakeFirstOrThrow(),
    ]);
    const { seq: _, ...ofMessage } = message;
    const { position: __, ...ofEvent } = event;
    await insertCopies(async ({ kysely: tx }, count) => {
      const ids = Array.from({ length: count }, () => ({
        message_id: newId('msg'),
        event_id: newId('evt'),
        delivery_id: newId('dlv'),
      }));
      await tx
        .insertInto('messages')
        .values(ids.map(({ message_id }) => ({ ...ofMessage, message_id, network_id: message_id })))
        .execute();
      const events = await tx
        .insertInto('events')
        .values(ids.map(({ message_id, event_id }) => ({ ...ofEvent, message_id, event_id })))
        .returning('position')
        .execute();
      await tx
        .insertInto('deliveries')
        .values(
          events.map(({ position }, n) => ({ ...delivery, event: position, delivery_id: ids[n]?.delivery_id ?? '' })),
        )
        .execute();
    });
  }

  /** Copies a session as sessions that nobody has connected. */
  async function copySession(sessionId: string): Promise<void> {
    const session = await database()
      .reader.kysely.selectFrom('sessions')
      .selectAll()
      .where('session_id', '=', sessionId)
      .executeTakeFirstOrThrow();
    const created = { ...session, status: 'created', wanted: 0, phone_number: null, lease_owner: null } as const;
    await insertCopies(({ kysely: tx }, count) =>
      tx
        .insertInto('sessions')
        .values(Array.from({ length: count }, () => ({ ...created, session_id: newId('ses') })))
        .execute(),
    );
  }

  async function insertCopies(insert: (tx: Tx, count: number) => Promise<unknown>): Promise<void> {
    for (let left = ROWS - 1; left > 0; left -= INSERTED_AT_ONCE)
      await database().commit((tx) => insert(tx, Math.min(left, INSERTED_AT_ONCE)));
  }

  it('scroll smoothly in a chat', async (test) => {
    const page = await dashboard.openAs(test, account);
    await page.goto(`/chats?chat=${FRIEND}`);
    const feed = page.getByRole('feed');
    await feed.getByRole('article').last().waitFor();
    await loadAll(page, '[role=feed]', 'up', async () =>
      Number(await feed.getByRole('article').first().getAttribute('aria-setsize')),
    );
    await assertSmooth(test, page, '[role=feed]', 'article');
  });

  it('scroll smoothly in the delivery log', async (test) => {
    const page = await dashboard.openAs(test, account);
    await page.goto('/deliveries');
    await assertSmoothTable(test, page, 'Deliveries');
  });

  it('scroll smoothly in the event log', async (test) => {
    const page = await dashboard.openAs(test, account);
    await page.goto('/events?view=log&kind=message.incoming');
    await assertSmoothTable(test, page, 'Event log');
  });

  it('scroll smoothly in the list of sessions', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    await copySession(await connectSession(call));
    await page.goto('/sessions');
    await assertSmoothTable(test, page, 'Sessions');
  });
});

async function assertSmoothTable(test: TestContext, page: Page, name: string): Promise<void> {
  const table = page.getByRole('table', { name });
  const scroller = '[role=table] [tabindex="0"]';
  await table.getByRole('row').nth(1).waitFor();
  await loadAll(page, scroller, 'down', async () => Number(await table.getAttribute('aria-rowcount')) - 1);
  await assertSmooth(test, page, scroller, '[role=row]');
}

/** Scrolls to the end until every row is loaded. */
async function loadAll(page: Page, scroller: string, way: 'up' | 'down', count: () => Promise<number>): Promise<void> {
  for (let loaded = 0; loaded < ROWS; ) {
    await page.evaluate(
      ([selector, isUp]) => {
        const element = document.querySelector(selector);
        element?.scrollTo({ top: isUp ? 0 : element.scrollHeight });
      },
      [scroller, way === 'up'] as const,
    );
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
    loaded = await count();
  }
}

/** Scrolls through all rows, one step per frame. */
async function assertSmooth(test: TestContext, page: Page, scroller: string, row: string): Promise<void> {
  const { frames, mostDrawn, elementsPerRow, height } = await page.evaluate(
    async ([selector, rowSelector]) => {
      const element = document.querySelector(selector);
      if (element === null) throw new Error(`there is no ${selector}`);
      const times: number[] = [];
      let drawn = 0;
      let elements = 0;
      const step = element.scrollHeight / 100;
      for (let index = 0, last = performance.now(); index <= 100; index++) {
        element.scrollTop = index * step;
        await new Promise((resolve) => requestAnimationFrame(resolve));
        const now = performance.now();
        times.push(now - last);
        last = now;
        const rows = [...element.querySelectorAll(rowSelector)];
        drawn = Math.max(drawn, rows.length);
        elements = Math.max(elements, ...rows.map((row) => row.querySelectorAll('*').length));
      }
      return { frames: times, mostDrawn: drawn, elementsPerRow: elements, height: element.scrollHeight };
    },
    [scroller, row] as const,
  );
  const median = frames.toSorted((a, b) => a - b)[Math.floor(frames.length / 2)] ?? Number.NaN;
  assert.ok(height > ROWS * 20, `the scroll height is ${height} px`);
  assert.ok(mostDrawn > 0 && mostDrawn < MAX_RENDERED, `${mostDrawn} rows were drawn at a time`);
  assert.ok(elementsPerRow < MAX_ELEMENTS_PER_ROW, `a row has ${elementsPerRow} elements`);
  test.diagnostic(`half of the frames took more than ${median.toFixed(1)} ms`);
}
