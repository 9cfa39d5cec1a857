import type { IncomingMessage, ServerResponse } from 'node:http';
import { DEFAULT_CONNECTION_CONFIG } from 'baileys';
import type { Network } from '../network.ts';

/**
 * Answers for web.whatsapp.com over HTTP: the service worker states the current revision, as JSON in a string
 * (WhiskeySockets/Baileys#1234, and `fetchLatestWaWebVersion` in 7.0.0-rc14), and refuses clients that do not look like
 * a browser with 400 (#1929).
 */
export function answerPage({ counters, faults }: Network, request: IncomingMessage, response: ServerResponse): void {
  if (request.method !== 'GET' || request.url !== '/sw.js') {
    response.writeHead(404).end();
    return;
  }
  counters.pageReads++;
  const revision = faults.statedRevision ?? DEFAULT_CONNECTION_CONFIG.version[2];
  const isBrowser = request.headers['sec-fetch-site'] === 'none' && /Mozilla/.test(request.headers['user-agent'] ?? '');
  if (!isBrowser) response.writeHead(400).end();
  else if (revision < 600) response.writeHead(revision).end();
  else response.writeHead(200, { 'content-type': 'text/javascript' }).end(pageOf(revision));
}

const pageOf = (revision: number) =>
  `/*fake*/ self.__swData=JSON.parse("${JSON.stringify({ SiteData: { server_revision: revision, client_revision: revision } }).replaceAll('"', '\\"')}");`;
