import assert from 'node:assert/strict';
import { it } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { ADA, asks, cloudSession, eventsOf, GRACE } from '../support/networks/cloudSession.ts';
import { eventOf } from '../support/server.ts';

/* Openings of chats, calls, and choices about marketing, all on the Cloud API. */

const HIDDEN = 'US.13491208655302741918';
const SECONDS = 1_767_225_600;
const AT = '2026-01-01T00:00:00.000Z';

/** https://github.com/netflie/whatsapp-cloud-api/issues/171 and https://github.com/fazer-ai/chatwoot/pull/314 */
it('reports a chat that was opened for the first time as an event, not as a message', async (t) => {
  const { graph, call, sessionId } = await cloudSession(t);
  const referral = { source_id: '120226305854810726', source_type: 'ad', ctwa_clid: 'c'.repeat(5000) };
  await graph.incoming(ADA, { type: 'request_welcome', timestamp: String(SECONDS), referral });
  const opened = await eventOf(call, 'chat.opened');
  assert.partialDeepStrictEqual(opened, {
    sessionId,
    chatId: ADA,
    from: ADA,
    referral: { adId: '120226305854810726', entryPoint: 'ad' },
    timestamp: AT,
  });
  await graph.incoming(HIDDEN, { type: 'request_welcome' });
  const hidden = await eventOf(call, 'chat.opened', ({ unidentified }) => unidentified === true);
  assert.match(hidden.from, /^000\d+$/);
  assert.equal(hidden.referral, undefined);
  const repeated = { id: graph.newId() };
  for (const _ of [1, 2]) await graph.incoming(GRACE, { type: 'request_welcome' }, repeated);
  const openings = await eventsOf(call, 'chat.opened');
  assert.equal(openings.filter(({ data }: { data: { from: string } }) => data.from === GRACE).length, 1);
  assert.deepEqual((await call('GET', '/messages')).body.data, []);
  assert.deepEqual(await eventsOf(call, 'message.incoming'), []);
});

/** https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/user_preferences */
it('refuses marketing templates to a person who has stopped them, until they resume', async (t) => {
  const { graph, call, sessionId, send } = await cloudSession(t);
  graph.templates.add({ name: 'sale', category: 'MARKETING' });
  graph.templates.add({ name: 'receipt', category: 'UTILITY' });
  const template = (name: string, to = ADA) => call('POST', '/messages/send-template', { to, name, language: 'en_US' });
  assert.equal((await template('sale')).body.status, 'sent');
  assert.equal(await graph.chooseMarketing(ADA, 'stop', { timestamp: SECONDS }), 200);
  assert.partialDeepStrictEqual(await eventOf(call, 'contact.marketing'), {
    sessionId,
    chatId: ADA,
    from: ADA,
    stopped: true,
    timestamp: AT,
  });
  const before = asks(graph);
  const refused = await template('sale');
  assert.deepEqual([refused.status, refused.body.code], [403, 'network_denied']);
  assert.match(refused.body.detail, /stopped marketing messages/);
  assert.equal(asks(graph), before);
  assert.equal((await template('receipt')).body.status, 'sent');
  assert.equal((await template('sale', GRACE)).body.status, 'sent');
  assert.equal((await send('Your parcel')).body.status, 'sent');
  // An older report that Meta repeats changes nothing.
  assert.equal(await graph.chooseMarketing(ADA, 'resume', { timestamp: SECONDS - 60 }), 200);
  assert.equal((await template('sale')).status, 403);
  assert.equal(await graph.chooseMarketing(ADA, 'stop', { timestamp: SECONDS }), 200);
  assert.equal((await eventsOf(call, 'contact.marketing')).length, 1);
  assert.equal(await graph.chooseMarketing(ADA, 'resume', { timestamp: String(SECONDS + 60) }), 200);
  await eventOf(call, 'contact.marketing', ({ stopped, timestamp }) => !stopped && timestamp > AT);
  assert.equal((await template('sale')).body.status, 'sent');
});

/**
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/business-scoped-user-ids and
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/calling/user-call-permissions
 */
it('asks a person for the phone number, and for permission to call', async (t) => {
  const { graph, call } = await cloudSession(t);
  await graph.incoming(HIDDEN, { type: 'text', text: { body: 'hello' } });
  const { from: hidden } = await eventOf(call, 'message.incoming');
  const ask = (fields: object) => call('POST', '/messages/send-interactive', { message: 'May we?', ...fields });
  const { status, body } = await ask({ to: hidden, request: 'contact_info' });
  assert.deepEqual([status, body.type, body.interactive], [201, 'interactive', { request: 'contact_info' }]);
  assert.deepEqual(graph.sent.at(-1)?.body.interactive, {
    type: 'request_contact_info',
    body: { text: 'May we?' },
    action: { name: 'request_contact_info' },
  });
  const contacts = [{ origin: 'contact_request', phones: [{ phone: `+${GRACE}`, wa_id: GRACE }] }];
  await graph.incoming(HIDDEN, { type: 'contacts', contacts });
  await eventually(
    () => call('GET', `/messages/${body.messageId}`),
    (answer) => answer.body.chatId === GRACE,
  );
  assert.equal((await ask({ to: ADA, request: 'call_permission' })).status, 201);
  assert.deepEqual(graph.sent.at(-1)?.body.interactive.action, { name: 'call_permission_request' });
  const reply = { type: 'call_permission_reply', call_permission_reply: { response: 'accept', is_permanent: true } };
  await graph.incoming(ADA, { type: 'interactive', interactive: reply });
  assert.equal((await eventOf(call, 'call.permission')).granted, true);
  const link = { title: 'Open', url: 'https://example.com' };
  for (const [fields, field] of [
    [{ to: ADA, request: 'contact_info', header: 'Hello' }, 'header'],
    [{ to: ADA, request: 'contact_info', link }, 'buttons'],
    [{ to: ADA, request: 'password' }, 'request'],
  ] as const) {
    const refused = await ask(fields);
    assert.deepEqual([refused.status, refused.body.errors?.[0]?.field], [400, field], JSON.stringify(refused.body));
  }
  const { groupId } = (await call('POST', '/groups', { subject: 'Garden' })).body;
  assert.equal((await ask({ to: groupId, request: 'contact_info' })).body.errors?.[0]?.field, 'request');
});

it('tells in a preflight that a marketing template would be refused to a person who has stopped them', async (t) => {
  const { graph, call, sessionId } = await cloudSession(t);
  graph.templates.add({ name: 'sale', category: 'MARKETING' });
  graph.templates.add({ name: 'receipt', category: 'UTILITY' });
  graph.templates.add({ name: 'old_sale', category: 'MARKETING', status: 'PAUSED' });
  await graph.chooseMarketing(ADA, 'stop');
  await graph.chooseMarketing(HIDDEN, 'stop', { wa_id: undefined, user_id: HIDDEN });
  const { from: hidden } = await eventOf(call, 'contact.marketing', ({ from }) => from.startsWith('000'));
  const of = async (template?: object) => {
    const content = template === undefined ? { message: 'Hi' } : { template };
    const { body } = await call('POST', '/messages/preflight', { sessionId, to: [ADA, GRACE, hidden], ...content });
    return body.results.map(({ outcome }: { outcome: string }) => outcome);
  };
  const language = 'en_US';
  assert.deepEqual(await of({ name: 'sale', language }), ['marketing_stopped', 'ok', 'marketing_stopped']);
  assert.deepEqual(await of({ name: 'sale' }), ['marketing_stopped', 'unknown', 'marketing_stopped']);
  assert.deepEqual(await of({ name: 'receipt', language }), ['ok', 'ok', 'ok']);
  const unavailable = await of({ name: 'old_sale', language });
  assert.deepEqual(new Set(unavailable), new Set(['template_unavailable']));
  assert.deepEqual(new Set(await of()), new Set(['template_required']));
  await graph.chooseMarketing(ADA, 'resume', { timestamp: Math.floor(Date.now() / 1000) + 60 });
  assert.deepEqual(await of({ name: 'sale', language }), ['ok', 'ok', 'marketing_stopped']);
});

it('asks for the category of a template once, and sends it if Meta does not tell', async (t) => {
  const { graph, call } = await cloudSession(t);
  graph.templates.add({ name: 'receipt', category: 'UTILITY' });
  const template = () => call('POST', '/messages/send-template', { to: ADA, name: 'receipt', language: 'en_US' });
  const lookUps = () => graph.calls.filter((one) => /^GET .*message_templates/.test(one)).length;
  await graph.chooseMarketing(ADA, 'stop');
  graph.failNext({ code: 100 });
  assert.equal((await template()).body.status, 'sent');
  const failed = lookUps();
  assert.equal((await template()).body.status, 'sent');
  assert.equal((await template()).body.status, 'sent');
  assert.deepEqual([failed, lookUps()], [1, 2]);
});

it('keeps a choice about marketing when the digits of the person change', async (t) => {
  const { graph, call, send } = await cloudSession(t);
  graph.templates.add({ name: 'sale', category: 'MARKETING' });
  const template = (to: string) => call('POST', '/messages/send-template', { to, name: 'sale', language: 'en_US' });
  const text = { type: 'text', text: { body: 'hello' } };
  await graph.incoming(HIDDEN, text);
  await graph.chooseMarketing(HIDDEN, 'stop', { wa_id: undefined, user_id: HIDDEN });
  await graph.incoming(ADA, text, { userId: HIDDEN });
  assert.equal((await template(ADA)).status, 403, 'the number was shown');
  await graph.notice({ type: 'user_changed_number', body: 'changed', wa_id: GRACE }, { from: ADA });
  assert.equal((await template(GRACE)).status, 403, 'the number was changed');
  assert.equal((await template(ADA)).body.status, 'sent', 'the former number can belong to somebody else');
  const [typed, waId] = ['5547989211984', '554789211984'];
  await graph.chooseMarketing(typed, 'stop');
  graph.people.know(typed, waId);
  await send('hello', typed);
  await eventually(
    () => template(waId),
    ({ status }) => status === 403,
  );
  assert.equal((await template(typed)).status, 403);
});

it('reads choices about marketing that arrive as messages, and ignores unknown ones', async (t) => {
  const { graph, call } = await cloudSession(t);
  const system = { body: 'User requested to stop marketing messages', type: 'user_preference_changed' };
  await graph.incoming(ADA, { type: 'system', system: { ...system, marketing: 'stop' } });
  assert.equal((await eventOf(call, 'contact.marketing')).stopped, true);
  const choice = { category: 'marketing_messages', value: 'stop' };
  const odd = [7, {}, { ...choice, value: 'later' }, { ...choice, wa_id: 'x'.repeat(300), category: 'news' }, choice];
  assert.equal(await graph.post({ field: 'user_preferences', user_preferences: odd }), 200);
  assert.equal(
    await graph.post({ field: 'user_preferences', user_preferences: [{ ...choice, user_id: HIDDEN }] }),
    200,
  );
  const events = await eventsOf(call, 'contact.marketing');
  assert.equal(events.length, 2);
  assert.deepEqual((await call('GET', '/messages')).body.data, []);
});

/** https://developers.facebook.com/documentation/business-messaging/whatsapp/calling/user-initiated-calls */
it('reports calls of people, in every form that Meta documents', async (t) => {
  const { graph, call, sessionId } = await cloudSession(t);
  const id = 'wacid.ABGGFjFVU2AfAgo6V-Hc5eCgK5Gh';
  const own = graph.phoneNumber;
  const begun = { id, from: ADA, to: own, event: 'connect', direction: 'USER_INITIATED', timestamp: String(SECONDS) };
  assert.equal(await graph.reportCall({ ...begun, session: { sdp_type: 'offer', sdp: 'v=0' } }), 200);
  const about = { callId: id, sessionId, chatId: ADA, from: ADA, video: false };
  assert.partialDeepStrictEqual(await eventOf(call, 'call.incoming'), { ...about, timestamp: AT });
  const ended = { ...begun, event: 'terminate', status: 'COMPLETED', timestamp: SECONDS + 9, duration: 9 };
  assert.equal(await graph.reportCall(ended), 200);
  const { outcome } = await eventOf(call, 'call.ended');
  assert.equal(outcome, 'answered');
  // The same page also shows the two numbers the other way around, and no direction.
  const swapped = {
    id: 'wacid.2',
    from: `+${own}`,
    to: GRACE,
    event: 'terminate',
    status: 'FAILED',
    timestamp: SECONDS,
  };
  assert.equal(await graph.reportCall(swapped), 200);
  assert.equal((await eventOf(call, 'call.ended', ({ callId }) => callId === 'wacid.2')).outcome, 'missed');
  const hidden = { id: 'wacid.3', from_user_id: HIDDEN, to: own, event: 'connect', timestamp: SECONDS };
  assert.equal(await graph.reportCall(hidden), 200);
  assert.match((await eventOf(call, 'call.incoming', ({ callId }) => callId === 'wacid.3')).from, /^000\d+$/);
  const byTheNumber = { ...begun, id: 'wacid.4', direction: 'BUSINESS_INITIATED', from: own, to: ADA };
  for (const odd of [byTheNumber, { id: 7 }, { ...begun, id: 'i'.repeat(300) }, { id: 'wacid.5', event: 'connect' }])
    assert.equal(await graph.reportCall(odd), 200);
  assert.equal((await eventsOf(call, 'call.incoming')).length, 2);
  const byId = { id: 'wacid.6', from: HIDDEN, to: own, event: 'connect', timestamp: SECONDS };
  assert.equal(await graph.reportCall(byId), 200);
  assert.match((await eventOf(call, 'call.incoming', ({ callId }) => callId === 'wacid.6')).from, /^000\d+$/);
});

it('reports the start and the end of a call once, and no start after the end', async (t) => {
  const { graph, call } = await cloudSession(t);
  const report = async (id: string, event: string) => {
    const about = { id, from: ADA, to: graph.phoneNumber, direction: 'USER_INITIATED', timestamp: SECONDS };
    assert.equal(await graph.reportCall({ ...about, event, status: 'COMPLETED' }), 200);
  };
  for (const event of ['connect', 'connect', 'terminate', 'terminate', 'connect']) await report('wacid.1', event);
  for (const event of ['terminate', 'connect']) await report('wacid.2', event);
  const idsOf = async (kind: string) =>
    (await eventsOf(call, kind)).map(({ data }: { data: { callId: string } }) => data.callId).toSorted();
  assert.deepEqual(await idsOf('call.incoming'), ['wacid.1']);
  assert.deepEqual(await idsOf('call.ended'), ['wacid.1', 'wacid.2']);
});

/** https://developers.facebook.com/documentation/business-messaging/whatsapp/calling/user-call-permissions */
it('reports whether a person lets the number call', async (t) => {
  const { graph, call, sessionId } = await cloudSession(t);
  const decide = (call_permission_reply: object, about: object = {}) =>
    graph.incoming(
      ADA,
      {
        type: 'interactive',
        interactive: { type: 'call_permission_reply', call_permission_reply },
        timestamp: String(SECONDS),
      },
      about,
    );
  const about = { sessionId, chatId: ADA, from: ADA, timestamp: AT };
  await decide({
    response: 'accept',
    is_permanent: false,
    expiration_timestamp: SECONDS,
    response_source: 'user_action',
  });
  assert.partialDeepStrictEqual(await eventOf(call, 'call.permission'), { ...about, granted: true, expiresAt: AT });
  const repeated = { id: graph.newId() };
  for (const _ of [1, 2]) await decide({ response: 'reject' }, repeated);
  assert.equal((await eventsOf(call, 'call.permission')).length, 2);
  const isRefusal = ({ granted }: { granted?: boolean }) => granted === false;
  assert.partialDeepStrictEqual(await eventOf(call, 'call.permission', isRefusal), {
    ...about,
    granted: false,
    expiresAt: null,
  });
  await decide({ response: 'accept', is_permanent: true, expiration_timestamp: SECONDS });
  const lasting = await eventOf(call, 'call.permission', ({ granted, expiresAt }) => granted && expiresAt === null);
  assert.equal(lasting.from, ADA);
  assert.deepEqual((await call('GET', '/messages')).body.data, []);
});
