import assert from 'node:assert/strict';
import { it } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { TIME } from '../support/fakeGraph/callbacks.ts';
import type { FakeGraph } from '../support/fakeGraph/fakeGraph.ts';
import { picture, upload } from '../support/media/media.ts';
import { ADA, cloudSession, eventsOf, GRACE, passUntil } from '../support/networks/cloudSession.ts';
import { type Answer, bearer, type Call, eventOf } from '../support/server.ts';

/* Templates, the state of the number, files and the profile of a Cloud API session. */

const AT = new Date(TIME * 1000).toISOString();

const draft = {
  name: 'order_sent',
  language: 'en_US',
  category: 'utility',
  components: [{ type: 'BODY', text: 'Your order {{1}} is on its way.', example: { body_text: [['4711']] } }],
};

/** The state of the number, once the connector has read it. */
const networkOf = (
  call: Call,
  sessionId: string,
  isMet: (network: Answer['body']) => boolean = (one) => one !== null,
) => eventually(async () => (await call('GET', `/sessions/${sessionId}`)).body.network, isMet);

it('creates, edits and deletes templates at Meta', async (t) => {
  const { graph, call, sessionId } = await cloudSession(t);
  await networkOf(call, sessionId);
  const path = `/sessions/${sessionId}/templates`;
  const made = await call('POST', path, draft);
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const { templateId } = made.body;
  assert.deepEqual(
    [made.body.status, made.body.category, made.body.components],
    ['pending', 'utility', draft.components],
  );
  const again = (await call('POST', path, draft)).body;
  assert.deepEqual([again.code, /already content in this language/.test(again.detail)], ['validation_failed', true]);

  const components = [{ type: 'BODY', text: 'Order {{1}} was sent.', example: { body_text: [['4711']] } }];
  const changed = (await call('PATCH', `${path}/${templateId}`, { category: 'marketing', components })).body;
  assert.deepEqual([changed.category, changed.components], ['marketing', components]);
  const stored = graph.templates.find(templateId) ?? assert.fail();
  Object.assign(stored, {
    status: 'REJECTED',
    rejected_reason: 'TAG_CONTENT_MISMATCH',
    quality_score: { score: 'RED' },
  });
  const read = (await call('GET', `${path}/${templateId}`)).body;
  assert.deepEqual([read.status, read.rejectionReason, read.quality], ['rejected', 'TAG_CONTENT_MISMATCH', 'low']);
  stored.status = 'APPROVED';
  const refused = (await call('PATCH', `${path}/${templateId}`, { category: 'utility' })).body;
  assert.deepEqual([refused.code, /cannot be edited/.test(refused.detail)], ['validation_failed', true]);

  const other = graph.templates.add({ name: 'order_sent', language: 'de' });
  assert.equal((await call('DELETE', `${path}/${templateId}`)).status, 200);
  assert.deepEqual(
    graph.templates.all.map(({ id }) => id),
    [other.id],
    'the same name in another language stays',
  );
  assert.equal((await call('DELETE', `${path}/${templateId}`)).body.code, 'not_found');
});

it('lists templates by name, status and language, in pages', async (t) => {
  const { graph, call, sessionId } = await cloudSession(t);
  await networkOf(call, sessionId);
  for (let n = 0; n < 5; n++)
    graph.templates.add({ name: `t${n}`, ...(n === 3 && { status: 'PAUSED', language: 'de' }) });
  const list = async (query: string) => (await call('GET', `/sessions/${sessionId}/templates?${query}`)).body;
  const names = ({ data }: Answer['body']) => data.map(({ name }: Answer['body']) => name);
  const first = await list('limit=2');
  assert.deepEqual(names(first), ['t0', 't1']);
  const second = await list(`limit=2&cursor=${first.nextCursor}`);
  const third = await list(`limit=2&cursor=${second.nextCursor}`);
  assert.deepEqual([names(second), names(third), third.nextCursor], [['t2', 't3'], ['t4'], null]);
  assert.deepEqual(names(await list('status=paused')), ['t3']);
  assert.deepEqual(names(await list('language=de')), ['t3']);
  assert.deepEqual(names(await list('name=t4')), ['t4']);
});

it('reads no object of Meta other than a template', async (t) => {
  const { graph, call, sessionId } = await cloudSession(t);
  const path = `/sessions/${sessionId}/templates`;
  for (const id of [graph.options.phoneNumberId, '404', 'me', 'debug_token'])
    assert.equal((await call('GET', `${path}/${id}`)).body.code, 'not_found', id);
  assert.ok(!graph.calls.some((one) => one.endsWith('/me') || one.endsWith('/debug_token')));
});

it('reads and edits no template of another account that the token can read', async (t) => {
  const { graph, call, sessionId } = await cloudSession(t);
  await networkOf(call, sessionId);
  const own = graph.templates.add({ name: 'order_sent', language: 'de' });
  const foreign = graph.templates.add({ name: 'order_sent' });
  graph.templates.foreign.push(...graph.templates.all.splice(1, 1));
  const path = `/sessions/${sessionId}/templates`;
  const { components } = draft;
  assert.equal((await call('GET', `${path}/${own.id}`)).body.language, 'de');
  assert.equal((await call('GET', `${path}/${foreign.id}`)).body.code, 'not_found');
  assert.equal((await call('PATCH', `${path}/${foreign.id}`, { components })).body.code, 'not_found');
  assert.equal((await call('DELETE', `${path}/${foreign.id}`)).body.code, 'not_found');
  assert.equal(foreign.status, 'APPROVED', 'not edited');
});

it('finds the business account of a number, and says what to do if Meta does not name it', async (t) => {
  const { graph, call, sessionId } = await cloudSession(t, { connects: false });
  graph.state.health_status.entities = [];
  assert.equal((await call('POST', `/sessions/${sessionId}/connect`)).body.status, 'connected');
  await networkOf(call, sessionId);
  const path = `/sessions/${sessionId}/templates`;
  const { body } = await call('GET', path);
  assert.deepEqual([body.code, /set `businessAccountId`/.test(body.detail)], ['session_state', true]);
  await graph.incoming(ADA, { type: 'text', text: { body: 'Hi' } });
  assert.equal((await call('GET', path)).status, 200, 'the callback names it');
});

it('explains why a template cannot be sent', async (t) => {
  const { graph, call } = await cloudSession(t);
  graph.templates.add({ name: 'paused', status: 'PAUSED' });
  graph.templates.add({ name: 'disabled', status: 'DISABLED' });
  graph.templates.add({ name: 'german', language: 'de' });
  const send = async (name: string) =>
    (await call('POST', '/messages/send-template', { to: ADA, name, language: 'en_US' })).body;
  const missing = await send('german');
  assert.deepEqual([missing.code, /templates\. WhatsApp says: .*\(132001\)/.test(missing.detail)], ['not_found', true]);
  const paused = await send('paused');
  assert.deepEqual([paused.code, /is paused.*\(132015\)/.test(paused.detail)], ['network_denied', true]);
  assert.equal((await send('disabled')).code, 'network_denied');
  graph.failNext({ code: 132000, details: 'number of localizable_params (0) does not match' });
  const values = await send('anything');
  assert.deepEqual([values.code, values.errors[0].field], ['validation_failed', 'components']);
  assert.equal((await send('anything')).status, 'sent');
});

it('reports every change of a template once, however often Meta repeats it', async (t) => {
  const { graph, call, sessionId } = await cloudSession(t);
  const about = {
    message_template_id: 1_689_556_908_129_832,
    message_template_name: 'order_sent',
    message_template_language: 'en-US',
  };
  const rejected = {
    field: 'message_template_status_update',
    event: 'REJECTED',
    ...about,
    reason: 'INVALID_FORMAT',
    message_template_category: 'MARKETING',
    rejection_info: { reason: 'Parameters are adjacent.', recommendation: 'Separate them.' },
  };
  const approved = { ...rejected, event: 'APPROVED', reason: 'NONE', rejection_info: undefined };
  const category = {
    field: 'template_category_update',
    ...about,
    previous_category: 'MARKETING',
    new_category: 'UTILITY',
  };
  const quality = {
    field: 'message_template_quality_update',
    ...about,
    previous_quality_score: 'GREEN',
    new_quality_score: 'YELLOW',
  };
  for (const report of [rejected, rejected, approved, approved, category, quality, quality])
    assert.equal(await graph.post(report), 200);
  const events = await eventsOf(call, 'template.updated');
  const seen = events.map(({ data }: Answer['body']) => [
    data.previousStatus,
    data.status,
    data.category,
    data.quality,
    data.reason,
  ]);
  assert.deepEqual(seen, [
    [null, 'rejected', 'marketing', null, 'Parameters are adjacent. Separate them.'],
    ['rejected', 'approved', 'marketing', null, null],
    ['approved', 'approved', 'utility', null, null],
    ['approved', 'approved', 'utility', 'medium', null],
  ]);
  const [{ data }] = events;
  assert.deepEqual(
    [data.sessionId, data.templateId, data.name, data.language, data.timestamp],
    [sessionId, '1689556908129832', 'order_sent', 'en_US', AT],
  );
});

it('shows the quality, limits and restrictions of a number, and reports their changes', async (t) => {
  const { graph, call, sessionId } = await cloudSession(t);
  const first = await networkOf(call, sessionId);
  assert.deepEqual(
    [first.displayName, first.nameStatus, first.quality, first.messagingTier, first.messagingLimit],
    ['Lucky Shrub', 'approved', 'high', 'TIER_2K', 2000],
  );
  assert.deepEqual(
    [first.throughput, first.accountMode, first.canSend, first.problems, first.notices],
    ['standard', 'live', 'yes', [], []],
  );
  graph.state.quality_rating = 'RED';
  graph.state.health_status.can_send_message = 'LIMITED';
  graph.state.health_status.entities = [
    {
      entity_type: 'PHONE_NUMBER',
      id: graph.options.phoneNumberId,
      can_send_message: 'LIMITED',
      additional_info: ['The display name has not been approved yet.'],
    },
    {
      entity_type: 'WABA',
      id: '100',
      can_send_message: 'BLOCKED',
      errors: [{ error_code: 141006, error_description: 'No payment method', possible_solution: 'Add one.' }],
    },
  ];
  const limit = {
    field: 'phone_number_quality_update',
    display_phone_number: graph.phoneNumber,
    event: 'ONBOARDING',
    max_daily_conversations_per_business: 'TIER_10K',
  };
  graph.state.whatsapp_business_manager_messaging_limit = 'TIER_10K';
  assert.equal(await graph.post(limit), 200);
  const network = await networkOf(call, sessionId, ({ quality }) => quality === 'low');
  assert.deepEqual([network.messagingTier, network.messagingLimit, network.canSend], ['TIER_10K', 10_000, 'limited']);
  assert.deepEqual(network.problems, [
    { concerns: 'phone_number', message: 'The display name has not been approved yet.' },
    { concerns: 'business_account', message: 'No payment method. Add one.' },
  ]);
  const events = await eventsOf(call, 'session.updated');
  assert.deepEqual(events[1].data.changed.toSorted(), ['messagingLimit', 'messagingTier']);
  assert.deepEqual(events[2].data.changed.toSorted(), ['canSend', 'problems', 'quality']);
  assert.equal(events[2].data.network.quality, 'low');
});

it('keeps the notices of the account, and ignores those of other numbers', async (t) => {
  const { graph, call, sessionId } = await cloudSession(t);
  await networkOf(call, sessionId);
  const alert = (entity_type: string, entity_id: string, alert_description: string) => ({
    field: 'account_alerts',
    entity_type,
    entity_id,
    alert_info: { alert_severity: 'WARNING', alert_status: 'ACTIVE', alert_type: 'OBA_REJECTED', alert_description },
  });
  const reports = [
    alert('PHONE_NUMBER', '9999', 'of another number'),
    alert('BUSINESS', '5069', 'of the business'),
    alert('BUSINESS', '5069', 'of the business'),
    { field: 'account_update', event: 'ACCOUNT_VIOLATION', violation_info: { violation_type: 'ADULT' } },
    { field: 'account_update', event: 'DISABLED_UPDATE', ban_info: { waba_ban_state: 'SCHEDULE_FOR_DISABLE' } },
    {
      field: 'phone_number_name_update',
      display_phone_number: '15559999999',
      decision: 'REJECTED',
      requested_verified_name: 'Not mine',
    },
    {
      field: 'phone_number_name_update',
      display_phone_number: graph.phoneNumber,
      decision: 'REJECTED',
      requested_verified_name: 'Tea',
      rejection_reason: 'NAME_NOT_CONSISTENT',
    },
    { field: 'business_capability_update', max_daily_conversations_per_business: -1, max_phone_numbers_per_waba: 25 },
    { field: 'account_review_update', decision: 'APPROVED' },
    { field: 'payment_configuration_update', whatever: true },
    { field: 'account_update', event: 7 },
  ];
  assert.equal(await graph.post(reports), 200);
  const { notices } = await networkOf(call, sessionId, (one) => one.notices.length >= 5);
  assert.deepEqual(
    notices.map(({ severity, message, at }: Answer['body']) => `${severity} ${message} ${at}`).toSorted(),
    [
      `critical WhatsApp reports DISABLED_UPDATE for the business account: SCHEDULE_FOR_DISABLE ${AT}`,
      `info The review of the business account ended with APPROVED ${AT}`,
      `warning The display name Tea is rejected (NAME_NOT_CONSISTENT) ${AT}`,
      `warning WhatsApp reports ACCOUNT_VIOLATION for the business account: ADULT ${AT}`,
      `warning of the business ${AT}`,
    ],
  );
  const unlimited = (await eventsOf(call, 'session.updated')).find(
    ({ data }: Answer['body']) => data.network.messagingTier === 'TIER_UNLIMITED',
  );
  assert.equal(unlimited.data.network.messagingLimit, null);
});

it('keeps notices of any length, without what looks like a secret', async (t) => {
  const { graph, call, sessionId } = await cloudSession(t);
  await networkOf(call, sessionId);
  const alert_info = { alert_severity: 'CRITICAL', alert_status: 'NONE', alert_type: 'T' };
  const alert = (description: string) => ({
    field: 'account_alerts',
    entity_type: 'BUSINESS',
    alert_info: { ...alert_info, alert_description: description },
  });
  const restrictions = Array.from({ length: 60 }, (_, n) => ({ restriction_type: `RESTRICTION_${n}_OF_MANY` }));
  const reports = [
    alert('d'.repeat(5000)),
    alert('Check the setting key="abc" of the app'),
    { field: 'account_update', event: 'ACCOUNT_RESTRICTION', restriction_info: restrictions },
  ];
  assert.equal(await graph.post(reports), 200);
  const { notices } = await networkOf(call, sessionId, (one) => one.notices.length === 3);
  assert.deepEqual(notices.map(({ message }: Answer['body']) => message.slice(0, 42)).toSorted(), [
    'Check the setting key="[redacted]" of the ',
    'WhatsApp reports ACCOUNT_RESTRICTION for t',
    'd'.repeat(42),
  ]);
});

it('reads the state of a number from an older version of the Graph API', async (t) => {
  const { graph, call, sessionId } = await cloudSession(t, { connects: false });
  graph.state.whatsapp_business_manager_messaging_limit = undefined;
  graph.state.messaging_limit_tier = 'TIER_250';
  await call('POST', `/sessions/${sessionId}/connect`);
  assert.equal((await networkOf(call, sessionId)).messagingLimit, 250);
});

it('a number whose state cannot be read stays connected', async (t) => {
  const { graph, clock, call, sessionId, send } = await cloudSession(t, { connects: false });
  graph.state.whatsapp_business_manager_messaging_limit = undefined;
  graph.state.messaging_limit_tier = undefined;
  await call('POST', `/sessions/${sessionId}/connect`);
  assert.equal((await send('Hello')).status, 201);
  graph.state.messaging_limit_tier = 'TIER_2K';
  const network = async () => (await call('GET', `/sessions/${sessionId}`)).body.network;
  assert.equal(await network(), null);
  await clock.advance(31 * 60_000);
  await passUntil(clock, network, (found) => found !== null);
});

const document = async (call: Call, mediaId: string, to = ADA) =>
  (await call('POST', '/messages/send-media', { to, type: 'document', mediaId })).body;
const uploads = (graph: FakeGraph) => graph.calls.filter((one) => one.endsWith('/media')).length;

it('uploads a file once for all of its messages, also after a restart', async (t) => {
  const { graph, server, start, call, token, sessionId } = await cloudSession(t);
  const { mediaId } = (await upload(server, token, picture())).body;
  await Promise.all([ADA, GRACE].map((to) => document(call, mediaId, to)));
  assert.equal((await document(call, mediaId)).status, 'sent');
  assert.equal(uploads(graph), 1);
  const ids = new Set(graph.sent.map(({ body }) => body.document.id));
  assert.equal(ids.size, 1);
  const other = (await upload(server, token, Buffer.from('%PDF-1.7'))).body.mediaId;
  await document(call, other);
  assert.equal(uploads(graph), 2);
  await server.stop();
  const next = bearer((await start()).url, token);
  await eventually(
    async () => (await next('GET', `/sessions/${sessionId}`)).body.status,
    (status) => status === 'connected',
  );
  assert.equal((await document(next, mediaId)).status, 'sent');
  assert.equal(uploads(graph), 2);
});

it('uploads a file again that Meta has lost', async (t) => {
  const { graph, server, call, token } = await cloudSession(t);
  const { mediaId } = (await upload(server, token, picture())).body;
  await document(call, mediaId);
  graph.lose(graph.sent[0]?.body.document.id);
  assert.equal((await document(call, mediaId)).status, 'sent');
  assert.equal(uploads(graph), 2);
  const [sent = assert.fail()] = graph.sent;
  const lost = graph.statusOf(sent, 'failed', graph.failure(131053, 'Media upload error'));
  assert.equal(await graph.post({ statuses: [lost] }), 200);
  assert.equal((await document(call, mediaId)).status, 'sent');
  assert.equal(uploads(graph), 3, 'Meta could not use a file that it had accepted');
});

it('changes the business profile, and asks Meta for another name', async (t) => {
  const { graph, call, sessionId } = await cloudSession(t);
  const change = (fields: object) => call('PATCH', `/sessions/${sessionId}/profile`, fields);
  const business = {
    address: '101 Tea Lane',
    description: 'We sell tea.',
    email: 'tea@example.com',
    websites: ['https://example.com/'],
    vertical: 'RETAIL',
  };
  assert.equal((await change({ business })).status, 200);
  const { address, description, email, websites, vertical } = graph.profile;
  assert.deepEqual({ address, description, email, websites, vertical }, business);
  assert.equal((await change({ name: 'Tea house' })).status, 200);
  assert.deepEqual(graph.requestedNames, ['Tea house']);
  assert.equal(
    graph.calls.filter((one) => one === `POST /v26.0/${graph.options.phoneNumberId}/whatsapp_business_profile`).length,
    1,
  );
  const tooMany = (
    await change({ business: { websites: ['https://a.example', 'https://b.example', 'https://c.example'] } })
  ).body;
  assert.equal(tooMany.errors[0].field, 'business.websites');
});

it('keeps the price of a message', async (t) => {
  const { graph, call, send } = await cloudSession(t);
  graph.confirm(false);
  const { messageId } = (await send('Hello')).body;
  const [sent = assert.fail()] = graph.sent;
  const pricing = { billable: true, pricing_model: 'PMP', category: 'utility', type: 'regular' };
  assert.equal(await graph.post({ statuses: [graph.statusOf(sent, 'delivered', { pricing })] }), 200);
  await eventOf(call, 'message.delivered');
  const read = (await call('GET', `/messages/${messageId}`)).body;
  assert.deepEqual(read.pricing, { category: 'utility', billable: true, type: 'regular', model: 'PMP' });
  assert.equal((await call('GET', '/messages')).body.data[0].pricing.billable, true);
});
