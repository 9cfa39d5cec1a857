import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createLog } from '../../src/log.ts';
import { SILENT, startFakeGraphs } from '../support/fakeGraph/fakeGraph.ts';
import { bearer, startServer, type TestServer } from '../support/server.ts';

const ADA = '4915112345678';

describe('products of a catalog on the WhatsApp Cloud API', () => {
  let graphs: Awaited<ReturnType<typeof startFakeGraphs>>;
  let server: TestServer;
  /** Lines of the log. */
  const errors: string[] = [];
  before(async () => {
    graphs = await startFakeGraphs();
    const log = createLog('error', { write: (line) => errors.push(line) });
    server = await startServer({ log, env: { WHATSAPP_CLOUD_URL: graphs.url } });
  });
  after(async () => {
    await server.stop();
    await graphs.close();
  });

  async function connected() {
    const graph = graphs.add();
    const { call } = await server.account();
    const session = await call('POST', '/sessions', { connector: 'whatsapp-cloud', options: graph.options });
    graph.callBackAt(server.url + session.body.callbackUrl);
    await call('POST', `/sessions/${session.body.sessionId}/connect`);
    graph.catalog.add('sencha-100', 'mocha-250', ...Array.from({ length: 31 }, (_, at) => `item-${at}`));
    const catalogId = graph.catalog.id;
    const offer = (fields: object, to = ADA) => call('POST', '/messages/send-interactive', { to, ...fields });
    const shown = () => graph.sent.at(-1)?.body.interactive;
    return { graph, call, catalogId, offer, shown };
  }

  it('sends one product with or without a text', async () => {
    const { call, catalogId, offer, shown } = await connected();
    const product = { catalogId, retailerId: 'sencha-100' };
    const { status, body } = await offer({ product });
    assert.deepEqual([status, body.type, body.message, body.status], [201, 'interactive', '', 'sent']);
    assert.deepEqual(body.interactive, { product });
    const action = { catalog_id: catalogId, product_retailer_id: 'sencha-100' };
    assert.deepEqual(shown(), { type: 'product', action });
    assert.equal((await offer({ product, message: 'Our best', footer: 'Until five' })).status, 201);
    assert.deepEqual(shown(), { type: 'product', body: { text: 'Our best' }, footer: { text: 'Until five' }, action });
    const stored = (await call('GET', `/messages/${body.messageId}`)).body;
    assert.deepEqual([stored.type, stored.interactive], ['interactive', { product }]);
  });

  it('sends a list of products in sections, and the catalog', async () => {
    const { catalogId, offer, shown } = await connected();
    const items = [
      { retailerId: 'sencha-100', section: 'Tea' },
      { retailerId: 'mocha-250', section: 'Coffee' },
      { retailerId: 'item-1', section: 'Tea' },
    ];
    const products = { catalogId, items };
    const listed = await offer({ message: 'New in', header: 'Drinks', products });
    assert.deepEqual([listed.status, listed.body.interactive], [201, { header: 'Drinks', products }]);
    assert.deepEqual(shown(), {
      type: 'product_list',
      header: { type: 'text', text: 'Drinks' },
      body: { text: 'New in' },
      action: {
        catalog_id: catalogId,
        sections: [
          { title: 'Tea', product_items: [{ product_retailer_id: 'sencha-100' }, { product_retailer_id: 'item-1' }] },
          { title: 'Coffee', product_items: [{ product_retailer_id: 'mocha-250' }] },
        ],
      },
    });
    const all = Array.from({ length: 30 }, (_, at) => ({ retailerId: `item-${at}` }));
    assert.equal((await offer({ message: 'All', header: 'Drinks', products: { catalogId, items: all } })).status, 201);
    assert.equal(shown().action.sections[0].title, undefined);
    const opened = await offer({ message: 'All of it', catalog: { retailerId: 'sencha-100' } });
    assert.deepEqual([opened.status, opened.body.interactive], [201, { catalog: { retailerId: 'sencha-100' } }]);
    assert.deepEqual(shown(), {
      type: 'catalog_message',
      body: { text: 'All of it' },
      action: { name: 'catalog_message', parameters: { thumbnail_product_retailer_id: 'sencha-100' } },
    });
  });

  it('rejects what WhatsApp cannot show before it stores a message', async () => {
    const { graph, call, catalogId, offer } = await connected();
    const product = { catalogId, retailerId: 'sencha-100' };
    const items = (count: number, section?: (at: number) => string) =>
      Array.from({ length: count }, (_, at) => ({
        retailerId: `item-${at}`,
        ...(section && { section: section(at) }),
      }));
    const listOf = (listed: readonly object[], more: object = {}) => ({
      message: 'New in',
      header: 'Drinks',
      products: { catalogId, items: listed },
      ...more,
    });
    const cases: [fields: object, field: string][] = [
      [{ product, catalog: { retailerId: 'sencha-100' }, message: 'Both' }, 'buttons'],
      [{ product, header: 'Drinks' }, 'header'],
      [{ catalog: { retailerId: 'sencha-100' } }, 'message'],
      [{ catalog: { retailerId: 'sencha-100' }, message: 'All', header: 'Drinks' }, 'header'],
      [{ buttons: [{ id: 'yes', title: 'Yes' }] }, 'message'],
      [listOf(items(2), { header: undefined }), 'header'],
      [listOf(items(2), { message: undefined }), 'message'],
      [listOf([]), 'products.items'],
      [listOf(items(31)), 'products.items'],
      [listOf([...items(2), { retailerId: 'item-0' }]), 'products.items'],
      [listOf(items(11, (at) => `Section ${at}`)), 'products.items'],
      [listOf([...items(1), { retailerId: 'mocha-250', section: 'Coffee' }]), 'products.items'],
      [listOf(items(1, () => 'a'.repeat(25))), 'products.items.0.section'],
      [listOf(items(1), { header: 'a'.repeat(61) }), 'header'],
      [{ product: { catalogId, retailerId: 'a'.repeat(101) } }, 'product.retailerId'],
      [{ product: { catalogId: '', retailerId: 'a' } }, 'product.catalogId'],
      [{ product: { retailerId: 'a' } }, 'product.catalogId'],
      [{ product: { catalogId: ' ', retailerId: 'a' } }, 'product.catalogId'],
      [{ product: { catalogId, retailerId: ' \u200b' } }, 'product.retailerId'],
      [listOf([{ retailerId: '\t' }]), 'products.items.0.retailerId'],
      [listOf(items(1), { products: { catalogId: '\u00a0', items: items(1) } }), 'products.catalogId'],
      [{ message: 'All', catalog: { retailerId: ' ' } }, 'catalog.retailerId'],
      [{ product: { ...product, price: 1 } }, 'product.price'],
    ];
    for (const [fields, field] of cases) {
      const { status, body } = await offer(fields);
      assert.deepEqual([status, body.errors?.[0]?.field], [400, field], JSON.stringify([fields, body.detail]));
    }
    assert.deepEqual([graph.sent.length, (await call('GET', '/messages')).body.data], [0, []]);
  });

  it('reports products that the connected catalog lacks, and a hidden catalog, in the words of Meta', async () => {
    const { graph, catalogId, offer } = await connected();
    for (const product of [
      { catalogId, retailerId: 'unknown' },
      { catalogId: '7', retailerId: 'sencha-100' },
    ]) {
      const { status, body } = await offer({ product });
      assert.deepEqual([status, body.code, body.errors[0].field], [400, 'validation_failed', 'product']);
      assert.match(body.detail, /Products not found in FB Catalog.*131009/);
    }
    const listOf = (...items: object[]) => offer({ message: 'New', header: 'Drinks', products: { catalogId, items } });
    const { body: none } = await listOf({ retailerId: 'unknown' });
    assert.deepEqual([none.code, none.errors[0].field], ['validation_failed', 'products']);
    assert.match(none.detail, /Products not found/);
    assert.deepEqual(errors, []);
    assert.equal(graph.sent.length, 0);
    assert.equal((await listOf({ retailerId: 'sencha-100' }, { retailerId: 'unknown' })).status, 201);
    const late = await offer({ product: { catalogId, retailerId: 'sencha-100' } }, SILENT);
    assert.deepEqual([late.status, late.body.code], [422, 'template_required']);
    graph.catalog.hide();
    const hidden = await offer({ product: { catalogId, retailerId: 'sencha-100' } });
    assert.deepEqual([hidden.body.code, graph.sent.length], ['validation_failed', 1]);
  });

  it('enforces recipients, approval and schedules as for other messages', async () => {
    const { graph, call, catalogId } = await connected();
    const input = { to: ADA, product: { catalogId, retailerId: 'sencha-100' } };
    const keyed = async (limits: object) =>
      bearer(server.url, (await call('POST', '/api-keys/create', { name: 'limited', ...limits })).body.key);
    const other = await keyed({ allowedRecipients: ['491707654321'] });
    assert.equal((await other('POST', '/messages/send-interactive', input)).body.code, 'permission_denied');
    const held = await keyed({ requiresApproval: true });
    const asked = (await held('POST', '/messages/send-interactive', input)).body;
    assert.deepEqual([asked.status, asked.interactive], ['pending_approval', { product: input.product }]);
    assert.equal(graph.sent.length, 0);
    assert.equal((await call('POST', `/messages/${asked.messageId}/approve`)).status, 200);
    await call('GET', `/messages/${asked.messageId}?wait=30&until=sent`);
    assert.equal(graph.sent.at(-1)?.body.interactive.type, 'product');
    const sendAt = new Date(Date.now() + 3_600_000).toISOString();
    const later = (await call('POST', '/messages/send-interactive', { ...input, sendAt })).body;
    assert.deepEqual([later.status, later.interactive], ['scheduled', { product: input.product }]);
    const forwarded = await call('POST', `/messages/${asked.messageId}/forward`, { to: '4915187654321' });
    assert.deepEqual([forwarded.status, forwarded.body.interactive], [201, { product: input.product }]);
  });

  // https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/messages/order and
  // .../messages/text
  it('receives the order and the question that answer a product', async () => {
    const { graph, call, catalogId, offer } = await connected();
    const { messageId } = (await offer({ product: { catalogId, retailerId: 'sencha-100' } })).body;
    const context = { from: graph.phoneNumber, id: graph.sent.at(-1)?.id };
    const arrived = async (message: object) => {
      await graph.incoming(ADA, message);
      return (await call('GET', '/messages?direction=incoming&limit=1')).body.data[0];
    };
    const product_items = [{ product_retailer_id: 'sencha-100', quantity: 2, item_price: 3.5, currency: 'EUR' }];
    const order = { catalog_id: catalogId, text: 'By noon, please', product_items };
    const ordered = await arrived({ type: 'order', order, context });
    assert.deepEqual([ordered.type, ordered.replyTo], ['order', messageId]);
    assert.match(ordered.message, /By noon, please/);
    assert.partialDeepStrictEqual(ordered.order, { catalogId, total: 7, items: [{ retailerId: 'sencha-100' }] });
    const referred_product = { catalog_id: catalogId, product_retailer_id: 'sencha-100' };
    const asked = await arrived({
      type: 'text',
      text: { body: 'Is it green?' },
      context: { ...context, referred_product },
    });
    assert.deepEqual(
      [asked.type, asked.message, asked.replyTo, asked.product],
      ['text', 'Is it green?', messageId, { catalogId, retailerId: 'sencha-100' }],
    );
  });

  it('cannot be sent to groups, or on a network without catalogs', async () => {
    const { call, catalogId } = await connected();
    const { groupId } = (await call('POST', '/groups', { subject: 'Garden' })).body;
    const product = { catalogId, retailerId: 'sencha-100' };
    const inGroup = await call('POST', '/messages/send-interactive', { to: groupId, product });
    assert.deepEqual([inGroup.status, inGroup.body.code], [422, 'not_supported']);
    const linked = await server.account();
    const { sessionId } = (await linked.call('POST', '/sessions', { connector: 'whatsapp' })).body;
    const refused = await linked.call('POST', '/messages/send-interactive', { sessionId, to: ADA, product });
    assert.deepEqual([refused.status, refused.body.code], [422, 'not_supported']);
  });
});
