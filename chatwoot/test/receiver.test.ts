import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { eventually } from '../../server/test/support/eventually.ts';
import type { ChatwootEvent } from '../src/chatwoot/payload.ts';
import { signatureOf } from '../src/chatwoot/signature.ts';
import { Receiver } from '../src/receiver.ts';
import type { InboxRow } from '../src/state.ts';

const inbox: InboxRow = {
  sessionId: 'ses_1',
  inboxId: 5,
  identifier: 'abc',
  token: 'url-token',
  chatwootSecret: 'chatwoot-secret',
  webhookId: 'whk_1',
  webhookSecret: 'webhook-secret',
};
const body = JSON.stringify({
  event: 'message_created',
  id: 1,
  content: 'Hello',
  message_type: 'outgoing',
  private: false,
  conversation: { id: 2, inbox_id: 5, contact_inbox: { source_id: 's', contact_id: 3 }, meta: { sender: { id: 3 } } },
});
const MAX_UNVERIFIED_BYTES = 30;
const now = () => String(Math.floor(Date.now() / 1000));

describe('the receiver', () => {
  const taken: ChatwootEvent[] = [];
  let row: InboxRow = inbox;
  const receiver = new Receiver({
    host: '127.0.0.1',
    port: 0,
    state: { inbox: async (sessionId) => (sessionId === 'ses_1' ? row : undefined) },
    log: () => {},
    onSwitchboardEvent: async () => 'accepted',
    onChatwootEvent: async (_inbox, event) => {
      taken.push(event);
      return 'accepted';
    },
    health: () => ({ status: 'ok' }),
    maxUnverifiedBytes: MAX_UNVERIFIED_BYTES,
  });
  let url: string;
  let port: number;
  before(async () => {
    port = await receiver.start();
    url = `http://127.0.0.1:${port}`;
  });
  after(() => receiver.stop());

  const post = async (path: string, content: string, headers: Record<string, string> = {}) =>
    (await fetch(url + path, { method: 'POST', body: content, headers })).status;
  const signed = (timestamp = now(), content = body) => ({
    'x-chatwoot-timestamp': timestamp,
    'x-chatwoot-signature': signatureOf('chatwoot-secret', timestamp, Buffer.from(content)),
  });

  it('accepts a signed webhook', async () => {
    assert.equal(await post('/chatwoot/ses_1/url-token', body, signed()), 200);
    assert.equal(taken.length, 1);
  });

  it('rejects a wrong token, a missing, wrong or old signature, and a changed body', async () => {
    assert.equal(await post('/chatwoot/ses_1/other', body, signed()), 401);
    assert.equal(await post('/chatwoot/ses_1/url-token', body), 401);
    assert.equal(await post('/chatwoot/ses_1/url-token', `${body} `, signed()), 401);
    const old = String(Math.floor(Date.now() / 1000) - 301);
    assert.equal(await post('/chatwoot/ses_1/url-token', body, signed(old)), 401);
    assert.equal(await post('/chatwoot/ses_1/url-token', body, { ...signed(), 'x-chatwoot-timestamp': old }), 401);
    assert.equal(taken.length, 1);
  });

  it('accepts the token alone while Chatwoot does not sign', async () => {
    row = { ...inbox, chatwootSecret: undefined };
    assert.equal(await post('/chatwoot/ses_1/url-token', body), 200);
    row = inbox;
    assert.equal(taken.length, 2);
  });

  it('ignores other inboxes and events', async () => {
    const other = body.replace('"inbox_id":5', '"inbox_id":6');
    assert.equal(await post('/chatwoot/ses_1/url-token', other, signed(now(), other)), 200);
    const unknown = body.replace('message_created', 'contact_created');
    assert.equal(await post('/chatwoot/ses_1/url-token', unknown, signed(now(), unknown)), 200);
    assert.equal(taken.length, 2);
  });

  it('rejects unsigned events of Switchboard, unknown sessions and methods, and large bodies', async () => {
    assert.equal(await post('/switchboard/ses_1', '{}'), 401);
    assert.equal(await post('/switchboard/ses_2', '{}'), 404);
    assert.equal((await fetch(`${url}/chatwoot/ses_1/url-token`)).status, 405);
    assert.equal(await post('/chatwoot/ses_1/url-token', 'not json', signed(now(), 'not json')), 400);
    const large = 'x'.repeat(4 * 1024 * 1024 + 1);
    assert.equal(await post('/chatwoot/ses_1/url-token', large).catch(() => 400), 400);
    assert.deepEqual(await (await fetch(`${url}/health`)).json(), { status: 'ok' });
  });

  it('ends a request whose body does not come', async () => {
    const socket = connect(port, '127.0.0.1');
    socket.write('POST /chatwoot/ses_1/url-token HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nabc');
    await new Promise((resolve) =>
      socket
        .on('close', resolve)
        .on('error', () => {})
        .resume(),
    );
  });

  it('limits the bodies that it holds before their signature, and still accepts webhooks of Chatwoot', async () => {
    const large = 'x'.repeat(MAX_UNVERIFIED_BYTES + 1);
    assert.equal(await post('/switchboard/ses_1', large), 503);
    const head = 'POST /switchboard/ses_1 HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\n';
    const sockets: Socket[] = [];
    const send = (content: string) => {
      const socket = connect(port, '127.0.0.1').on('error', () => {});
      socket.write(head + content);
      sockets.push(socket);
    };
    // Slow requests count as far as they have arrived.
    for (let count = 0; count < 20; count++) send('a');
    assert.equal(await post('/switchboard/ses_1', '{}'), 401);
    await eventually(
      () => {
        for (let count = 0; count < 10; count++) send('abc');
        return post('/switchboard/ses_1', '{}');
      },
      (status) => status === 503,
    );
    assert.equal(await post('/chatwoot/ses_1/url-token', body, signed()), 200);
    for (const socket of sockets) socket.destroy();
    await eventually(
      () => post('/switchboard/ses_1', '{}'),
      (status) => status === 401,
    );
  });
});
