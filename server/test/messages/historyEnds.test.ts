import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeOnEachDatabase } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { spawnServer } from '../support/processes/process.ts';
import { type Answer, type Call, callerOf, connectSession, eventOf, serversFor } from '../support/server.ts';

const MESSAGES = 20_000;
/** Takes long enough to be interrupted. */
const history = { generate: { messages: MESSAGES, chats: 20 } };

const play = (call: Call, sessionId: string, given: object) =>
  call('POST', `/sessions/${sessionId}/simulate`, { action: 'history', history: given });

const stateOf = async (call: Call, sessionId: string): Promise<Answer['body']> =>
  (await call('GET', `/sessions/${sessionId}`)).body.history;

const begins = (call: Call, sessionId: string) =>
  eventually(
    () => stateOf(call, sessionId),
    ({ state, messages }) => state === 'importing' && messages > 0,
  );

/** Resolves once all of the history is imported, nothing of it twice. */
async function completes(call: Call, sessionId: string): Promise<void> {
  const { messages, chats, error } = await eventually(
    () => stateOf(call, sessionId),
    ({ state }) => state === 'complete',
  );
  assert.deepEqual([messages, chats, error], [MESSAGES, 20, null]);
}

describeOnEachDatabase('the end of an import of history', (newHome, database) => {
  const server = serversFor(database);

  async function begin() {
    const { call } = await (await server()).account();
    const sessionId = await connectSession(call, undefined, { options: { history: 'full' } });
    const playing = play(call, sessionId, history);
    await begins(call, sessionId);
    return { call, sessionId, playing };
  }

  it('continues after a crash', async (test) => {
    const home = await newHome();
    let own = await spawnServer(home);
    test.after(async () => {
      await own.kill();
      await home.remove();
    });
    const account = { email: 'history@example.com', password: 'correct horse battery' };
    const { body: login } = await callerOf(own.url, {})('POST', '/auth/register', account);
    const caller = () => callerOf(own.url, { authorization: `Bearer ${login.token}` });
    const sessionId = await connectSession(caller(), undefined, { options: { history: 'full' } });
    const playing = play(caller(), sessionId, history).catch(() => undefined);
    await begins(caller(), sessionId);
    await own.kill();
    assert.equal(await playing, undefined, 'the server was killed during the import');
    own = await spawnServer(home);
    await completes(caller(), sessionId);
  });

  it('fails when the session is logged out', async () => {
    const { call, sessionId, playing } = await begin();
    assert.equal((await call('POST', `/sessions/${sessionId}/logout`)).status, 200);
    const { status, body } = await playing;
    assert.deepEqual([status, body.code], [409, 'session_not_connected']);
    const ended = await stateOf(call, sessionId);
    const reason = 'The session was logged out before all of its history was imported';
    assert.deepEqual([ended.state, ended.error], ['failed', reason]);
    assert.ok(ended.messages < MESSAGES);
    await eventOf(call, 'session.history', ({ state, error }) => state === 'failed' && error === reason);
    await call('POST', `/sessions/${sessionId}/connect`);
    assert.equal((await play(call, sessionId, { chats: [] })).status, 200, 'no other import runs');
    assert.equal((await stateOf(call, sessionId)).messages, ended.messages);
  });

  it('fails when the account disconnects the session, and continues with the next connection', async () => {
    const { call, sessionId, playing } = await begin();
    assert.equal((await call('POST', `/sessions/${sessionId}/disconnect`)).status, 200);
    assert.equal((await playing).status, 409);
    const { state, error } = await stateOf(call, sessionId);
    assert.equal(state, 'failed');
    assert.match(error, /disconnected before all of its history was imported; connect it to continue/);
    await call('POST', `/sessions/${sessionId}/connect`);
    await completes(call, sessionId);
  });

  it('continues after the network was away', async () => {
    const { call, sessionId, playing } = await begin();
    const cut = { action: 'disconnect', reconnectAfterMs: 10 };
    assert.equal((await call('POST', `/sessions/${sessionId}/simulate`, cut)).status, 200);
    assert.equal((await playing).status, 409);
    await completes(call, sessionId);
  });

  it('is reported when the session is deleted', async () => {
    const { call, sessionId, playing } = await begin();
    assert.equal((await call('DELETE', `/sessions/${sessionId}`)).status, 200);
    assert.notEqual((await playing).status, 200);
    await eventOf(call, 'session.history', (data) => data.sessionId === sessionId && data.state === 'failed');
  });

  it('refuses a second import meanwhile', async () => {
    const { call, sessionId, playing } = await begin();
    const { status, body } = await play(call, sessionId, history);
    assert.deepEqual([status, body.code], [409, 'session_state']);
    assert.equal((await playing).status, 200);
    await completes(call, sessionId);
  });
});
