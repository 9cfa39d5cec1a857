import { existsSync, readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ReadResourceResult, Resource, Tool } from '@modelcontextprotocol/server';

/*
 * MCP Apps (`io.modelcontextprotocol/ui`): pages that a client shows beside the result of a tool. A page calls tools
 * through its client, so it can do nothing that the key does not permit. Clients without the extension see none of it.
 */

export const UI_EXTENSION = 'io.modelcontextprotocol/ui';
const PAGE_TYPE = 'text/html;profile=mcp-app';
const DIST = fileURLToPath(new URL('../../../../mcp-apps/dist/', import.meta.url));

interface App {
  readonly uri: string;
  /** The tool whose result it shows. */
  readonly tool: string;
  readonly file: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
}

const apps: readonly App[] = [
  {
    uri: 'ui://switchboard/qr',
    tool: 'sessions_get_qr',
    file: 'pairing.html',
    name: 'qr',
    title: 'Connect a phone',
    description: 'Shows the current QR code or a pairing code until the phone is connected.',
  },
  {
    uri: 'ui://switchboard/delivery',
    tool: 'webhooks_get_delivery',
    file: 'delivery.html',
    name: 'delivery',
    title: 'Delivery doctor',
    description: 'Shows the attempts of a webhook delivery and why it has or has not arrived.',
  },
];

/** A page loads nothing, connects to nothing, and has its own policy besides. */
const PAGE_META = { ui: { csp: { connectDomains: [], resourceDomains: [] }, prefersBorder: true } };

/** The pages that were built on install. Without a build there are none. */
export class Apps {
  readonly #pages: ReadonlyMap<string, { readonly app: App; readonly html: string }>;

  constructor(dist = DIST) {
    const built = apps.filter(({ file }) => existsSync(join(dist, file)));
    this.#pages = new Map(built.map((app) => [app.uri, { app, html: readFileSync(join(dist, app.file), 'utf8') }]));
  }

  /** Adds to the tools the pages that show their results. */
  link(tools: readonly Tool[]): Tool[] {
    return tools.map((tool) => {
      const page = [...this.#pages.values()].find(({ app }) => app.tool === tool.name);
      return page === undefined ? tool : { ...tool, _meta: { ui: { resourceUri: page.app.uri } } };
    });
  }

  /** @param tools that the caller can use, by name */
  list(tools: ReadonlySet<string>): Resource[] {
    return [...this.#pages.values()]
      .filter(({ app }) => tools.has(app.tool))
      .map(({ app: { uri, name, title, description } }) => ({
        uri,
        name,
        title,
        description,
        mimeType: PAGE_TYPE,
        annotations: { audience: ['user'], priority: 0 },
        _meta: PAGE_META,
      }));
  }

  /** Returns undefined if there is no such page, or if the caller cannot use its tool. */
  read(tools: ReadonlySet<string>, uri: string): ReadResourceResult | undefined {
    const page = this.#pages.get(uri);
    if (page === undefined || !tools.has(page.app.tool)) return undefined;
    return { contents: [{ uri, mimeType: PAGE_TYPE, text: page.html, _meta: PAGE_META }] };
  }
}

/**
 * Whether a client can show apps. A client of protocol version 2026-07-28 says so in every request. An older one says
 * so once, in `initialize`, and gets a session id that repeats it: no node has to remember anything.
 */
export function showsApps(body: unknown, headers: IncomingHttpHeaders): boolean {
  if (declaresApps(capabilitiesIn(body))) return true;
  return headers[SESSION_HEADER]?.toString().startsWith(SESSION_PREFIX) === true;
}

export const SESSION_HEADER = 'mcp-session-id';
const SESSION_PREFIX = 'apps-';

/** Returns the session id for the answer to `initialize`; undefined if the client needs none. */
export function appsSessionId(body: unknown, newId: () => string): string | undefined {
  const { method, params } = fieldsOf(body);
  return method === 'initialize' && declaresApps(fieldsOf(params)['capabilities'])
    ? `${SESSION_PREFIX}${newId()}`
    : undefined;
}

function capabilitiesIn(body: unknown): unknown {
  const params = fieldsOf(fieldsOf(body)['params']);
  return params['capabilities'] ?? fieldsOf(params['_meta'])['io.modelcontextprotocol/clientCapabilities'];
}

function declaresApps(capabilities: unknown): boolean {
  const { mimeTypes } = fieldsOf(fieldsOf(fieldsOf(capabilities)['extensions'])[UI_EXTENSION]);
  return Array.isArray(mimeTypes) && mimeTypes.includes(PAGE_TYPE);
}

/** Nothing has been checked yet, so anything can be missing. */
const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
