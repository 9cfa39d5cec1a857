import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Client } from '@modelcontextprotocol/client';
import { build } from 'vite';
import type { Dashboard } from '../../dashboard/test/support/browser.ts';
import { mcpClient, withApps } from '../../server/test/support/mcp/mcp.ts';
import type { Shown } from './hostPage.ts';

type ToolResult = Shown['result'];
type Frame = ReturnType<Awaited<ReturnType<Dashboard['open']>>['mainFrame']>;

/** Bundles the page of the client. */
export async function bundleHost(): Promise<string> {
  const result = await build({
    root: import.meta.dirname,
    configFile: false,
    logLevel: 'error',
    build: {
      write: false,
      lib: { entry: join(import.meta.dirname, 'hostPage.ts'), formats: ['es'], fileName: 'host' },
    },
  });
  if (!Array.isArray(result) || result[0] === undefined) throw new Error('the host was not built');
  return result[0].output[0].code;
}

export interface View {
  readonly theme?: Shown['theme'];
  /** The time by the viewer's clock; the machine's by default. */
  readonly viewedAt?: Date;
}

export interface OpenedApp {
  readonly page: Awaited<ReturnType<Dashboard['open']>>;
  readonly frame: Frame;
  readonly client: Client;
  /** The tools that the app called. */
  readonly called: readonly string[];
  told(): Promise<string[]>;
  close(): Promise<void>;
}

/** Calls a tool as a model, and shows the app that it links to. */
export async function openApp(
  test: TestContext,
  { dashboard, hostScript }: { dashboard: Dashboard; hostScript: string },
  key: string,
  tool: string,
  input: Record<string, unknown>,
  { theme = 'light', viewedAt }: View = {},
): Promise<OpenedApp> {
  const { server } = dashboard;
  const client = await mcpClient(server, key, '2026-07-28', withApps);
  test.after(() => client.close());
  const { tools } = await client.listTools();
  const { ui } = (tools.find(({ name }) => name === tool)?._meta ?? {}) as { ui?: { resourceUri: string } };
  if (ui === undefined) throw new Error(`${tool} has no app`);
  const [content] = (await client.readResource({ uri: ui.resourceUri })).contents;
  const html = content !== undefined && 'text' in content ? String(content.text) : '';
  const result = (await client.callTool({ name: tool, arguments: input })) as ToolResult;

  const page = await dashboard.open(test);
  if (viewedAt !== undefined) await page.clock.install({ time: viewedAt });
  const called: string[] = [];
  await page.exposeFunction('callTool', async (name: string, given: Record<string, unknown>) => {
    called.push(name);
    return client.callTool({ name, arguments: given });
  });
  const address = `${server.url}/test-host`;
  await page.route(address, (route) =>
    route.fulfill({
      contentType: 'text/html',
      body: '<!doctype html><html lang="en"><title>Client</title><main></main><script type="module" src="/test-host.js"></script></html>',
    }),
  );
  await page.route(`${address}.js`, (route) => route.fulfill({ contentType: 'text/javascript', body: hostScript }));
  await page.goto(address);
  await page.waitForFunction(() => typeof window.showApp === 'function');
  await page.evaluate((shown) => window.showApp(shown), { html, input, result, theme });
  const frame = page.frames().find((one) => one.parentFrame() !== null);
  if (frame === undefined) throw new Error('the app was not shown');
  return {
    page,
    frame,
    client,
    called,
    told: () => page.evaluate(() => window.told),
    close: () => page.evaluate(() => window.closeApp()),
  };
}
