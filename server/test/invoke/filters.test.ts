import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { isRead } from '../../src/invoke/operation.ts';
import { type Receiver, startReceiver } from '../support/connections/receiver.ts';
import { describeOnEachDeployment } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import {
  CHAT,
  type GuardedOperation,
  guarded,
  inputs,
  noInput,
  UNKNOWN,
} from '../support/operations/operationInputs.ts';
import { requestOf } from '../support/operations/restRequest.ts';
import { type Answer, bearer, type Call, connectSession, startServer, type TestServer } from '../support/server.ts';

/** Fields with an id that filter nothing: each says what its operation is about, and is tested with it. */
const OTHER_IDS = ['keyId', 'mediaId', 'deliveryId'];

/** Ids of other systems. Nobody here knows which exist, so a filter by one finds nothing. */
const FOREIGN_IDS = ['adId'];

const unknown: Readonly<Record<string, string>> = {
  ...UNKNOWN,
  chatId: '491700000000',
  webhookId: 'whk_00000000000000000000000000',
  labelId: 'lbl_00000000000000000000000000',
};

/** Every read with the fields in its query that name something by an id. */
const reads = guarded.filter(isRead).map((operation) => {
  const names = Object.keys(operation.input.properties).filter(
    (name) => /Id$/.test(name) && !FOREIGN_IDS.includes(name),
  );
  return { operation, filters: names.filter((name) => !operation.path.includes(`{${name}}`)) };
});

describeOnEachDeployment('filters by an id', (_, database) => {
  let server: TestServer;
  let receiver: Receiver;
  let owner: Call;
  let limited: Call;
  /** One of everything of the session of the limited key, and of another session. */
  let mine: Readonly<Record<string, string>>;
  let others: Readonly<Record<string, string>>;

  before(async () => {
    server = await startServer({ database });
    receiver = await startReceiver();
    ({ call: owner } = await server.account());
    mine = await makeSide(CHAT);
    others = await makeSide('491701112223');
    const { body } = await owner('POST', '/api-keys/create', { name: 'limited', sessionIds: [mine['sessionId']] });
    limited = bearer(server.url, body.key);
  });
  after(async () => {
    await receiver.close();
    await server.stop();
  });

  async function makeSide(to: string) {
    const sessionId = await connectSession(owner);
    const webhook = { webhookUrl: receiver.url, events: ['message.sent'], sessionIds: [sessionId] };
    const { webhookId } = (await owner('POST', '/webhooks/endpoints', webhook)).body;
    const { messageId } = (await owner('POST', '/messages/send', { sessionId, to, message: 'hello' })).body;
    await owner('GET', `/contacts/check?sessionId=${sessionId}&phoneNumbers=${to}`);
    const { groupId } = (await owner('POST', '/groups', { sessionId, subject: 'Team', phoneNumbers: [to] })).body;
    await eventually(
      () => owner('GET', `/webhooks/deliveries?webhookId=${webhookId}&states=delivered`),
      ({ body }) => body.data.length === 1,
    );
    const { labelId } = (await owner('POST', '/labels', { sessionId, name: 'VIP' })).body;
    const { inviteCode: invite } = (await owner('GET', `/groups/${groupId}/invite-link`)).body;
    const status = { sessionId, message: 'Open', phoneNumbers: [to] };
    const { statusId } = (await owner('POST', '/status', status)).body;
    const { channelId } = (await owner('POST', '/channels', { sessionId, name: 'News' })).body;
    return { ...UNKNOWN, sessionId, messageId, groupId, webhookId, labelId, statusId, channelId, chatId: to, invite };
  }

  /** Calls a read with a filter, and a valid input otherwise. */
  const read = (as: Call, { id }: GuardedOperation, filter: Record<string, string | undefined>) => {
    const invite = id === 'groups.preview_invite' ? { invite: mine['invite'] } : {};
    const { path } = requestOf(id, { ...(inputs[id] ?? noInput)({ ...UNKNOWN, ...mine }), ...invite, ...filter });
    return as('GET', path);
  };

  /** An error without what differs between requests and ids. */
  const shown = ({ status, body }: Pick<Answer, 'status' | 'body'>) => {
    const { requestId: _, ...problem } = body;
    return { status, problem: JSON.stringify(problem).replace(/[a-z]{3}_[0-9A-Z]{26}|\d{12}/g, 'id') };
  };

  it('are decided for every read', () => {
    const found = reads.flatMap(({ operation: { id }, filters }) => filters.map((field) => `${id} ${field}`));
    assert.ok(found.length >= 8, found.join());
    for (const { operation, filters } of reads)
      for (const field of filters) {
        assert.ok(!OTHER_IDS.includes(field) && unknown[field] !== undefined, `${operation.id} filters by ${field}`);
        assert.ok(operation.errors?.includes('not_found'), `${operation.id} does not declare not_found`);
      }
  });

  it('find nothing only if the id exists', async () => {
    for (const { operation, filters } of reads)
      for (const field of filters) {
        const about = `${operation.id} by ${field}`;
        const found = await read(owner, operation, { [field]: mine[field] });
        assert.equal(found.status, 200, `${about}: ${found.body.detail}`);
        const hidden = field === 'chatId' ? ['00099999999', '99999999@lid'] : [];
        for (const wrong of [unknown[field], 'a typing error', ...hidden]) {
          const { status, body } = await read(owner, operation, { [field]: wrong });
          assert.deepEqual([status, body.code, body.errors?.[0].field], [404, 'not_found', field], about);
          assert.ok(body.detail.includes(wrong), `${about}: ${body.detail}`);
        }
      }
  });

  it('of another account are not found', async () => {
    const { call: stranger } = await server.account();
    await connectSession(stranger);
    for (const { operation, filters } of reads)
      for (const field of filters) {
        const { sessionId: _, ...input } = (inputs[operation.id] ?? noInput)({ ...UNKNOWN, ...mine });
        const { path } = requestOf(operation.id, { ...input, [field]: mine[field] });
        const { status, body } = await stranger('GET', path);
        assert.deepEqual([status, body.code], [404, 'not_found'], `${operation.id} by ${field}`);
      }
  });

  it('of a session outside the scope of a key are not found, like those that nobody has', async () => {
    for (const { operation, filters } of reads)
      for (const field of filters) {
        if (operation.scope === 'account') continue;
        const about = `${operation.id} by ${field}`;
        assert.equal((await read(limited, operation, { [field]: mine[field] })).status, 200, about);
        const answer = await read(limited, operation, { [field]: others[field] });
        assert.equal(answer.status, 404, about);
        assert.deepEqual(shown(answer), shown(await read(limited, operation, { [field]: unknown[field] })), about);
        assert.deepEqual(shown(answer), shown(await read(owner, operation, { [field]: unknown[field] })), about);
      }
  });

  it('by chat accept a number in any spelling', async () => {
    for (const { operation, filters } of reads)
      for (const spelling of filters.includes('chatId') ? ['+49 (170) 765-4321', `${CHAT}@s.whatsapp.net`] : []) {
        const { body } = await read(owner, operation, { chatId: spelling });
        assert.deepEqual(body, (await read(owner, operation, { chatId: CHAT })).body, spelling);
      }
  });

  it('find what is left of a removed webhook and a deleted session', async () => {
    const { call } = await server.account();
    const sessionId = await connectSession(call);
    const webhook = { webhookUrl: receiver.url, events: ['message.sent'] };
    const { webhookId } = (await call('POST', '/webhooks/endpoints', webhook)).body;
    const { messageId } = (await call('POST', '/messages/send', { to: CHAT, message: 'hello' })).body;
    await call('DELETE', `/webhooks/endpoints/${webhookId}`);
    await call('DELETE', `/sessions/${sessionId}`);
    for (const filter of [`webhookId=${webhookId}`, `messageId=${messageId}`, `chatId=${CHAT}`]) {
      const { status, body } = await call('GET', `/webhooks/deliveries?${filter}`);
      assert.deepEqual([status, body.data?.length], [200, 1], filter);
    }
    const replay = { webhookId, afterTime: '2026-01-01T00:00:00Z', beforeTime: '2099-01-01T00:00:00Z', dryRun: true };
    const { status, body } = await call('POST', '/webhooks/replay', replay);
    assert.deepEqual([status, body.errors[0].field], [404, 'webhookId'], 'its deliveries cannot be sent again');
  });

  it('find the deliveries of a chat that has calls, but no messages', async () => {
    const { call } = await server.account();
    const sessionId = await connectSession(call);
    await call('POST', '/webhooks/endpoints', { webhookUrl: receiver.url, events: ['call.incoming'] });
    await call('POST', `/sessions/${sessionId}/simulate`, { action: 'call', from: CHAT, callId: 'one' });
    assert.equal((await call('GET', `/webhooks/deliveries?chatId=${CHAT}`)).body.data.length, 1);
    assert.equal((await call('GET', '/webhooks/deliveries?chatId=491700000001')).status, 404);
    const { call: stranger } = await server.account();
    assert.equal((await stranger('GET', `/webhooks/deliveries?chatId=${CHAT}`)).status, 404);
  });

  it('are refused where there are none', async () => {
    for (const path of ['/events', '/events/stream', '/messages/stats', '/webhooks/stats', '/webhooks/endpoints'])
      assert.equal((await owner('GET', `${path}?sessionId=${mine['sessionId']}`)).status, 400, path);
  });
});
