import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeOnEachDeployment } from '../support/databases/databases.ts';
import { type Answer, type Call, connectSession, eventOf, serversFor } from '../support/server.ts';

const ANN = '491701111111';

const template = {
  name: 'order_sent',
  language: 'en_US',
  category: 'utility',
  components: [{ type: 'BODY', text: 'Your order {{1}} is on its way.' }],
};

describeOnEachDeployment('a business number on the sandbox', (_, database) => {
  const server = serversFor(database);

  async function business() {
    const { call } = await (await server()).account();
    const sessionId = await connectSession(call);
    const path = `/sessions/${sessionId}`;
    const simulate = async (action: string, fields: object) => {
      const { status, body } = await call('POST', `${path}/simulate`, { action, ...fields });
      assert.equal(status, 200, JSON.stringify(body));
    };
    const create = async (fields: object = {}) => {
      const { status, body } = await call('POST', `${path}/templates`, { ...template, ...fields });
      assert.equal(status, 201, JSON.stringify(body));
      return body;
    };
    return { call, sessionId, path, simulate, create };
  }

  const sendTemplate = (call: Call, name: string) =>
    call('POST', '/messages/send-template', { to: ANN, name, language: 'en_US' });

  it('creates templates that are pending until a review, and sends only approved ones', async () => {
    const { call, path, simulate, create, sessionId } = await business();
    assert.equal((await sendTemplate(call, 'order_sent')).status, 201, 'a session without templates sends any');
    const made = await create();
    assert.deepEqual([made.status, made.quality, made.rejectionReason], ['pending', null, null]);
    const early = (await sendTemplate(call, 'order_sent')).body;
    assert.deepEqual([early.code, /is pending/.test(early.detail)], ['not_found', true]);
    await simulate('template_review', {
      templateId: made.templateId,
      templateStatus: 'rejected',
      reason: 'TAG_CONTENT_MISMATCH',
    });
    const rejected = await eventOf(call, 'template.updated', ({ status }) => status === 'rejected');
    assert.deepEqual(
      [rejected.sessionId, rejected.templateId, rejected.name, rejected.reason, rejected.previousStatus],
      [sessionId, made.templateId, 'order_sent', 'TAG_CONTENT_MISMATCH', null],
    );
    assert.equal((await sendTemplate(call, 'order_sent')).status, 404);
    const read = (await call('GET', `${path}/templates/${made.templateId}`)).body;
    assert.deepEqual([read.status, read.rejectionReason], ['rejected', 'TAG_CONTENT_MISMATCH']);
    const components = [{ type: 'BODY', text: 'Order {{1}} was sent.' }];
    const changed = (await call('PATCH', `${path}/templates/${made.templateId}`, { components })).body;
    assert.deepEqual([changed.status, changed.rejectionReason, changed.components], ['pending', null, components]);
    for (let time = 0; time < 2; time++)
      await simulate('template_review', { templateId: made.templateId, templateStatus: 'approved' });
    assert.equal((await sendTemplate(call, 'order_sent')).status, 201);
    const unknown = await sendTemplate(call, 'never_created');
    assert.deepEqual([unknown.status, unknown.body.code], [404, 'not_found']);
    const elsewhere = { to: ANN, name: 'order_sent', language: 'fr' };
    assert.equal((await call('POST', '/messages/send-template', elsewhere)).body.code, 'not_found');
    await eventOf(call, 'template.updated', ({ status }) => status === 'approved');
    const { data } = (await call('GET', '/events?events=template.updated')).body;
    assert.deepEqual(
      data.map((event: Answer['body']) => [event.data.previousStatus, event.data.status]).toSorted(),
      [
        ['rejected', 'approved'],
        [null, 'rejected'],
      ].toSorted(),
      'a repeated review is no change',
    );
    assert.equal((await call('DELETE', `${path}/templates/${made.templateId}`)).status, 200);
    assert.equal((await call('GET', `${path}/templates/${made.templateId}`)).body.code, 'not_found');
    assert.equal((await sendTemplate(call, 'order_sent')).body.code, 'not_found', 'the last one was deleted');
  });

  it('refuses a template that was paused or disabled with the code of the Cloud API', async () => {
    const { call, simulate, create } = await business();
    const { templateId } = await create();
    for (const templateStatus of ['approved', 'paused', 'disabled']) {
      await simulate('template_review', { templateId, templateStatus });
      const { status, body } = await sendTemplate(call, 'order_sent');
      assert.deepEqual([status, body.code], templateStatus === 'approved' ? [201, undefined] : [403, 'network_denied']);
    }
  });

  it('lists templates in pages and by name, status and language', async () => {
    const { call, path, simulate, create } = await business();
    for (const language of ['en_US', 'de', 'fr']) await create({ language });
    const { templateId } = await create({ name: 'welcome' });
    await simulate('template_review', { templateId, templateStatus: 'approved' });
    const list = async (query: string) => (await call('GET', `${path}/templates?${query}`)).body;
    const first = await list('limit=3');
    assert.equal(first.data.length, 3);
    const second = await list(`limit=3&cursor=${first.nextCursor}`);
    assert.deepEqual([second.data.length, second.nextCursor], [1, null]);
    const all = [...first.data, ...second.data];
    assert.equal(new Set(all.map((one) => one.templateId)).size, 4);
    const named = async (query: string) =>
      (await list(query)).data.map((one: Answer['body']) => `${one.name} ${one.language}`).toSorted();
    assert.deepEqual(await named('status=approved'), ['welcome en_US']);
    assert.deepEqual(await named('name=order_sent&language=de'), ['order_sent de']);
    assert.equal((await call('GET', `${path}/templates?cursor=bm9uc2Vuc2U`)).body.code, 'validation_failed');
    const again = await call('POST', `${path}/templates`, template);
    assert.equal(again.body.code, 'validation_failed', 'the name exists in this language');
    const bad = await call('POST', `${path}/templates`, { ...template, name: 'Order Sent' });
    assert.deepEqual([bad.status, bad.body.errors[0].field], [400, 'name']);
  });

  it('shows the quality and limit of its number, and reports each change once', async () => {
    const { call, path, simulate } = await business();
    assert.equal((await call('GET', path)).body.network, null);
    for (let time = 0; time < 2; time++) await simulate('number_update', { quality: 'low', messagingLimit: 250 });
    await simulate('number_update', { quality: 'low', reason: 'Many people have blocked the number.' });
    const { network } = (await call('GET', path)).body;
    assert.deepEqual(
      [network.quality, network.messagingLimit, network.messagingTier, network.canSend],
      ['low', 250, 'TIER_250', null],
    );
    assert.deepEqual(
      network.notices.map(({ severity, message }: Answer['body']) => [severity, message]),
      [['warning', 'Many people have blocked the number.']],
    );
    await eventOf(call, 'session.updated', ({ notice }) => notice !== undefined);
    const { data } = (await call('GET', '/events?events=session.updated')).body;
    assert.deepEqual(
      data.map((event: Answer['body']) => event.data.changed.toSorted()),
      [['messagingLimit', 'messagingTier', 'quality'], []],
    );
    assert.deepEqual(data[1].data.notice.message, 'Many people have blocked the number.');
  });

  it('reports reasons of any length, without what looks like a secret', async () => {
    const { call, path, simulate, create } = await business();
    const { templateId } = await create({ name: 'n'.repeat(500) });
    const reason = `The setting key="abc" is ${'"'.repeat(170)}`;
    await simulate('template_review', { templateId, templateStatus: 'rejected', reason });
    const review = await eventOf(call, 'template.updated', ({ status }) => status === 'rejected');
    assert.deepEqual([review.name.length, review.reason.slice(0, 27)], [500, 'The setting key="[redacted]']);
    await simulate('number_update', { quality: 'low', reason });
    const { network } = (await call('GET', path)).body;
    assert.deepEqual(
      [network.quality, network.notices[0].message.slice(0, 27)],
      ['low', 'The setting key="[redacted]'],
    );
  });

  it('reports a text that was sent from the phone', async () => {
    const { call, simulate } = await business();
    await simulate('own_message', { from: ANN, message: 'from the counter' });
    const sent = await eventOf(call, 'message.sent', ({ message }) => message === 'from the counter');
    assert.deepEqual([sent.to, sent.sentElsewhere], [ANN, true]);
  });

  it('changes the data of the business', async () => {
    const { call, path } = await business();
    const business1 = { address: 'Main Street 1', email: 'tea@example.com', websites: ['https://example.com/'] };
    assert.equal((await call('PATCH', `${path}/profile`, { business: business1 })).status, 200);
    const bad = (await call('PATCH', `${path}/profile`, { business: { websites: ['ftp://example.com'] } })).body;
    assert.equal(bad.errors[0].field, 'business.websites.0');
    assert.equal((await call('PATCH', `${path}/profile`, {})).status, 400);
  });
});
