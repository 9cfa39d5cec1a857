import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Receiver, startReceiver } from '../../support/connections/receiver.ts';
import { type Call, connectSession, newNumber, startServer, type TestServer } from '../../support/server.ts';
import { newPerson, type Person } from '../support.ts';
import { type Compat, callWaha, startCompat } from './compatProcess.ts';

describe('messages and files of WAHA', () => {
  let server: TestServer;
  let person: Person;
  let call: Call;
  let compat: Compat;
  let receiver: Receiver;
  let sessionId: string;
  const friend = newNumber();
  const chatId = `${friend}@c.us`;

  before(async () => {
    server = await startServer();
    person = newPerson();
    receiver = await startReceiver();
    ({ call } = await server.account());
    const { key } = (await call('POST', '/api-keys/create', { name: 'compat' })).body;
    sessionId = await connectSession(call, newNumber(), { name: 'sales' });
    await connectSession(call, newNumber(), { name: 'support' });
    const forwarding = ['--forward-to', receiver.url, '--events', 'message.reaction'];
    compat = await startCompat(person, { url: server.url, key }, forwarding);
  });
  after(async () => {
    await compat?.running.end('SIGKILL');
    await receiver?.close();
    await server?.stop();
    person?.remove();
  });

  const waha = (method: 'POST' | 'PUT', path: string, body: object) => callWaha(compat.url, { method, path, body });

  /** @returns the id of a message that `sales` sent */
  async function sentBySales(): Promise<string> {
    const { status, body } = await waha('POST', '/api/sendText', { session: 'sales', chatId, text: 'Hello' });
    assert.equal(status, 201, JSON.stringify(body));
    return body.id;
  }

  it('gives every reaction of a second its own id', async () => {
    const [, , id] = (await sentBySales()).split('_');
    const message = `msg_${id}`;
    for (const emoji of ['🎉', ''])
      await call('POST', `/sessions/${sessionId}/simulate`, {
        action: 'react',
        from: friend,
        messageId: message,
        emoji,
      });
    const ofMessage = () => receiver.deliveries.filter(({ parsed }) => parsed.payload.reaction.messageId.endsWith(id));
    await receiver.waitFor(() => ofMessage().length === 2);
    const ids = ofMessage().map(({ parsed }) => parsed.payload.id);
    assert.equal(new Set(ids).size, 2, ids.join());
    for (const each of ids) assert.match(each, new RegExp(`^false_${friend}@c\\.us_[\\w-]+$`));
  });
});
