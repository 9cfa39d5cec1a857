import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { describeWithSessionsApart } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { download, picture, upload } from '../support/media/media.ts';
import { bearer, type Call, connectSession, eventOf, newNumber, sharedSandbox, startAgain } from '../support/server.ts';

describeWithSessionsApart('profiles', (newHome, database) => {
  interface Person {
    readonly call: Call;
    readonly token: string;
    readonly number: string;
    readonly sessionId: string;
  }

  async function twoPeople(t: TestContext) {
    const start = startAgain(t, newHome, { database, env: sharedSandbox });
    const server = await start();
    const person = async (): Promise<Person> => {
      const { call, token } = await server.account();
      const number = newNumber();
      return { call, token, number, sessionId: await connectSession(call, number) };
    };
    return { start, server, a: await person(), b: await person() };
  }
  const change = ({ call, sessionId }: Person, fields: object) =>
    call('PATCH', `/sessions/${sessionId}/profile`, fields);
  const seenBy = async (reader: Pick<Person, 'call'>, { number }: Person) =>
    (await reader.call('GET', `/contacts/${number}/profile`)).body;

  it('a session sees what another one shares on any node, until that is removed', async (t) => {
    const { server, a, b } = await twoPeople(t);
    assert.deepEqual(await seenBy(b, a), { phoneNumber: a.number, about: null, picture: null });

    const content = picture();
    const pictureMediaId = (await upload(server, a.token, content)).body.mediaId;
    const { status, body } = await change(a, { name: 'Ada', about: 'At sea', pictureMediaId });
    assert.deepEqual([status, body], [200, { sessionId: a.sessionId, updated: true }]);

    const seen = await seenBy(b, a);
    assert.equal(seen.about, 'At sea');
    assert.equal(seen.picture.mimeType, 'image/png');
    assert.notEqual(seen.picture.mediaId, pictureMediaId, 'the viewing account has its own file');
    assert.deepEqual((await download(server, b.token, seen.picture.mediaId)).bytes, content);
    assert.deepEqual(await seenBy(b, a), seen, 'the same picture is the same file');

    await a.call('POST', '/messages/send', { to: b.number, message: 'who is it?' });
    const { messageId } = await eventOf(b.call, 'message.incoming', ({ message }) => message === 'who is it?');
    assert.ok(messageId);
    const { data } = (await b.call('GET', `/contacts?phoneNumber=${a.number}`)).body;
    assert.equal(data[0].name, 'Ada', 'messages include the name');

    await change(a, { about: '', pictureMediaId: null });
    assert.deepEqual(await seenBy(b, a), { phoneNumber: a.number, about: null, picture: null });
  });

  it('a profile survives a restart and moves with its number', async (t) => {
    const { server, start, a, b } = await twoPeople(t);
    await change(a, { about: 'Here to stay' });
    await server.stop();
    const { url } = await start();
    const [again, reader] = [bearer(url, a.token), { call: bearer(url, b.token) }];
    // Both sessions reconnect after the start.
    const seen = await eventually(
      () => seenBy(reader, a),
      ({ code }) => code !== 'session_not_connected',
    );
    assert.equal(seen.about, 'Here to stay');
    await again('POST', `/sessions/${a.sessionId}/logout`);
    assert.equal((await seenBy(reader, a)).about, null);
  });

  it('rejects an empty change, a name that is too long and a file that is not an image', async (t) => {
    const { server, a } = await twoPeople(t);
    const text = (await upload(server, a.token, 'only text')).body.mediaId;
    for (const fields of [
      {},
      { name: '' },
      { name: 'x'.repeat(26) },
      { about: 'x'.repeat(140) },
      { pictureMediaId: text },
    ])
      assert.equal((await change(a, fields)).body.code, 'validation_failed', JSON.stringify(fields));
    assert.equal((await change(a, { pictureMediaId: 'med_nothing' })).body.code, 'not_found');
    await a.call('POST', `/sessions/${a.sessionId}/disconnect`);
    assert.equal((await change(a, { name: 'Ada' })).body.code, 'session_not_connected');
  });
});
