import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually } from '../../server/test/support/eventually.ts';
import { connectSession, newNumber } from '../../server/test/support/server.ts';
import { Bridge } from '../src/bridge.ts';
import { ConfigError, readSettings } from '../src/config.ts';
import { DatabaseError, openDatabase } from '../src/database/database.ts';
import { init } from '../src/init.ts';
import { State } from '../src/state.ts';
import { openBridge, openScene, sentMessages } from './scene.ts';

const quiet = { print: () => {}, log: () => {}, webhookMs: 20_000 };

describe('the set-up', () => {
  it('creates the inbox and a webhook in strict order, tests both, and leaves no trace', async (test) => {
    const { chatwoot, call, sessionId, printed, inboxId } = await openScene(test);
    assert.match(printed.join('\n'), /inbox \d+ \("WhatsApp"\)\n.*Switchboard reaches.*\n.*Chatwoot reaches/);
    const { body } = await call('GET', '/webhooks/endpoints');
    const webhook = body.data.find(({ description }: { description: string }) => description === 'Chatwoot');
    assert.equal(webhook.ordering, 'strict');
    assert.deepEqual(webhook.sessionIds, [sessionId]);
    assert.equal(chatwoot.inboxes.get(inboxId)?.channel_type, 'Channel::Api');
    assert.equal(chatwoot.contacts.size + chatwoot.conversations.size + chatwoot.messages.size, 0);
  });

  it('changes nothing when it runs again, and refuses to while the bridge runs', async (test) => {
    const scene = await openScene(test);
    const { chatwoot, call, settings, incoming } = scene;
    await assert.rejects(init(settings, quiet), DatabaseError);
    await scene.bridge.stop();
    await init(settings, quiet);
    assert.equal(chatwoot.inboxes.size, 1);
    assert.equal((await call('GET', '/webhooks/endpoints')).body.data.length, 1);
    scene.bridge = await openBridge(settings);
    await scene.bridge.start();
    await incoming(newNumber(), 'Hello');
  });

  it('loses no message that arrives while it runs', async (test) => {
    const scene = await openScene(test);
    const { chatwoot, call, settings, incoming, conversation, simulate, sent } = scene;
    const from = newNumber();
    await incoming(from, 'Hello');
    const { id } = conversation(from);
    await scene.bridge.stop();
    const attempted = async () => (await call('GET', '/webhooks/deliveries?states=pending')).body.data;
    const answers: Awaited<ReturnType<typeof chatwoot.write>>[] = [];
    chatwoot.afterEffect = async (method, path) => {
      if (method !== 'POST' || !path.endsWith('/contacts') || answers.length > 0) return true;
      answers.push(await chatwoot.write(id, 'Answer'));
      await simulate({ action: 'incoming', from, message: 'Are you there?' });
      await eventually(attempted, (all) => all.some(({ attempts }: { attempts: number }) => attempts > 0));
      return true;
    };
    await init(settings, quiet);
    const [answer] = answers;
    assert.equal(answer?.status, 'failed', 'the agent does not see that it was not sent');
    scene.bridge = await openBridge(settings);
    await scene.bridge.start();
    const arrived = () => [...chatwoot.messages.values()].some(({ content }) => content === 'Are you there?');
    await chatwoot.until(arrived, 'a message was lost');
    chatwoot.retry(answer);
    assert.equal((await sentMessages(sent, 1))[0].message, 'Answer');
  });

  it('works with a version of Chatwoot that does not sign', async (test) => {
    const { printed, incoming, chatwoot, conversation, sent } = await openScene(test, { signs: false });
    assert.match(printed.join('\n'), /does not sign/);
    const from = newNumber();
    await incoming(from, 'Hello');
    await chatwoot.write(conversation(from).id, 'Hi');
    await sentMessages(sent, 1);
  });

  it('connects several sessions to inboxes with their own settings', async (test) => {
    const scene = await openScene(test, { env: { CHATWOOT_CONVERSATIONS: 'new' } });
    const { chatwoot, call, sessionId, settings } = scene;
    const second = await connectSession(call);
    await scene.bridge.stop();
    const both = readSettings({
      SWITCHBOARD_URL: settings.switchboardUrl,
      SWITCHBOARD_KEY: settings.switchboardKey,
      CHATWOOT_URL: settings.chatwootUrl,
      CHATWOOT_TOKEN: settings.chatwootToken,
      CHATWOOT_ACCOUNT_ID: '1',
      CHATWOOT_BRIDGE_PORT: String(settings.port),
      CHATWOOT_BRIDGE_DATABASE: settings.database,
      CHATWOOT_INBOXES: JSON.stringify([{ sessionId }, { sessionId: second, name: 'Sales' }]),
    });
    await init(both, quiet);
    scene.bridge = await openBridge(both);
    await scene.bridge.start();
    assert.deepEqual(
      [...chatwoot.inboxes.values()].map(({ name }) => name),
      ['WhatsApp', 'Sales'],
    );
    const from = newNumber();
    const first = await scene.incoming(from, 'To the first');
    await call('POST', `/sessions/${second}/simulate`, { action: 'incoming', from, message: 'To the second' });
    const other = await chatwoot.until(
      () => [...chatwoot.messages.values()].find(({ content }) => content === 'To the second'),
      'no message of the second session',
    );
    assert.notEqual(other.conversationId, first.conversationId);
    assert.equal(chatwoot.contacts.size, 1, 'one person is one contact');
    await chatwoot.write(other.conversationId, 'From the second');
    const read = async () => (await call('GET', `/messages?sessionId=${second}&direction=outgoing`)).body.data;
    const [message] = await sentMessages(read, 1);
    assert.equal(message.message, 'From the second');
  });

  it('refuses an inbox that belongs to another session, by its webhook and by the stored row', async (test) => {
    const { chatwoot, call, settings, inboxId, sessionId, bridge } = await openScene(test);
    const second = await connectSession(call);
    await bridge.stop();
    const inbox = chatwoot.inboxes.get(inboxId);
    assert.ok(inbox);
    const url = inbox.webhook_url;
    const entry = { sessionId: second, inboxId, name: 'Sales', groups: false, conversations: 'reopen' as const };
    const expected = {
      name: 'ConfigError',
      message: `Inbox ${inboxId} belongs to the session ${sessionId}; use another inbox for ${second}`,
    };
    await assert.rejects(init({ ...settings, inboxes: [...settings.inboxes, entry] }, quiet), expected);
    assert.equal(inbox.webhook_url, url);
    inbox.webhook_url = '';
    await assert.rejects(init({ ...settings, inboxes: [entry] }, quiet), expected);
    assert.equal(inbox.webhook_url, '');
  });

  it('separates sessions whose stored rows share an inbox', async (test) => {
    const scene = await openScene(test);
    const { chatwoot, call, settings, inboxId, sessionId } = scene;
    const second = await connectSession(call);
    await scene.bridge.stop();
    const entry = {
      sessionId: second,
      inboxId: undefined,
      name: 'Sales',
      groups: false,
      conversations: 'new' as const,
    };
    const both = { ...settings, inboxes: [...settings.inboxes, entry] };
    const database = await openDatabase(settings.database);
    const state = new State(database);
    const row = await state.inbox(sessionId);
    assert.ok(row);
    await state.saveInbox({ ...row, sessionId: second });
    await database.close();
    scene.bridge = await openBridge(both);
    await assert.rejects(scene.bridge.start(), /share inbox \d+\. Run `switchboard chatwoot init`/);
    await scene.bridge.stop();
    await init(both, quiet);
    const urls = [...chatwoot.inboxes.values()].map(({ id, webhook_url }) => [
      id === inboxId,
      webhook_url.split('/')[4],
    ]);
    assert.deepEqual(urls, [
      [true, sessionId],
      [false, second],
    ]);
    scene.bridge = await openBridge(both);
    await scene.bridge.start();
  });

  it('neither sends nor loses messages after a session leaves the settings', async (test) => {
    const scene = await openScene(test);
    const { chatwoot, call, sessionId, settings, incoming, conversation, simulate, sent } = scene;
    const from = newNumber();
    await incoming(from, 'Hello');
    const { id } = conversation(from);
    await scene.bridge.stop();
    const second = await connectSession(call);
    const entry = {
      sessionId: second,
      inboxId: undefined,
      name: 'Sales',
      groups: false,
      conversations: 'new' as const,
    };
    const without = { ...settings, inboxes: [entry] };
    const printed: string[] = [];
    await init(without, { ...quiet, print: (line) => printed.push(line) });
    assert.match(
      printed.at(-1) ?? '',
      new RegExp(`^${sessionId} is not in \`inboxes\`: its webhook whk_\\w+ is paused`),
    );
    const { body } = await call('GET', '/webhooks/endpoints');
    const webhook = body.data.find(({ sessionIds }: { sessionIds: string[] }) => sessionIds.includes(sessionId));
    assert.equal(webhook.paused, true);
    const lines: string[] = [];
    scene.bridge = await Bridge.open(without, (_, message) => lines.push(message), { firstRetryMs: 20 });
    await scene.bridge.start();
    const answer = await chatwoot.write(id, 'Answer');
    const note = await chatwoot.until(() => [...chatwoot.messages.values()].find((m) => m.private), 'no note');
    assert.match(String(note.content), /^⚠️ Not sent to WhatsApp: this inbox is no longer connected/);
    await chatwoot.until(() => answer.status === 'failed', 'not failed');
    // Someone resumes the webhook without init.
    await call('PATCH', `/webhooks/endpoints/${webhook.webhookId}`, { paused: false });
    await simulate({ action: 'incoming', from, message: 'Are you there?' });
    const pending = async () => (await call('GET', '/webhooks/deliveries?states=pending')).body.data;
    await eventually(pending, (all) => all.some(({ attempts }: { attempts: number }) => attempts > 1));
    assert.deepEqual(
      lines.filter((line) => line.startsWith('refused events')),
      ['refused events because their session is not in `inboxes`; run init'],
    );
    assert.deepEqual(await sent(), []);
    await scene.bridge.stop();
    const both = { ...settings, inboxes: [...settings.inboxes, entry] };
    await init(both, quiet);
    scene.bridge = await openBridge(both);
    await scene.bridge.start();
    const arrived = () => [...chatwoot.messages.values()].some(({ content }) => content === 'Are you there?');
    await chatwoot.until(arrived, 'a message was lost');
    chatwoot.retry(answer);
    assert.equal((await sentMessages(sent, 1))[0].message, 'Answer');
  });

  it('explains what does not work', async (test) => {
    const scene = await openScene(test);
    const { settings, chatwoot } = scene;
    await scene.bridge.stop();
    const problem = async (changes: Partial<typeof settings>) => {
      const error = await init({ ...settings, ...changes }, { ...quiet, webhookMs: 200 }).then(
        () => assert.fail('it works'),
        (reason) => reason,
      );
      assert.ok(error instanceof ConfigError, String(error));
      return error.message;
    };
    assert.match(await problem({ chatwootToken: 'wrong' }), /must belong to an administrator.*Invalid Access Token/);
    assert.match(await problem({ switchboardKey: 'wrong' }), /Cannot read ses_\w+ from Switchboard/);
    assert.match(await problem({ urlForSwitchboard: 'http://127.0.0.1:1' }), /Switchboard cannot reach the bridge/);
    assert.match(await problem({ url: 'http://127.0.0.1:1' }), /Chatwoot did not reach the bridge/);
    assert.equal(chatwoot.contacts.size, 0);
  });

  it('leaves no timer behind when its test fails', async (test) => {
    const { settings, chatwoot, bridge } = await openScene(test);
    await bridge.stop();
    chatwoot.beforeRequest = (method, path) => (method === 'POST' && path.endsWith('/messages') ? 500 : undefined);
    const started = test.mock.method(globalThis, 'setTimeout');
    const ended = test.mock.method(globalThis, 'clearTimeout');
    const webhookMs = 87_654;
    await assert.rejects(init(settings, { ...quiet, webhookMs }));
    const timer = started.mock.calls.find(({ arguments: [, ms] }) => ms === webhookMs)?.result;
    assert.ok(timer);
    assert.ok(ended.mock.calls.some(({ arguments: [cleared] }) => cleared === timer));
  });
});
