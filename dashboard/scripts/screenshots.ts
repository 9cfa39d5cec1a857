/*
 * Takes a screenshot of every page for `docs/dashboard.md`, and of the overview in both themes and twice as sharp for
 * the README: `npm run screenshots`. Uses a real server with an hour of sample data, and a real browser.
 */
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { startReceiver } from '../../server/test/support/connections/receiver.ts';
import { authorizationUrl, newProof, register, startOAuthServer } from '../../server/test/support/mcp/oauth.ts';
import type { TestServer } from '../../server/test/support/server.ts';
import { launch, logIn } from '../test/support/browser.ts';
import { openShop, PastClock, type Shop } from './shop.ts';

const FOLDER = fileURLToPath(new URL('../../docs/pictures/', import.meta.url));
/** Small, because the files are kept in the repository. */
const SIZE = { width: 1100, height: 700 };

interface Samples extends Shop {
  /** Where an app asks to be connected. */
  readonly consentUrl: string;
}

interface Shot {
  readonly name: string;
  readonly path: (samples: Samples) => string;
  /** Waits for the content of the page before the screenshot. */
  readonly prepare: (page: Page, samples: Samples) => Promise<unknown>;
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
  { name: 'consent', path: ({ consentUrl }) => consentUrl, prepare: heading('Connect Assistant?') },
];

async function main(): Promise<void> {
  mkdirSync(FOLDER, { recursive: true });
  const [orders, stock] = [await startReceiver(), await startReceiver()];
  const clock = new PastClock(60);
  const server = await startOAuthServer({
    clock,
    env: { WEBHOOK_RETRY_SECONDS: '1,600', BREAKER_OPEN_SECONDS: '600' },
  });
  const browser = await launch();
  try {
    const account = await server.account();
    const samples = {
      ...(await openShop(account.call, orders, stock, clock)),
      consentUrl: await askToConnect(server),
    };
    const [overview, ...others] = shots;
    for (const theme of ['light', 'dark'] as const)
      await takeAll(browser, server.url, account.email, samples, theme, overview === undefined ? [] : [overview], 2);
    await takeAll(browser, server.url, account.email, samples, 'light', others, 1);
  } finally {
    await browser.close();
    await server.stop();
    await orders.close();
    await stock.close();
  }
}

/** Lets an app begin to ask for a connection. */
async function askToConnect(server: TestServer): Promise<string> {
  const redirect = 'https://assistant.example/callback';
  const { body: client } = await register(server, { client_name: 'Assistant', redirect_uris: [redirect] });
  const scope = 'sessions:read messages:read messages:send chats:read';
  const parameters = { redirect_uri: redirect, code_challenge: newProof().challenge, scope };
  return authorizationUrl(server, client.client_id, parameters).href;
}

async function takeAll(
  browser: Browser,
  baseURL: string,
  email: string,
  samples: Samples,
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
    await page.goto(path(samples));
    await prepare(page, samples);
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
