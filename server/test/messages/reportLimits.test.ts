import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { NetworkEvent } from '../../src/connectors/contract/events.ts';
import { MAX_TEXT_CHARACTERS, withTextLimits } from '../../src/messages/reportLimits.ts';
import { puppet } from '../support/networks/puppet.ts';
import { startServer } from '../support/server.ts';

const PUPPET = fileURLToPath(new URL('../support/networks/puppet.ts', import.meta.url));
const FRIEND = '491707654321';
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
    const report = async (event: NetworkEvent) => puppet.host?.onEvent(event);
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
