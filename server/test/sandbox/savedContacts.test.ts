import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cloudSession } from '../support/networks/cloudSession.ts';
import { connectSession, eventOf, newNumber, startServer } from '../support/server.ts';

describe('saved contacts', () => {
  it('are saved, renamed and removed', async (test) => {
    const server = await startServer();
    test.after(() => server.stop());
    const { call } = await server.account();
    const sessionId = await connectSession(call);
    const number = newNumber();
    const path = `/contacts/${number}/name`;
    const { status, body } = await call('PUT', path, { sessionId, name: 'Ada Lovelace' });
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual([body.savedName, body.name, body.onNetwork], ['Ada Lovelace', 'Ada Lovelace', null]);
    await eventOf(
      call,
      'contact.updated',
      ({ phoneNumber, name }) => phoneNumber === number && name === 'Ada Lovelace',
    );
    assert.equal((await call('PUT', path, { sessionId, name: 'Ada L.' })).body.savedName, 'Ada L.');
    assert.equal((await call('GET', `/contacts?q=Ada L`)).body.data.length, 1);
    assert.equal((await call('PUT', path, { sessionId, name: null })).body.savedName, null);
    for (const name of ['', '   ', 'x'.repeat(201)])
      assert.equal((await call('PUT', path, { sessionId, name })).body.code, 'validation_failed', name);
    const unknown = await call('PUT', `/contacts/${newNumber()}/name`, { sessionId, name: null });
    assert.equal(unknown.status, 404);
    const hidden = await call('PUT', '/contacts/00012345678901/name', { sessionId, name: 'Ada' });
    assert.deepEqual([hidden.status, hidden.body.code], [422, 'not_supported']);
  });

  it('are not supported on the Cloud API', async (test) => {
    const { call, sessionId } = await cloudSession(test);
    const { status, body } = await call('PUT', `/contacts/${newNumber()}/name`, { sessionId, name: 'Ada' });
    assert.deepEqual([status, body.code], [422, 'not_supported']);
  });
});
