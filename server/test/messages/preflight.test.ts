import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeOnEachDeployment } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { type Answer, bearer, type Call, connectSession, newNumber, serversFor } from '../support/server.ts';

const NOBODY = '15550001234';

describeOnEachDeployment('a preflight', (_, database) => {
  const start = serversFor(database);

  async function setUp(options: object = {}) {
    const server = await start();
    const { call } = await server.account();
    const number = newNumber();
    const sessionId = await connectSession(call, number, { options });
    const play = (action: object) => call('POST', `/sessions/${sessionId}/simulate`, action);
    const check = async (to: readonly string[], more: object = {}, as: Call = call): Promise<Answer['body']> => {
      const { status, body } = await as('POST', '/messages/preflight', { sessionId, to, message: 'hi', ...more });
      assert.equal(status, 200, JSON.stringify(body));
      return body;
    };
    const outcomes = async (...given: Parameters<typeof check>): Promise<string[]> =>
      (await check(...given)).results.map(({ outcome }: Answer['body']) => outcome);
    return { server, call, number, sessionId, play, check, outcomes };
  }

  it('says for each recipient what would happen, and sends nothing', async () => {
    const { call, sessionId, check } = await setUp();
    const [ann, ben] = [newNumber(), newNumber()];
    await call('PUT', `/contacts/${ben}/blocked`, { sessionId, blocked: true });
    const to = [`+${ann}`, ben, NOBODY, 'nobody', 'grp_00000000000000000000000000'];
    const { ok, results } = await check(to);
    assert.deepEqual(
      results.map((one: Answer['body']) => [one.to, one.chatId, one.outcome]),
      [
        [`+${ann}`, ann, 'ok'],
        [ben, ben, 'blocked'],
        [NOBODY, NOBODY, 'not_on_network'],
        ['nobody', null, 'invalid_number'],
        ['grp_00000000000000000000000000', 'grp_00000000000000000000000000', 'group_denied'],
      ],
    );
    assert.equal(ok, 1);
    for (const { message } of results) assert.ok(message.length > 10);
    assert.deepEqual((await call('GET', '/messages')).body.data, []);
    assert.deepEqual((await call('GET', '/chats')).body.data, []);
  });

  it('says that a message to a contact whom the session has blocked goes out and gets no answer', async () => {
    const { server, call, sessionId, check, outcomes } = await setUp({ newChatsPerDay: 5 });
    const [ann, ben] = [newNumber(), newNumber()];
    for (const to of [ann, NOBODY]) await call('PUT', `/contacts/${to}/blocked`, { sessionId, blocked: true });
    const { ok, results } = await check([ann, ben]);
    assert.deepEqual(
      [ok, results.map(({ outcome }: Answer['body']) => outcome), results[0].message],
      [
        1,
        ['blocked', 'ok'],
        'The message would go out, but no answer would arrive, because the session has blocked this contact',
      ],
    );
    assert.deepEqual(await outcomes([NOBODY]), ['not_on_network']);
    const { key } = (await call('POST', '/api-keys/create', { name: 'limited', sendQuota: 1 })).body;
    const found = await outcomes([ann, ben], {}, bearer(server.url, key));
    assert.deepEqual(found, ['blocked', 'limit_reached'], 'it counts');
    const sent = await call('POST', '/messages/send', { sessionId, to: ann, message: 'hi' });
    assert.equal(sent.status, 201, 'as the preflight said');
  });

  it('knows the templates of the session, and that sending names a language', async () => {
    const { call, sessionId, play, check } = await setUp();
    const components = [{ type: 'BODY', text: 'Tea?' }];
    const draft = { name: 'tea', language: 'en', category: 'utility', components };
    const { templateId } = (await call('POST', `/sessions/${sessionId}/templates`, draft)).body;
    const of = async (template: object) => {
      const { ok, results } = await check([newNumber(), NOBODY], { message: undefined, template });
      assert.deepEqual([ok, results[1].outcome], [results[0].outcome === 'ok' ? 1 : 0, 'not_on_network']);
      return [results[0].outcome, results[0].message];
    };
    const tea = { name: 'tea', language: 'en' };
    const pending = ['template_unavailable', 'The template tea (en) is pending, and not approved'];
    assert.deepEqual([await of(tea), await of({ name: 'tea' })], [pending, pending]);
    const send = () => call('POST', '/messages/send-template', { sessionId, to: newNumber(), ...tea });
    assert.equal((await send()).body.code, 'not_found', 'as the preflight said');
    await play({ action: 'template_review', templateId, templateStatus: 'approved' });
    assert.deepEqual((await of(tea))[0], 'ok');
    assert.equal((await send()).status, 201, 'as the preflight said');
    const [outcome, message = ''] = await of({ name: 'tea' });
    assert.deepEqual([outcome, /pass the `language`/.test(message)], ['unknown', true]);
    assert.equal((await of({ name: 'unknown', language: 'en' }))[0], 'template_unavailable');
  });

  it('knows that an API key has to ask its user before it writes to new recipients', async () => {
    const { server, call, sessionId, check, outcomes } = await setUp();
    const [ann, ben] = [newNumber(), newNumber()];
    await call('POST', '/messages/send', { sessionId, to: ann, message: 'hi' });
    const { body: group } = await call('POST', '/groups', { sessionId, subject: 'Team', phoneNumbers: [ann] });
    const limits = { confirm: ['new_recipients'], sendQuota: 2 };
    const { key } = (await call('POST', '/api-keys/create', { name: 'asking', ...limits })).body;
    const asking = bearer(server.url, key);
    const { ok, results } = await check([ben, ann, `+${ben}`, group.groupId], {}, asking);
    const sends = [ben, ann, ben, group.groupId].map(async (to) => {
      const { status, body } = await asking('POST', '/messages/send', { sessionId, to, message: 'hi' });
      return status === 201 ? 'ok' : body.code;
    });
    const found = results.map(({ outcome }: Answer['body']) => outcome);
    assert.deepEqual([found, ok], [await Promise.all(sends), found.filter((one: string) => one === 'ok').length]);
    assert.deepEqual(found.slice(0, 3), ['confirmation_required', 'ok', 'confirmation_required']);
    assert.match(results[0].message, /asks its user .* only over MCP/);
    const destructive = (await call('POST', '/api-keys/create', { name: 'careful', confirm: ['destructive'] })).body;
    assert.deepEqual(await outcomes([ben], {}, bearer(server.url, destructive.key)), ['ok']);
  });

  it('knows that the messages of an API key wait for approval', async () => {
    const { server, call, sessionId, check, outcomes } = await setUp({ newChatsPerDay: 5 });
    const limits = { requiresApproval: true, sendQuota: 7 };
    const { key } = (await call('POST', '/api-keys/create', { name: 'supervised', ...limits })).body;
    const supervised = bearer(server.url, key);
    const strangers = Array.from({ length: 7 }, newNumber);
    const { ok, results } = await check([NOBODY, ...strangers, newNumber()], {}, supervised);
    assert.deepEqual(
      [ok, results.map(({ outcome }: Answer['body']) => outcome)],
      [0, ['not_on_network', ...Array(7).fill('pending_approval'), 'limit_reached']],
      'beyond the limit of the session as well, and not beyond that of the key',
    );
    const sent = await supervised('POST', '/messages/send', { sessionId, to: strangers[6], message: 'hi' });
    assert.deepEqual([sent.status, sent.body.status], [201, 'pending_approval'], 'as the preflight said');
    await call('POST', `/sessions/${sessionId}/disconnect`);
    assert.deepEqual(await outcomes(strangers.slice(0, 1), {}, supervised), ['pending_approval']);
  });

  it('says which groups the session may not write to', async () => {
    const { call, sessionId, play, check, outcomes } = await setUp();
    const boss = newNumber();
    await play({ action: 'group_create', from: boss, subject: 'theirs', phoneNumbers: [newNumber()] });
    const mine = await call('POST', '/groups', { sessionId, subject: 'mine', phoneNumbers: [boss] });
    const theirs = await eventually(
      async () => (await call('GET', `/groups?sessionId=${sessionId}`)).body.data,
      (groups) => groups.some(({ subject }: Answer['body']) => subject === 'theirs'),
    );
    const { groupId } = theirs.find(({ subject }: Answer['body']) => subject === 'theirs');
    assert.deepEqual(await outcomes([groupId]), ['ok']);
    const settings = { announce: true };
    const played = await play({ action: 'group_settings', groupId, from: boss, settings });
    assert.equal(played.status, 200, JSON.stringify(played.body));
    assert.equal((await call('PATCH', `/groups/${mine.body.groupId}`, { settings })).status, 200);
    const left = await call('POST', '/groups', { sessionId, subject: 'left', phoneNumbers: [boss] });
    await call('POST', `/groups/${left.body.groupId}/leave`);
    const { results } = await check([groupId, mine.body.groupId, left.body.groupId]);
    assert.deepEqual(
      results.map(({ outcome, message }: Answer['body']) => [outcome, message]),
      [
        ['group_denied', 'Only admins can send messages to this group'],
        ['ok', 'The message would go out'],
        ['group_denied', 'The session is not in this group'],
      ],
    );
  });

  it('counts the limit of new chats in the order of the recipients', async () => {
    const { call, sessionId, play, check, outcomes } = await setUp({ newChatsPerDay: 5 });
    const [known, writer, ...strangers] = Array.from({ length: 8 }, newNumber);
    assert.ok(known !== undefined && writer !== undefined);
    await call('POST', '/messages/send', { sessionId, to: known, message: 'hi' });
    await play({ action: 'incoming', from: writer, message: 'hello' });
    const found = await outcomes([...strangers.slice(0, 3), known, writer, ...strangers.slice(3)]);
    assert.deepEqual(found, ['ok', 'ok', 'ok', 'ok', 'ok', 'limit_near', 'limit_reached', 'limit_reached']);
    const { results } = await check([...strangers.slice(0, 5)]);
    assert.match(results[4].message, /number 6 of the new chats of the day, of which 5 are allowed/);
    assert.ok(results[4].retryAfterSeconds > 0 && results[4].retryAfterSeconds <= 86_400);
  });

  it('knows that the network allows no new chats', async () => {
    const { call, sessionId, play, outcomes } = await setUp();
    const writer = newNumber();
    await play({ action: 'incoming', from: writer, message: 'hello' });
    await play({ action: 'standing', noNewChatsUntil: new Date(Date.now() + 3_600_000).toISOString() });
    const stranger = newNumber();
    assert.deepEqual(await outcomes([writer, stranger]), ['ok', 'limit_reached']);
    const { status, body } = await call('POST', '/messages/send', { sessionId, to: stranger, message: 'hi' });
    assert.deepEqual([status, body.code], [429, 'rate_limited'], 'as the preflight said');
    assert.equal((await call('POST', '/messages/send', { sessionId, to: writer, message: 'hi' })).status, 201);
  });

  it('applies the limits of an API key', async () => {
    const { server, call, sessionId, outcomes } = await setUp();
    const [ann, ben, cas, dan] = [newNumber(), newNumber(), newNumber(), newNumber()];
    const limits = { sendQuota: 2, allowedRecipients: [ann, ben, cas] };
    const { key } = (await call('POST', '/api-keys/create', { name: 'limited', ...limits })).body;
    const limited = bearer(server.url, key);
    const found = await outcomes([dan, ann, ben, cas], {}, limited);
    assert.deepEqual(found, ['not_allowed', 'ok', 'ok', 'limit_reached']);
    await limited('POST', '/messages/send', { sessionId, to: ann, message: 'hi' });
    assert.deepEqual(await outcomes([ann, ben], {}, limited), ['ok', 'limit_reached']);
    const permissions = ['messages:read'];
    const reader = (await call('POST', '/api-keys/create', { name: 'reader', permissions })).body.key;
    const refused = await bearer(server.url, reader)('POST', '/messages/preflight', { sessionId, to: [ann] });
    assert.equal(refused.status, 403);
  });

  it('has the network check few numbers, and remembers them', async () => {
    const { call, outcomes } = await setUp();
    const strangers = Array.from({ length: 25 }, newNumber);
    const first = await outcomes(strangers);
    assert.deepEqual([first.filter((one) => one === 'ok').length, first.lastIndexOf('ok')], [20, 19]);
    assert.deepEqual(first.slice(20), Array(5).fill('unknown'));
    assert.deepEqual(await outcomes(strangers), Array(25).fill('ok'), 'the others are checked by the next call');
    const { body } = await call('GET', `/contacts?q=${strangers[0]}`);
    assert.equal(body.data[0].onNetwork, true);
    for (let n = 0; n < 10; n++) await outcomes(Array.from({ length: 20 }, newNumber));
    assert.deepEqual(await outcomes([newNumber()]), ['unknown'], 'not more in a day');
    assert.deepEqual(await outcomes(strangers.slice(0, 1)), ['ok']);
  });

  it('shares the look-ups of a day with those that somebody asks for', async () => {
    const { call, sessionId, outcomes } = await setUp();
    const asked = async (path: string, count: number) => {
      const phoneNumbers = Array.from({ length: count }, newNumber).join('&phoneNumbers=');
      const { status, body } = await call(
        'GET',
        `/contacts/${path}?sessionId=${sessionId}&phoneNumbers=${phoneNumbers}`,
      );
      assert.equal(status, 200, JSON.stringify(body));
    };
    await asked('check', 100);
    await asked('check', 90);
    const strangers = Array.from({ length: 12 }, newNumber);
    assert.deepEqual(await outcomes(strangers), [...Array(10).fill('ok'), 'unknown', 'unknown']);
    await asked('check', 100); // asked for, so not refused
    await eventually(
      async () => (await call('GET', `/sessions/${sessionId}`)).body.health.lastDay.lookUps,
      (lookUps) => lookUps === 300,
    );
  });

  it('counts look-ups of LIDs', async () => {
    const { call, sessionId, outcomes } = await setUp();
    for (let n = 0; n < 4; n++) {
      const phoneNumbers = Array.from({ length: 50 }, newNumber).join('&phoneNumbers=');
      const path = `/contacts/lookup?sessionId=${sessionId}&phoneNumbers=${phoneNumbers}`;
      assert.equal((await call('GET', path)).status, 200);
    }
    assert.deepEqual(await outcomes([newNumber()]), ['unknown']);
  });

  it('checks numbers only for a key that may check them', async () => {
    const { server, call, outcomes } = await setUp();
    const [ann, ben] = [newNumber(), newNumber()];
    const permissions = ['messages:send'];
    const { key } = (await call('POST', '/api-keys/create', { name: 'sender', permissions })).body;
    const sender = bearer(server.url, key);
    await outcomes([ann]);
    assert.deepEqual(await outcomes([ann, ben], {}, sender), ['ok', 'unknown']);
  });

  it('says what is known of a session that is not connected', async () => {
    const { call, sessionId, outcomes } = await setUp();
    const [ann, ben] = [newNumber(), newNumber()];
    await outcomes([ann, NOBODY]);
    await call('POST', `/sessions/${sessionId}/disconnect`);
    assert.deepEqual(await outcomes([ann, ben, NOBODY, '12']), [
      'unknown',
      'unknown',
      'not_on_network',
      'invalid_number',
    ]);
  });

  it('rejects too many recipients, both contents, and a type that the network cannot send', async () => {
    const { call, sessionId } = await setUp();
    const ask = async (more: object) => {
      const { status, body } = await call('POST', '/messages/preflight', { sessionId, to: [NOBODY], ...more });
      return [status, body.code];
    };
    assert.deepEqual(await ask({ to: Array(101).fill(NOBODY) }), [400, 'validation_failed']);
    assert.deepEqual(await ask({ to: [] }), [400, 'validation_failed']);
    assert.deepEqual(await ask({ message: 'x', template: { name: 'x' } }), [400, 'validation_failed']);
    assert.equal((await ask({ template: { name: 'x' } }))[0], 200);
    assert.deepEqual(await ask({ sessionId: 'ses_00000000000000000000000000' }), [404, 'not_found']);
  });
});
