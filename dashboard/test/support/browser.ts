import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type axe from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { startServer, type TestServer, type TestServerOptions } from '../../../server/test/support/server.ts';
import { findChromium } from './chromium.ts';

export const PHONE = { width: 390, height: 844 };
export const WIDE = { width: 1280, height: 860 };
export const PASSWORD = 'correct horse battery';

export interface Dashboard {
  readonly server: TestServer;
  /** A fresh browser, with no login; its page is on no address yet. */
  open(test: TestContext, options?: BrowserContextOptions): Promise<Page>;
  /** A fresh browser in which a new account is logged in, and a way to call the API as this account. */
  openLoggedIn(test: TestContext, options?: BrowserContextOptions): Promise<LoggedIn>;
}

export interface LoggedIn extends Awaited<ReturnType<TestServer['account']>> {
  readonly page: Page;
}

/**
 * For a test file: a real server with the dashboard as it was built, and a real browser. A page that logs an error,
 * breaks, or asks for what its policy forbids fails its test.
 */
export async function startDashboard(options: TestServerOptions = {}): Promise<Dashboard> {
  const server = await startServer(options);
  const browser = await launch();
  after(async () => {
    await browser.close();
    await server.stop();
  });

  async function open(test: TestContext, more: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext({ viewport: WIDE, baseURL: server.url, reducedMotion: 'reduce', ...more });
    context.setDefaultTimeout(60_000);
    const page = await context.newPage();
    const errors = collectErrors(page, server.url);
    test.after(async () => {
      await context.close();
      assert.deepEqual(errors, []);
    });
    return page;
  }

  return {
    server,
    open,
    async openLoggedIn(test, more) {
      const account = await server.account();
      const page = await open(test, more);
      await logIn(page, account.email);
      return { ...account, page };
    },
  };
}

/** Logs in by the form. */
export async function logIn(page: Page, email: string, password = PASSWORD): Promise<void> {
  await page.goto('/login');
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.waitForURL((url) => url.pathname !== '/login');
  await page.getByRole('heading', { level: 1 }).waitFor();
}

/** Waits until the page of this title is there, and not the one before, with everything that it loads. */
export async function waitForPage(page: Page, title: string): Promise<void> {
  await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();
  await page.waitForFunction(() => document.querySelector('main [role=status][aria-label=Loading]') === null);
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Looks for what keeps people with disabilities out, in both themes: https://github.com/dequelabs/axe-core. */
export async function assertAccessible(page: Page): Promise<void> {
  await page.evaluate(axeSource);
  for (const theme of ['light', 'dark']) {
    await page.evaluate((name) => document.documentElement.setAttribute('data-theme', name), theme);
    const { violations } = await page.evaluate(() =>
      // It was put into the page above.
      (globalThis as unknown as { axe: typeof axe }).axe.run(document, { resultTypes: ['violations'] }),
    );
    const found = violations.flatMap(({ id, help, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${theme}: ${id} (${help}): ${html} ${failureSummary}`),
    );
    assert.deepEqual(found, [], `${page.url()} has violations`);
  }
}

/** Waits until something of a page is as expected: what is drawn follows what happens by a moment. */
export async function assertSoon<T>(read: () => Promise<T>, expected: T, message?: string): Promise<void> {
  const deadline = Date.now() + SOON_MS;
  let found = await read();
  for (; found !== expected && Date.now() < deadline; found = await read()) await delay(20);
  if (message === undefined) assert.equal(found, expected);
  else assert.equal(found, expected, message);
}
const SOON_MS = 10_000;

/** Nothing sticks out at the side: a page scrolls down, never across. */
export async function assertNoSidewaysScroll(page: Page): Promise<void> {
  const [content, screen] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok((content ?? 0) <= (screen ?? 0), `${page.url()} is ${content} px wide on a screen of ${screen} px`);
  await assertNothingCutOff(page);
}

/** A card cuts off what is wider than it is: no button, no link and no cell of a table may be among that. */
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
          // What scrolls can be scrolled to.
          if (overflowX === 'auto' || overflowX === 'scroll') return false;
          if (overflowX !== 'visible' && right > around.getBoundingClientRect().right + 1) return true;
        }
        return false;
      })
      .map((element) => element.outerHTML.slice(0, 200)),
  ]);
  assert.deepEqual(cutOff, [], `${page.url()} cuts something off`);
}

const EXPECTED = /Failed to load resource|^(ConnectionError|PageCodeError|ServerError): /;

/** What the browser complains of while the page is used. */
function collectErrors(page: Page, ownOrigin: string): string[] {
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(`threw: ${error.stack ?? error.message}`));
  page.on('console', (message) => {
    // An answer of 4xx, or none, is a thing to show and not an error of the page. The browser logs each of them, and
    // the router those that keep a page from opening.
    if (message.type() === 'error' && !EXPECTED.test(message.text())) errors.push(message.text());
  });
  page.on('request', (request) => {
    const url = request.url();
    if (!/^(data|blob):/.test(url) && !url.startsWith(ownOrigin)) errors.push(`asked another server: ${url}`);
  });
  return errors;
}

/**
 * A browser that reads English, on every machine.
 *
 * It gets no argument of `@sparticuz/chromium`: those are for machines that allow no second process, where a page that
 * ends badly takes the whole browser along, and they turn off what keeps origins apart.
 */
export async function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: await findChromium(),
    args: ['--no-sandbox'],
    // Under the locale "C" its language would be one that no page can format a number in.
    env: { ...process.env, LC_ALL: 'en_US.UTF-8' },
  });
}
