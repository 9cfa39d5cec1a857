import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type axe from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { PATIENCE_MS } from '../../../server/test/support/eventually.ts';
import { startServer, type TestServer, type TestServerOptions } from '../../../server/test/support/server.ts';
import { findChromium } from './chromium.ts';

export const PHONE = { width: 390, height: 844 };
export const WIDE = { width: 1280, height: 860 };
export const PASSWORD = 'correct horse battery';

/** The response of a server that failed. */
export const SERVER_ERROR = {
  status: 500,
  contentType: 'application/problem+json',
  body: JSON.stringify({
    type: 'about:blank',
    title: 'Something went wrong',
    status: 500,
    code: 'internal_error',
    detail: 'The database is on fire',
    requestId: 'req_test',
  }),
};

export interface Dashboard {
  readonly server: TestServer;
  /** Opens a page without a login, which has not navigated yet. */
  open(test: TestContext, options?: BrowserContextOptions): Promise<Page>;
  /** Opens a page with this account logged in. */
  openAs(test: TestContext, account: Account, options?: BrowserContextOptions): Promise<Page>;
  /** Opens a page with a new account logged in, and returns functions that call the API as this account. */
  openLoggedIn(test: TestContext, options?: BrowserContextOptions): Promise<LoggedIn>;
}

export type Account = Awaited<ReturnType<TestServer['account']>>;

export interface LoggedIn extends Account {
  readonly page: Page;
}

/**
 * Starts a real server with the built dashboard before the tests of a suite. A page that logs an error, throws, or
 * breaks its policy fails its test.
 */
export function startDashboard(options: TestServerOptions = {}): Dashboard {
  let server: TestServer;
  before(async () => {
    server = await startServer(options);
  });
  after(() => server.stop());

  async function open(test: TestContext, more: BrowserContextOptions = {}): Promise<Page> {
    const context = await (await sharedBrowser()).newContext({
      viewport: WIDE,
      baseURL: server.url,
      reducedMotion: 'reduce',
      ...more,
    });
    context.setDefaultTimeout(PATIENCE_MS);
    const page = await context.newPage();
    const errors = collectErrors(page, server.url);
    test.after(async () => {
      await context.close();
      assert.deepEqual(errors, []);
    });
    return page;
  }

  async function openAs(test: TestContext, { token }: Account, more?: BrowserContextOptions): Promise<Page> {
    const page = await open(test, more);
    await page.context().addCookies([{ name: 'switchboard', value: token, url: server.url, httpOnly: true }]);
    return page;
  }

  return {
    get server() {
      return server;
    },
    open,
    openAs,
    async openLoggedIn(test, more) {
      const account = await server.account();
      return { ...account, page: await openAs(test, account, more) };
    },
  };
}

/** Logs in with the form. */
export async function logIn(page: Page, email: string, password = PASSWORD): Promise<void> {
  await page.goto('/login');
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.waitForURL((url) => url.pathname !== '/login');
  await page.getByRole('heading', { level: 1 }).waitFor();
}

/** Waits until the page with this title has loaded all of its content. */
export async function waitForPage(page: Page, title: string): Promise<void> {
  await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();
  await page.waitForFunction(() => document.querySelector('main [role=status][aria-label=Loading]') === null);
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The rules of axe whose result depends on the theme. */
const RULES_OF_COLORS = ['color-contrast', 'link-in-text-block'];

/** Asserts that axe finds no violations in either theme: https://github.com/dequelabs/axe-core. */
export async function assertAccessible(page: Pick<Page, 'evaluate' | 'url'>): Promise<void> {
  await page.evaluate(axeSource);
  for (const [theme, rules] of [['light'], ['dark', RULES_OF_COLORS]] as const) {
    await page.evaluate((name) => document.documentElement.setAttribute('data-theme', name), theme);
    const { violations } = await page.evaluate(
      (runOnly) =>
        // Injected above.
        (globalThis as unknown as { axe: typeof axe }).axe.run(document, {
          resultTypes: ['violations'],
          ...(runOnly && { runOnly: [...runOnly] }),
        }),
      rules,
    );
    const found = violations.flatMap(({ id, help, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${theme}: ${id} (${help}): ${html} ${failureSummary}`),
    );
    assert.deepEqual(found, [], `${page.url()} has violations`);
  }
}

/** Polls until a value is as expected, because rendering follows a change with a delay. */
export async function assertSoon<T>(read: () => Promise<T>, expected: T, message?: string): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  let found = await read();
  for (; found !== expected && Date.now() < deadline; found = await read()) await delay(20);
  if (message === undefined) assert.equal(found, expected);
  else assert.equal(found, expected, message);
}

/** Asserts that the page is accessible, and fits on the screen. */
export async function assertUsable(page: Page): Promise<void> {
  await assertAccessible(page);
  await assertNoSidewaysScroll(page);
}

/** Asserts that the page does not scroll sideways. */
export async function assertNoSidewaysScroll(page: Page): Promise<void> {
  const [content, screen] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok((content ?? 0) <= (screen ?? 0), `${page.url()} is ${content} px wide on a screen of ${screen} px`);
  await assertNothingCutOff(page);
}

/** Asserts that no card cuts off a button, a link, an input or a cell. */
export async function assertNothingCutOff(page: Page): Promise<void> {
  const cutOff = await page.evaluate(() => [
    ...[...document.querySelectorAll('[role=row] > *')]
      .filter((cell) => {
        const row = cell.parentElement?.getBoundingClientRect();
        return cell.getBoundingClientRect().right > (row?.right ?? 0);
      })
      .map((cell) => cell.outerHTML.slice(0, 200)),
    ...[...document.querySelectorAll('main :is(button, a, input, select)')]
      .filter((element) => {
        const { right, width } = element.getBoundingClientRect();
        for (let around = element.parentElement; width > 0 && around !== null; around = around.parentElement) {
          const { overflowX } = getComputedStyle(around);
          // Content that scrolls is reachable.
          if (overflowX === 'auto' || overflowX === 'scroll') return false;
          if (overflowX !== 'visible' && right > around.getBoundingClientRect().right + 1) return true;
        }
        return false;
      })
      .map((element) => element.outerHTML.slice(0, 200)),
  ]);
  assert.deepEqual(cutOff, [], `${page.url()} cuts off content`);
}

const EXPECTED = /Failed to load resource|^(ConnectionError|PageCodeError|ServerError): /;

/** Collects the errors of the browser while the page is used. */
function collectErrors(page: Page, ownOrigin: string): string[] {
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(`threw: ${error.stack ?? error.message}`));
  page.on('console', (message) => {
    // The browser logs failed requests, and the router logs errors that keep a page from opening. The page shows both.
    if (message.type() === 'error' && !EXPECTED.test(message.text())) errors.push(message.text());
  });
  page.on('request', (request) => {
    const url = request.url();
    if (!/^(data|blob):/.test(url) && !url.startsWith(ownOrigin)) errors.push(`requested another server: ${url}`);
  });
  return errors;
}

let shared: Promise<Browser> | undefined;
after(async () => (await shared)?.close());

/** The browser of all tests of this process. */
function sharedBrowser(): Promise<Browser> {
  shared ??= launch();
  return shared;
}

/**
 * Launches a browser in English.
 *
 * Does not use the arguments of `@sparticuz/chromium`, which are for machines without process isolation: a crashing
 * page would take the whole browser with it, and origins would not be isolated.
 */
export async function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: await findChromium(),
    args: ['--no-sandbox'],
    // The same language on every machine.
    env: { ...process.env, LC_ALL: 'en_US.UTF-8' },
  });
}
