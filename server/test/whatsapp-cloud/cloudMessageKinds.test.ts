import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startFakeGraphs } from '../support/fakeGraph/fakeGraph.ts';
import { picture, upload } from '../support/media/media.ts';
import { type Answer, startServer, type TestServer } from '../support/server.ts';

const ADA = '4915112345678';
const LOCATION = { type: 'location', location: { latitude: 1, longitude: 2 } };

describe('kinds of messages on the WhatsApp Cloud API', () => {
  let graphs: Awaited<ReturnType<typeof startFakeGraphs>>;
  let server: TestServer;
  before(async () => {
    graphs = await startFakeGraphs();
    server = await startServer({ env: { WHATSAPP_CLOUD_URL: graphs.url } });
  });
  after(async () => {
    await server.stop();
    await graphs.close();
  });

  async function connected() {
    const graph = graphs.add();
    const { call, token } = await server.account();
    const session = await call('POST', '/sessions', { connector: 'whatsapp-cloud', options: graph.options });
    graph.callBackAt(server.url + session.body.callbackUrl);
    await call('POST', `/sessions/${session.body.sessionId}/connect`);
    const arrived = async (message: object): Promise<Answer['body']> => {
      await graph.incoming(ADA, message);
      return (await call('GET', '/messages?direction=incoming&limit=1')).body.data[0];
    };
    return { graph, call, token, arrived };
  }

  it('are received with their fields', async () => {
    const { arrived } = await connected();
    const items = [
      { product_retailer_id: 'tea', quantity: 2, item_price: 3.5, currency: 'EUR' },
      { product_retailer_id: 'cup', quantity: '1', item_price: '0.1', currency: 'EUR' },
    ];
    const order = await arrived({ type: 'order', order: { catalog_id: '7', text: 'Please', product_items: items } });
    assert.equal(order.type, 'order');
    assert.deepEqual(order.order, {
      catalogId: '7',
      itemCount: 2,
      total: 7.1,
      currency: 'EUR',
      items: [
        { retailerId: 'tea', quantity: 2, price: 3.5, currency: 'EUR' },
        { retailerId: 'cup', quantity: 1, price: 0.1, currency: 'EUR' },
      ],
    });
    const referred = { referred_product: { catalog_id: '7', product_retailer_id: 'tea' } };
    const asked = await arrived({ type: 'text', text: { body: 'Is it green?' }, context: referred });
    assert.deepEqual(
      [asked.type, asked.message, asked.product],
      ['text', 'Is it green?', { catalogId: '7', retailerId: 'tea' }],
    );
  });

  // https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/messages/text
  it('are received with the ad that the sender tapped', async () => {
    const { arrived, call } = await connected();
    const received = {
      source_url: 'https://fb.me/3cr4Wqqkv',
      source_id: '120226305854810726',
      source_type: 'ad',
      headline: 'Chat with us',
      body: 'Summer succulents are here!',
      media_type: 'image',
      image_url: 'https://scontent.xx.fbcdn.net/v/t45.1',
      ctwa_clid: 'Aff-n8ZTODiE79d22KtAwQKj9e',
      welcome_message: { text: 'Hi there!' },
    };
    const referral = {
      adId: '120226305854810726',
      url: 'https://fb.me/3cr4Wqqkv',
      headline: 'Chat with us',
      body: 'Summer succulents are here!',
      clickId: 'Aff-n8ZTODiE79d22KtAwQKj9e',
      entryPoint: 'ad',
      mediaUrl: 'https://scontent.xx.fbcdn.net/v/t45.1',
    };
    const message = await arrived({ type: 'text', text: { body: 'Hello' }, referral: received });
    assert.deepEqual(message.referral, referral);
    const { body } = await call('GET', '/events?events=message.incoming');
    assert.deepEqual(body.data[0].data.referral, referral);
    // An ad in a status has no click id.
    const { ctwa_clid: _, ...inStatus } = received;
    const { clickId: __, ...withoutClick } = referral;
    assert.deepEqual((await arrived({ ...LOCATION, referral: inStatus })).referral, withoutClick);
    const odd = { source_url: 'javascript:1', headline: 'h'.repeat(5000), ctwa_clid: 'c'.repeat(5000), body: 7 };
    assert.deepEqual((await arrived({ ...LOCATION, referral: odd })).referral, undefined);
    const long = { ...odd, body: 'b'.repeat(5000), source_id: '7' };
    assert.deepEqual((await arrived({ ...LOCATION, referral: long })).referral, {
      adId: '7',
      headline: 'h'.repeat(200),
      body: 'b'.repeat(2048),
    });
  });

  it('are received with what the sender chose', async () => {
    const { arrived } = await connected();
    const list = { type: 'list_reply', list_reply: { id: '3', title: 'Tea', description: 'green' } };
    const row = await arrived({ type: 'interactive', interactive: list });
    assert.deepEqual([row.message, row.payload, row.choice], ['Tea', '3', { kind: 'list', description: 'green' }]);
    const form = { type: 'nfm_reply', nfm_reply: { name: 'flow', body: 'Sent', response_json: '{"a":1}' } };
    const filled = await arrived({ type: 'interactive', interactive: form });
    assert.deepEqual(filled.choice, { kind: 'form', name: 'flow', response: '{"a":1}' });
    const pressed = await arrived({ type: 'button', button: { text: 'Stop', payload: 'stop it' } });
    assert.deepEqual([pressed.payload, pressed.choice], ['stop it', { kind: 'template' }]);
  });

  it('are received as unsupported with the reason of the network', async () => {
    const { arrived } = await connected();
    const problem = { code: 131051, title: 'Unsupported', error_data: { details: 'Polls are not supported' } };
    const poll = await arrived({ type: 'unsupported', unsupported: { type: 'poll' }, errors: [problem] });
    assert.deepEqual([poll.type, poll.rawType], ['unsupported', 'poll']);
    assert.match(poll.message, /Polls are not supported/);
    const system = { body: 'Ada changed her number', type: 'user_changed_number' };
    const notice = await arrived({ type: 'system', system });
    assert.deepEqual([notice.type, notice.rawType, notice.message], ['unsupported', 'system', system.body]);
  });

  it('are sent with or without a preview that the network makes', async () => {
    const { graph, call } = await connected();
    await graph.incoming(ADA, { type: 'text', text: { body: 'Hi' } });
    const send = (linkPreview?: unknown) =>
      call('POST', '/messages/send', { to: ADA, message: 'https://example.com/', linkPreview });
    for (const linkPreview of [undefined, true, false])
      assert.equal((await send(linkPreview)).status, 201, String(linkPreview));
    assert.deepEqual(
      graph.sent.map(({ body }) => body.text.preview_url),
      [true, true, false],
    );
    const chosen = await send({ title: 'Mine' });
    assert.deepEqual([chosen.status, chosen.body.code], [422, 'not_supported']);
  });

  it('are refused if the network does not have them, before a file is looked at', async () => {
    const { call, token } = await connected();
    const { mediaId } = (await upload(server, token, picture())).body;
    const file = { type: 'image', mediaId };
    for (const [path, body] of [
      ['send-media', { ...file, viewOnce: true }],
      ['send-album', { files: [file, file] }],
      ['send-event', { name: 'Tea', startsAt: '2030-01-01T18:00:00Z' }],
    ] as const) {
      const answer = await call('POST', `/messages/${path}`, { to: ADA, ...body });
      assert.deepEqual([answer.status, answer.body.code], [422, 'not_supported'], path);
    }
    const later = new Date(Date.now() + 3_600_000).toISOString();
    const scheduled = await call('POST', '/messages/send-media', { to: ADA, ...file, viewOnce: true, sendAt: later });
    assert.equal(scheduled.body.code, 'not_supported');
  });
});
