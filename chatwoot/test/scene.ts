import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { eventually } from '../../server/test/support/eventually.ts';
import { upload } from '../../server/test/support/media/media.ts';
import {
  type Call,
  connectSession,
  newNumber,
  startServer,
  type TestServer,
} from '../../server/test/support/server.ts';
import { Bridge } from '../src/bridge.ts';
import { readSettings, type Settings } from '../src/config.ts';
import { init } from '../src/init.ts';
import { FakeChatwoot, type FakeOptions, TOKEN } from './fakeChatwoot/fakeChatwoot.ts';
import type { ConversationRecord, MessageRecord } from './fakeChatwoot/records.ts';

/** Delay before the second attempt of a job in tests, in milliseconds. */
const FIRST_RETRY_MS = 20;

export interface Scene {
  readonly chatwoot: FakeChatwoot;
  readonly call: Call;
  readonly sessionId: string;
  readonly sessionNumber: string;
  readonly inboxId: number;
  readonly settings: Settings;
  bridge: Bridge;
  /** Lines that `init` printed. */
  readonly printed: readonly string[];
  simulate(action: object): Promise<void>;
  /** A contact writes, and the message is in Chatwoot. */
  incoming(from: string, message: string | undefined, more?: object): Promise<MessageRecord>;
  conversation(phoneNumber: string): ConversationRecord;
  /** Messages that the session has sent, the oldest first. */
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  sent(): Promise<any[]>;
  /** Stores a file in Switchboard. @returns its id */
  upload(bytes: Uint8Array<ArrayBuffer>): Promise<string>;
}

export interface SceneOptions extends FakeOptions {
  readonly env?: Record<string, string>;
  /** API key limits. */
  readonly key?: Readonly<Record<string, unknown>>;
}

/** Starts Switchboard with a sandbox session, the fake Chatwoot, and the bridge between them. */
export async function openScene(
  test: TestContext,
  { env = {}, key: limits = {}, ...options }: SceneOptions = {},
): Promise<Scene> {
  const folder = mkdtempSync(join(tmpdir(), 'chatwoot-test-'));
  const chatwoot = await new FakeChatwoot(options).start();
  const server = await startServer({ env: { WEBHOOK_RETRY_SECONDS: '1,1,1,1,1,1' } });
  test.after(async () => {
    await scene?.bridge.stop();
    await server.stop();
    await chatwoot.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  let scene: Scene | undefined;
  const { call, token } = await server.account();
  const sessionNumber = newNumber();
  const sessionId = await connectSession(call, sessionNumber);
  const { body: key } = await call('POST', '/api-keys/create', { name: 'chatwoot', ...limits });
  const port = await freePort();
  const settings = readSettings({
    SWITCHBOARD_URL: server.url,
    SWITCHBOARD_KEY: key.key,
    CHATWOOT_URL: chatwoot.url,
    CHATWOOT_TOKEN: TOKEN,
    CHATWOOT_ACCOUNT_ID: '1',
    CHATWOOT_INBOXES: sessionId,
    CHATWOOT_BRIDGE_PORT: String(port),
    CHATWOOT_BRIDGE_DATABASE: join(folder, 'chatwoot.db'),
    ...env,
  });
  const printed: string[] = [];
  await init(settings, { print: (line) => printed.push(line), log: () => {}, webhookMs: 20_000 });
  const bridge = await openBridge(settings);
  await bridge.start();
  scene = sceneOf({ server, token, chatwoot, call, sessionId, sessionNumber, settings, bridge, printed });
  return scene;
}

export function openBridge(settings: Settings): Promise<Bridge> {
  return Bridge.open(settings, () => {}, { firstRetryMs: FIRST_RETRY_MS });
}

function sceneOf(
  parts: Pick<Scene, 'chatwoot' | 'call' | 'sessionId' | 'sessionNumber' | 'settings' | 'bridge' | 'printed'> & {
    readonly server: TestServer;
    readonly token: string;
  },
): Scene {
  const { chatwoot, call, sessionId, server, token } = parts;
  const simulate = async (action: object) => {
    const { status, body } = await call('POST', `/sessions/${sessionId}/simulate`, action);
    assert.equal(status, 200, JSON.stringify(body));
  };
  return {
    ...parts,
    inboxId: [...chatwoot.inboxes.keys()][0] ?? 0,
    simulate,
    async incoming(from, message, more = {}) {
      const before = chatwoot.messages.size;
      await simulate({ action: 'incoming', from, message, ...more });
      return chatwoot.until(
        () => [...chatwoot.messages.values()].slice(before).find(({ message_type }) => message_type === 'incoming'),
        `no message "${message}"`,
      );
    },
    conversation(phoneNumber) {
      const contact = [...chatwoot.contacts.values()].find(({ phone_number }) => phone_number === `+${phoneNumber}`);
      const found = [...chatwoot.conversations.values()].findLast(({ contactId }) => contactId === contact?.id);
      assert.ok(found, `no conversation with ${phoneNumber}`);
      return found;
    },
    async upload(bytes) {
      return (await upload(server, token, bytes)).body.mediaId;
    },
    async sent() {
      const { body } = await call('GET', `/messages?sessionId=${sessionId}&direction=outgoing&limit=200`);
      return body.data.toReversed();
    },
  };
}

/** Waits until the session has sent a number of messages. */
export async function sentMessages(sent: Scene['sent'], count: number): ReturnType<Scene['sent']> {
  return eventually(sent, (all) => all.length >= count);
}

/** A port that was free a moment ago. `init` and the bridge listen on it in turn. */
export async function freePort(): Promise<number> {
  const { createServer } = await import('node:net');
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
