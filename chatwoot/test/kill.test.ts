import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { newHome } from '../../server/test/support/databases/databases.ts';
import { eventually } from '../../server/test/support/eventually.ts';
import { spawnServer } from '../../server/test/support/processes/process.ts';
import { bearer, callerOf, connectSession, newNumber } from '../../server/test/support/server.ts';
import { BridgeProcess } from './bridgeProcess.ts';
import { FakeChatwoot, TOKEN } from './fakeChatwoot/fakeChatwoot.ts';
import { startLine } from './line.ts';
import { freePort } from './scene.ts';

const CONTACTS = 3;
const ROUNDS = 12;
/** Counts of created messages that kill the bridge before it reads the response. */
const KILLS_IN_CHATWOOT = [3, 8, 17, 26];
/** Counts of sent messages that kill the bridge before it reads the response of Switchboard. */
const KILLS_IN_SWITCHBOARD = [2, 9, 20];
/** Rounds that end with a kill of Switchboard. */
const SERVER_KILLS = [4, 8];

describe('the bridge under kill -9', () => {
  it('loses and doubles nothing when either side is killed', async (test) => {
    const folder = mkdtempSync(join(tmpdir(), 'chatwoot-kill-'));
    const home = await newHome('sqlite');
    const chatwoot = await new FakeChatwoot().start();
    const serverEnv = { PORT: String(await freePort()), WEBHOOK_RETRY_SECONDS: '1,1,1,1,1,1,1,1,1,1,1,1,1,1,1' };
    let server = await spawnServer(home, serverEnv);
    let bridge: BridgeProcess | undefined;
    let requests = 0;
    let killBridge: () => Promise<void> = async () => {};
    const line = await startLine(
      () => server.url,
      async (method, path) => {
        if (`${method} ${path}` !== 'POST /api/v1/messages/send' || !KILLS_IN_SWITCHBOARD.includes(++requests))
          return true;
        await killBridge();
        return false;
      },
    );
    test.after(async () => {
      await bridge?.kill();
      await server.kill();
      line.close();
      await chatwoot.stop();
      await home.remove();
      rmSync(folder, { recursive: true, force: true });
    });
    const registration = { email: 'kill@example.com', password: 'correct horse battery staple' };
    const { body } = await callerOf(server.url, {})('POST', '/auth/register', registration);
    const call = bearer(server.url, body.token);
    const sessionId = await connectSession(call);
    const { body: key } = await call('POST', '/api-keys/create', { name: 'chatwoot' });
    const running = new BridgeProcess({
      SWITCHBOARD_URL: line.url,
      SWITCHBOARD_KEY: key.key,
      CHATWOOT_URL: chatwoot.url,
      CHATWOOT_TOKEN: TOKEN,
      CHATWOOT_ACCOUNT_ID: '1',
      CHATWOOT_INBOXES: sessionId,
      CHATWOOT_BRIDGE_PORT: String(await freePort()),
      CHATWOOT_BRIDGE_DATABASE: join(folder, 'chatwoot.db'),
    });
    bridge = running;
    assert.equal(await running.run('init'), 0, running.output);
    await running.start();

    let kills = 0;
    let restarts: Promise<void> = Promise.resolve();
    killBridge = () => {
      kills++;
      const killed = restarts.then(() => running.kill());
      restarts = killed.then(() => running.start());
      return killed;
    };
    let created = 0;
    chatwoot.afterEffect = async (method, path) => {
      if (method !== 'POST' || !path.endsWith('/messages') || !KILLS_IN_CHATWOOT.includes(++created)) return true;
      await killBridge();
      return false;
    };

    const numbers = Array.from({ length: CONTACTS }, newNumber);
    const simulate = async (from: string, message: string) => {
      const answer = await call('POST', `/sessions/${sessionId}/simulate`, { action: 'incoming', from, message });
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
    };
    const conversationOf = (from: string) => {
      const contact = [...chatwoot.contacts.values()].find(({ phone_number }) => phone_number === `+${from}`);
      return [...chatwoot.conversations.values()].find(({ contactId }) => contactId === contact?.id)?.id;
    };
    for (const from of numbers) await simulate(from, 'question 0');
    for (const from of numbers)
      await chatwoot.until(() => conversationOf(from), `no conversation with ${from}`, 90_000);
    for (let round = 1; round <= ROUNDS; round++) {
      for (const from of numbers) await simulate(from, `question ${round}`);
      for (const from of numbers) await chatwoot.write(conversationOf(from) ?? 0, `reply ${round} to ${from}`);
      if (SERVER_KILLS.includes(round)) {
        await server.kill();
        server = await spawnServer(home, serverEnv);
        await eventually(
          () => call('GET', `/sessions/${sessionId}`),
          (answer) => answer.body.status === 'connected',
        );
      }
    }
    await restarts;

    // Agents see which messages Chatwoot could not deliver, and try them again.
    const expected = numbers.flatMap((from) => Array.from({ length: ROUNDS }, (_, i) => `reply ${i + 1} to ${from}`));
    const sent = async () => {
      const { body: page } = await call('GET', `/messages?sessionId=${sessionId}&direction=outgoing&limit=200`);
      return page.data.map(({ message }: { message: string }) => message) as string[];
    };
    await eventually(sent, (texts) => {
      for (const message of chatwoot.messages.values()) chatwoot.retry(message);
      return expected.every((text) => texts.includes(text));
    });
    const questions = Array.from({ length: ROUNDS + 1 }, (_, round) => `question ${round}`);
    for (const from of numbers) {
      const own = () =>
        [...chatwoot.messages.values()].filter(
          (message) => message.conversationId === conversationOf(from) && message.message_type === 'incoming',
        );
      await chatwoot.until(() => own().length >= questions.length, `messages of ${from} are missing`, 90_000);
      assert.deepEqual(
        own().map(({ content }) => content),
        questions,
        'each question once, in order',
      );
    }
    assert.deepEqual((await sent()).toSorted(), expected.toSorted(), 'each answer once');
    assert.equal(chatwoot.contacts.size, CONTACTS);
    assert.equal(chatwoot.conversations.size, CONTACTS);
    assert.ok(
      [...chatwoot.messages.values()].every((message) => !message.private),
      'no failure was reported',
    );
    assert.equal(kills, KILLS_IN_CHATWOOT.length + KILLS_IN_SWITCHBOARD.length);
    assert.equal(await running.stop(), 0);
  });
});
