import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { createClient } from '@switchboard/sdk';
import { Chatwoot } from '../src/chatwoot/client.ts';
import { readSettings } from '../src/config.ts';
import { openDatabase } from '../src/database/database.ts';
import { Locks } from '../src/locks.ts';
import type { Parts } from '../src/parts.ts';
import { Queue } from '../src/queue/queue.ts';
import { type InboxRow, State } from '../src/state.ts';
import { FakeChatwoot, TOKEN } from './fakeChatwoot/fakeChatwoot.ts';

/** An error code and its status stand for a problem document; other objects are the body of a success. */
export type Answer =
  | { readonly status: number; readonly code: string }
  | { readonly status?: undefined; readonly name?: string };

/**
 * Makes the parts of a bridge without its workers, so that a test calls one module alone. Switchboard is a server that
 * answers as the test says.
 */
export async function openParts(
  test: TestContext,
  answer: (request: string, body: Readonly<Record<string, unknown>>) => Answer,
  env: Record<string, string> = {},
) {
  const folder = mkdtempSync(join(tmpdir(), 'chatwoot-parts-'));
  const chatwoot = await new FakeChatwoot().start();
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const text = Buffer.concat(chunks).toString();
      const given = answer(`${request.method} ${request.url}`, text === '' ? {} : JSON.parse(text));
      const isProblem = given.status !== undefined;
      const body = isProblem ? { status: given.status, code: given.code, detail: given.code } : given;
      const type = isProblem ? 'application/problem+json' : 'application/json';
      response.writeHead(given.status ?? 200, { 'content-type': type }).end(JSON.stringify(body));
    })();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const sessionId = 'ses_1';
  const settings = readSettings({
    SWITCHBOARD_URL: baseUrl,
    SWITCHBOARD_KEY: 'key',
    CHATWOOT_URL: chatwoot.url,
    CHATWOOT_TOKEN: TOKEN,
    CHATWOOT_ACCOUNT_ID: '1',
    CHATWOOT_INBOXES: sessionId,
    CHATWOOT_BRIDGE_DATABASE: join(folder, 'chatwoot.db'),
    ...env,
  });
  const database = await openDatabase(settings.database);
  test.after(async () => {
    await database.close();
    await chatwoot.stop();
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true });
  });
  const parts: Parts = {
    settings,
    log: () => {},
    toChatwoot: new Queue(database, 'to_chatwoot', 100, () => {}),
    toWhatsapp: new Queue(database, 'to_whatsapp', 100, () => {}),
    locks: new Locks(),
    state: new State(database),
    chatwoot: new Chatwoot(settings),
    switchboard: createClient({ baseUrl, credential: 'key', retries: 0 }),
    inboxes: new Map(settings.inboxes.map((inbox) => [inbox.sessionId, inbox])),
  };
  const { id: inboxId, inbox_identifier: identifier = '' } = await parts.chatwoot.createInbox('WhatsApp', '');
  const inbox: InboxRow = {
    sessionId,
    inboxId,
    identifier,
    token: 'token',
    chatwootSecret: undefined,
    webhookId: 'whk_1',
    webhookSecret: 'secret',
  };
  await parts.state.saveInbox(inbox);
  const job = { seq: 1, lane: 'lane', payload: {}, attempt: 1, createdAt: Date.now(), isUnclear: false, rejections: 0 };
  return { parts, chatwoot, inbox, attempt: { parts, inbox, job, eventId: 'evt_1' } };
}
