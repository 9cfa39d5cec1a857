import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Implementation } from '@modelcontextprotocol/server';
import { DASHBOARD_DIST } from '../pages/builtPage.ts';

/* How the MCP server introduces itself: in the handshake, and before it in the server card. */

/** As the contract advertises it ("Versioning"). */
export const NAME = 'switchboard';
const VERSION = '2.0.0';
const TITLE = 'Switchboard';

/** The versions that the protocol library serves, newest first. Listed here because it takes a while to load. */
export const PROTOCOL_VERSIONS: readonly string[] = [
  '2026-07-28',
  '2025-11-25',
  '2025-06-18',
  '2025-03-26',
  '2024-11-05',
  '2024-10-07',
];

type Icons = NonNullable<Implementation['icons']>;

/**
 * Describes the server to people who add it to a client. Every result of a modern server repeats its identity, so the
 * long fields are left out there: see `briefIdentity`.
 */
export function identityOf(publicUrl: URL | undefined): Implementation {
  const icons = iconsOf(publicUrl);
  return {
    ...briefIdentity,
    description: 'A self-hosted messaging gateway: sessions, messages, groups and webhooks.',
    ...(icons.length > 0 && { icons }),
    // The dashboard.
    ...(publicUrl !== undefined && { websiteUrl: publicUrl.href }),
  };
}

export const briefIdentity: Implementation = { name: NAME, version: VERSION, title: TITLE };

/** Clients load icons only from the origin of the server or from data URIs. */
function iconsOf(publicUrl: URL | undefined): Icons {
  const svg = join(DASHBOARD_DIST, 'static/icon.svg');
  if (!existsSync(svg)) return []; // not built
  if (publicUrl === undefined) {
    const src = `data:image/svg+xml;base64,${readFileSync(svg).toString('base64')}`;
    return [{ src, mimeType: 'image/svg+xml', sizes: ['any'] }];
  }
  return [
    { src: new URL('/static/icon.svg', publicUrl).href, mimeType: 'image/svg+xml', sizes: ['any'] },
    { src: new URL('/static/icon.png', publicUrl).href, mimeType: 'image/png', sizes: ['192x192'] },
  ];
}
