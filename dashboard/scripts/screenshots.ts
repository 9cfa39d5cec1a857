/*
 * Takes a screenshot of every page for `docs/dashboard.md`, and of the overview in both themes and twice as sharp for
 * the README: `npm run screenshots`. Uses a real server with an hour of sample data, and a real browser.
 */
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { startReceiver } from '../../server/test/support/receiver.ts';
import { startServer } from '../../server/test/support/server.ts';
import { launch, logIn } from '../test/support/browser.ts';
import { openShop, PastClock, type Shop } from './shop.ts';

const FOLDER = fileURLToPath(new URL('../../docs/pictures/', import.meta.url));
/** Small, because the files are kept in the repository. */
const SIZE = { width: 1100, height: 700 };

interface Shot {
  readonly name: string;
  readonly path: (shop: Shop) => string;
  /** Waits for the content of the page before the screenshot. */
  readonly prepare: (page: Page, shop: Shop) => Promise<unknown>;
}

const heading = (name: string) => (page: Page) => page.getByRole('heading', { level: 1, name }).waitFor();
const table = (name: string) => (page: Page) => page.getByRole('table', { name }).getByRole('row').nth(1).waitFor();

const shots: readonly Shot[] = [
  { name: 'overview', path: () => '/', prepare: heading('Overview') },
  { name: 'sessions', path: () => '/sessions', prepare: heading('Sessions') },
  {
    name: 'session',
    path: ({ sessionId }) => `/sessions/${sessionId}`,
    prepare: (page) => page.getByRole('heading', { level: 1 }).waitFor(),
  },
  {
    name: 'chats',
    path: ({ chatId }) => `/chats?chat=${chatId}`,
    prepare: (page) => page.getByRole('article').first().waitFor(),
  },
  { name: 'approvals', path: () => '/approvals', prepare: (page) => page.getByText('Bremen').waitFor() },
  {
    name: 'simulator',
    path: ({ chatId }) => `/simulator?chat=${chatId}`,
    prepare: (page) => page.getByRole('article').first().waitFor(),
  },
  { name: 'groups', path: () => '/groups', prepare: table('Groups') },
  { name: 'group', path: ({ groupId }) => `/groups/${groupId}`, prepare: table('Members') },
  { name: 'webhooks', path: () => '/webhooks', prepare: table('Webhooks') },
  {
    name: 'webhook',
    path: ({ webhookId }) => `/webhooks/${webhookId}`,
    prepare: (page) => page.getByText(/events are held/).waitFor(),
  },
  {
    name: 'deliveries',
    path: () => '/deliveries',
    prepare: (page) => page.getByText('message.incoming').nth(1).waitFor(),
  },
  {
    name: 'delivery',
    path: ({ failedDeliveryId }) => `/deliveries/${failedDeliveryId}`,
    prepare: (page) => page.getByText('502').first().waitFor(),
  },
  {
    name: 'events',
    path: () => '/events?view=log',
    prepare: (page) => page.getByText('message.incoming').nth(1).waitFor(),
  },
  { name: 'keys', path: () => '/keys', prepare: table('API keys') },
  {
    name: 'mcp',
    path: () => '/tools',
    prepare: (page) => page.getByRole('list', { name: 'Tools' }).getByRole('listitem').first().waitFor(),
  },
  {
    name: 'reference',
    path: () => '/docs#messages.send',
    prepare: (page) => page.getByRole('region', { name: 'Example request: curl' }).waitFor(),
  },
  { name: 'account', path: () => '/account', prepare: heading('Account') },
];

async function main(): Promise<void> {
  mkdirSync(FOLDER, { recursive: true });
  const [orders, stock] = [await startReceiver(), await startReceiver()];
  const clock = new PastClock(60);
  const server = await startServer({ clock, env: { WEBHOOK_RETRY_SECONDS: '1,600', BREAKER_OPEN_SECONDS: '600' } });
  const browser = await launch();
  try {
    const account = await server.account();
    const shop = await openShop(account.call, orders, stock, clock);
    const [overview, ...others] = shots;
    for (const theme of ['light', 'dark'] as const)
      await takeAll(browser, server.url, account.email, shop, theme, overview === undefined ? [] : [overview], 2);
    await takeAll(browser, server.url, account.email, shop, 'light', others, 1);
  } finally {
    await browser.close();
    await server.stop();
    await orders.close();
    await stock.close();
  }
}

async function takeAll(
  browser: Browser,
  baseURL: string,
  email: string,
  shop: Shop,
  theme: 'light' | 'dark',
  wanted: readonly Shot[],
  deviceScaleFactor: number,
) {
  const options = { viewport: SIZE, deviceScaleFactor, baseURL, colorScheme: theme, reducedMotion: 'reduce' } as const;
  const context = await browser.newContext(options);
  const page = await context.newPage();
  await page.goto('/login');
  await page.getByRole('heading', { level: 1 }).waitFor();
  if (deviceScaleFactor === 1) await take(page, 'login', theme);
  await logIn(page, email);
  for (const { name, path, prepare } of wanted) {
    await page.goto(path(shop));
    await prepare(page, shop);
    await take(page, name, theme);
  }
  await context.close();
}

async function take(page: Page, name: string, theme: string): Promise<void> {
  // All content and fonts have loaded.
  await page.waitForFunction(() => document.querySelector('main [role=status][aria-label=Loading]') === null);
  await page.evaluate(() => document.fonts.ready);
  const { length } = await page.screenshot({ path: `${FOLDER}${name}-${theme}.png` });
  process.stdout.write(`${name}-${theme}.png ${Math.round(length / 1000)} KB\n`);
}

await main();
