import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Receiver, startReceiver } from '../support/connections/receiver.ts';
import { type GuardedOperation, guarded, inputs, type Side } from '../support/operations/operationInputs.ts';
import { requestOf } from '../support/operations/restRequest.ts';
import { createSide } from '../support/operations/side.ts';
import { type Answer, bearer, type Call, startServer, type TestServer } from '../support/server.ts';

/** Called last, because the others need what these end. Each of a session is called on a connected one. */
const LAST = [
  'messages.delete',
  'chats.clear',
  'chats.delete',
  'status.delete',
  'templates.delete',
  'channels.unfollow',
  'groups.leave',
  'groups.delete',
  'sessions.connect',
  'sessions.restart',
  'sessions.disconnect',
  'sessions.logout',
  'sessions.delete',
  'webhooks.delete',
  'webhooks.endpoints.delete',
];
const owned = guarded
  .filter(({ owner }) => owner !== undefined)
  .toSorted((one, other) => LAST.indexOf(one.id) - LAST.indexOf(other.id));

/** The owner stores `lastEventAt` every 15 s. */
const DIFFERENT = ['requestId', 'lastEventAt', 'inviteCode'];

/** They need more than a side has. Both nodes return the same error. */
const FAIL = [
  'sessions.get_qr',
  'sessions.request_pairing_code',
  'calls.reject',
  'messages.fetch_media',
  'messages.vote',
  'messages.send_template',
  'labels.update',
  'labels.delete',
  'chats.add_label',
  'chats.remove_label',
  'messages.add_label',
  'messages.remove_label',
  'status.mark_viewed',
  'channels.react',
  'groups.join',
  'groups.preview_invite',
  'communities.list_groups',
  'communities.link_group',
  'communities.unlink_group',
  'channels.unfollow',
  'groups.delete', // the session has left the group
];

/** Without it, every node runs the call. */
const MORE: Readonly<Record<string, object>> = { 'sessions.update': { options: {} } };

interface Place {
  readonly call: Call;
  readonly side: Side;
  readonly webhookId: string;
}

describe('every operation of a session or webhook at a node that does not own it', () => {
  let server: TestServer;
  let receiver: Receiver;
  let here: Place;
  let owner: Place;

  before(async () => {
    server = await startServer({ database: 'two nodes' });
    receiver = await startReceiver();
    here = await createPlace(server.url);
    owner = await createPlace(server.other?.url ?? '');
  });
  after(async () => {
    await receiver.close();
    await server.stop();
  });

  /** Creates an account with a webhook and one of everything, which calls this node. */
  async function createPlace(url: string): Promise<Place> {
    const account = await server.account();
    const events = ['message.incoming', 'message.sent'];
    await account.call('POST', '/webhooks/set', { webhookUrl: receiver.url, events });
    const { body } = await account.call('POST', '/webhooks/endpoints', { webhookUrl: receiver.url, events });
    const side = await createSide(server, account, 'it');
    return { call: bearer(url, account.token), side, webhookId: body.webhookId };
  }

  const run = ({ call, side, webhookId }: Place, { id }: GuardedOperation) => {
    const input = { ...inputs[id]?.(side), ...MORE[id] };
    const { method, path, body } = requestOf(id, { ...input, ...('webhookId' in input && { webhookId }) });
    return call(method, path, body);
  };

  /** The parts that must not differ: everything but ids, times, numbers of sessions and codes of invitations. */
  const comparable = ({ status, body }: Answer) => {
    const text = JSON.stringify(body, (key, value) => (DIFFERENT.includes(key) ? undefined : value));
    return {
      status,
      text: text
        ?.replaceAll(/\b[a-z]{3}_[0-9A-Z]{26}(_\d+)?\b/g, 'id')
        .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'id')
        .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time')
        .replaceAll(/sandbox:(\w+)\/[\w-]+/g, 'sandbox:$1/code')
        .replaceAll(/49170100\d{4}/g, 'own number'),
    };
  };

  it('answers as the owner does', async (test) => {
    const forward = test.mock.method(server.app.services.forward, 'to');
    const [differing, failing, runHere]: [unknown[], string[], string[]] = [[], [], []];
    for (const operation of owned) {
      if (operation.id.startsWith('sessions.') && LAST.includes(operation.id))
        for (const { call, side } of [here, owner]) await call('POST', `/sessions/${side.sessionId}/connect`);
      const before = forward.mock.callCount();
      const answers = [await run(here, operation), await run(owner, operation)] as const;
      if (forward.mock.callCount() === before) runHere.push(operation.id);
      const [answer, expected] = answers.map(comparable);
      if (JSON.stringify(answer) !== JSON.stringify(expected)) differing.push({ id: operation.id, answer, expected });
      if (answers[1].status >= 400) failing.push(operation.id);
    }
    assert.deepEqual(differing, []);
    assert.deepEqual(runHere, [], 'were not forwarded');
    assert.deepEqual(failing, FAIL);
  });
});
