import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { NetworkEvent } from '../../src/connectors/contract/events.ts';
import { MAX_TEXT_CHARACTERS, withTextLimits } from '../../src/messages/reportLimits.ts';
import { describeOnEachDatabase } from '../support/databases/databases.ts';
import { puppet } from '../support/networks/puppet.ts';
import { startServer } from '../support/server.ts';

const PUPPET = fileURLToPath(new URL('../support/networks/puppet.ts', import.meta.url));
const FRIEND = '491707654321';
const report = async (event: NetworkEvent) => puppet.host?.onEvent(event);
const HUGE = 'x'.repeat(4 * 1024 * 1024);

describe('the texts that a network reports', () => {
  it('are cut to their limits, and otherwise stay the same object', () => {
    const small = { type: 'edited', text: 'a', nested: { list: ['b'] }, open: () => {} };
    assert.equal(withTextLimits(small), small);
    const file = new (class File {
      readonly name = HUGE;
    })();
    const cut = withTextLimits({ text: HUGE, senderName: HUGE, list: [{ subject: HUGE }], file, emoji: null });
    assert.equal(cut.text.length, MAX_TEXT_CHARACTERS);
    assert.deepEqual([cut.senderName.length, cut.list[0]?.subject.length], [200, 200]);
    assert.equal(cut.file, file, 'files are not touched');
  });

  it('are stored within the limits', async (test) => {
    const server = await startServer({ env: { CONNECTORS: PUPPET } });
    test.after(() => server.stop());
    const { call } = await server.account();
    const { sessionId } = (await call('POST', '/sessions', { connector: 'puppet' })).body;
    assert.equal((await call('POST', `/sessions/${sessionId}/connect`)).status, 200);
    const message = {
      type: 'message',
      networkId: 'N1',
      chat: { type: 'direct', id: FRIEND },
      from: FRIEND,
      senderName: HUGE,
      content: {
        type: 'text',
        text: HUGE,
        interactive: { header: HUGE.slice(0, 65_536), footer: HUGE.slice(0, 65_536) },
      },
      timestamp: Date.now(),
      replyTo: null,
    } as const satisfies NetworkEvent;
    await report(message);
    const read = async () => (await call('GET', '/messages')).body.data[0];
    const stored = await read();
    assert.deepEqual([stored.message.length, stored.interactive], [MAX_TEXT_CHARACTERS, undefined]);
    assert.ok((await call('GET', '/contacts')).body.data[0].name.length <= 200);
    await report({ type: 'edited', networkId: 'N1', from: FRIEND, text: `y${HUGE}`, timestamp: Date.now() });
    const edited = await read();
    assert.deepEqual([edited.message.length, edited.message[0]], [MAX_TEXT_CHARACTERS, 'y']);
  });
});

describeOnEachDatabase('the ads of a chat', (newHome) => {
  it('are the first 100, even if one part of the history has more', async (test) => {
    const home = await newHome();
    const server = await startServer({ home, env: { CONNECTORS: PUPPET } });
    test.after(async () => {
      await server.stop();
      await home.remove();
    });
    const { call } = await server.account();
    const { sessionId } = (await call('POST', '/sessions', { connector: 'puppet' })).body;
    await call('POST', `/sessions/${sessionId}/connect`);
    const fromAd = (nth: number) => ({
      ...{ networkId: `message ${nth}`, from: FRIEND, timestamp: 1000 * nth, replyTo: null },
      chat: { type: 'direct', id: FRIEND } as const,
      content: { type: 'text', text: 'hello', referral: { adId: `ad ${nth}` } } as const,
    });
    const history = (from: number, to: number) =>
      report({
        ...{ type: 'history', chats: [], contacts: [] },
        messages: Array.from({ length: to - from + 1 }, (_, nth) => fromAd(from + nth)).toReversed(),
      });
    const count = async () =>
      (await server.app.services.database.reader.kysely.selectFrom('chat_ads').select('ad_id').execute()).length;
    const has = async (nth: number) => (await call('GET', `/chats?adId=ad%20${nth}`)).body.data.length === 1;
    await history(1, 60);
    await history(51, 120);
    assert.equal(await count(), 100);
    assert.deepEqual([await has(100), await has(101)], [true, false]);
    await report({ type: 'message', ...fromAd(121) });
    assert.equal(await count(), 100);
  });
});
