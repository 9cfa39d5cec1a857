import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Receiver, startReceiver } from '../../support/connections/receiver.ts';
import { samples } from '../../support/media/media.ts';
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

  it('finds a message only in the requested session', async () => {
    const id = await sentBySales();
    const file = { data: samples.image.toString('base64') };
    for (const [method, path, more, expected] of [
      ['PUT', '/api/reaction', { messageId: id, reaction: '👍' }, 200],
      ['POST', '/api/sendSeen', { chatId, messageId: id }, 201],
      ['POST', '/api/sendSeen', { chatId, messageIds: [id] }, 201],
      ['POST', '/api/sendText', { chatId, text: 'A reply', reply_to: id }, 201],
      ['POST', '/api/sendImage', { chatId, file, reply_to: id }, 201],
    ] as const) {
      const other = await waha(method, path, { session: 'support', ...more });
      assert.deepEqual([other.status, other.body.message], [404, `Message with id '${id}' not found`], path);
      const own = await waha(method, path, { session: 'sales', ...more });
      assert.equal(own.status, expected, `${path}: ${JSON.stringify(own.body)}`);
    }
    const many = { session: 'sales', chatId, messageIds: Array.from({ length: 101 }, () => id) };
    assert.equal((await waha('POST', '/api/sendSeen', many)).status, 400);
    const ofWaha = { session: 'sales', chatId, messageId: `false_${chatId}_3EB0FFFFFFFF` };
    assert.equal((await waha('POST', '/api/sendSeen', ofWaha)).status, 201, 'old messages can count as read');
  });

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

  it('sends a file of every declared type', async () => {
    for (const [mimetype, expected] of [
      ['foo', 'text/plain'],
      ['multipart/form-data', 'text/plain'],
      ['Multipart/Form-Data; boundary=x', 'text/plain'],
      ['application/json', 'application/json'],
      ['application/json; charset=utf-8', 'application/json'],
      ['text/csv\r\nx-other: 1', 'text/plain'],
      ['text/csv; name="ä"', 'text/plain'],
      [' text/csv ', 'text/csv'],
      ['', 'text/plain'],
      [null, 'text/plain'],
    ] as const) {
      const data = Buffer.from(JSON.stringify({ mimetype })).toString('base64');
      const file = { mimetype, filename: 'file', data };
      const { status, body } = await waha('POST', '/api/sendFile', { session: 'sales', chatId, file });
      assert.deepEqual([mimetype, status], [mimetype, 201], JSON.stringify(body));
      assert.equal(body.media.mimetype, expected, String(mimetype));
    }
  });
});
