import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { startReceiver } from '../../server/test/support/receiver.ts';
import { type Call, connectSession } from '../../server/test/support/server.ts';
import { logIn, startDashboard } from './support/browser.ts';

const ROWS = 10_000;
const AT_ONCE = 100;
/** Limits the rendered rows to a few screens. */
const MAX_RENDERED = 120;
/**
 * Limits the median frame while scrolling by whole screens. It was 64 ms with a menu per message under a load of 20 on
 * two cores; rendering all rows at once would take seconds.
 */
const MEDIAN_FRAME_MS = 100;

describe('10,000 rows', async () => {
  const dashboard = await startDashboard({ env: { MAX_SESSIONS: '20000' } });
  const receiver = await startReceiver();
  after(() => receiver.close());
  let email = '';

  before(async () => {
    const account = await dashboard.server.account();
    email = account.email;
    const { call } = account;
    await call('POST', '/webhooks/set', { webhookUrl: receiver.url, events: ['message.incoming'] });
    const sessionId = await connectSession(call);
    for (let written = 0; written < ROWS; written += AT_ONCE)
      await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => write(call, sessionId, written + index)));
  });

  it('scroll smoothly in a chat', async (test) => {
    const page = await dashboard.open(test);
    await logIn(page, email);
    await page.goto('/chats?chat=491700000041');
    const feed = page.getByRole('feed');
    await feed.getByRole('article').last().waitFor();
    await loadAll(page, '[role=feed]', 'up', async () =>
      Number(await feed.getByRole('article').first().getAttribute('aria-setsize')),
    );
    await assertSmooth(page, '[role=feed]', 'article');
  });

  it('scroll smoothly in the delivery log', async (test) => {
    const page = await dashboard.open(test);
    await logIn(page, email);
    await page.goto('/deliveries');
    await assertSmoothTable(page, 'Deliveries');
  });

  it('scroll smoothly in the event log', async (test) => {
    const page = await dashboard.open(test);
    await logIn(page, email);
    await page.goto('/events?view=log&kind=message.incoming');
    await assertSmoothTable(page, 'Event log');
  });

  it('scroll smoothly in the list of sessions', async (test) => {
    const { page, call } = await dashboard.openLoggedIn(test);
    for (let made = 0; made < ROWS; made += AT_ONCE)
      await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => create(call, `Session ${made + index}`)));
    await page.goto('/sessions');
    await assertSmoothTable(page, 'Sessions');
  });
});

async function create(call: Call, name: string): Promise<void> {
  const { status } = await call('POST', '/sessions', { name });
  assert.equal(status, 201);
}

async function write(call: Call, sessionId: string, number: number): Promise<void> {
  const message = `Message ${number}, which says nothing more`;
  const { status } = await call('POST', `/sessions/${sessionId}/simulate`, {
    action: 'incoming',
    from: '491700000041',
    message,
  });
  assert.equal(status, 200);
}

async function assertSmoothTable(page: Page, name: string): Promise<void> {
  const table = page.getByRole('table', { name });
  const scroller = '[role=table] [tabindex="0"]';
  await table.getByRole('row').nth(1).waitFor();
  await loadAll(page, scroller, 'down', async () => Number(await table.getAttribute('aria-rowcount')) - 1);
  await assertSmooth(page, scroller, '[role=row]');
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
async function assertSmooth(page: Page, scroller: string, row: string): Promise<void> {
  const { frames, mostDrawn, height } = await page.evaluate(
    async ([selector, rowSelector]) => {
      const element = document.querySelector(selector);
      if (element === null) throw new Error(`there is no ${selector}`);
      const times: number[] = [];
      let drawn = 0;
      const step = element.scrollHeight / 100;
      for (let index = 0, last = performance.now(); index <= 100; index++) {
        element.scrollTop = index * step;
        await new Promise((resolve) => requestAnimationFrame(resolve));
        const now = performance.now();
        times.push(now - last);
        last = now;
        drawn = Math.max(drawn, element.querySelectorAll(rowSelector).length);
      }
      return { frames: times, mostDrawn: drawn, height: element.scrollHeight };
    },
    [scroller, row] as const,
  );
  const median = frames.toSorted((a, b) => a - b)[Math.floor(frames.length / 2)] ?? Number.NaN;
  assert.ok(height > ROWS * 20, `the scroll height is ${height} px`);
  assert.ok(mostDrawn > 0 && mostDrawn < MAX_RENDERED, `${mostDrawn} rows were drawn at a time`);
  assert.ok(median < MEDIAN_FRAME_MS, `half of the frames took more than ${median} ms`);
}
