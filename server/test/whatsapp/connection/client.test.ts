import assert from 'node:assert/strict';
import { once } from 'node:events';
import { it } from 'node:test';
import { startHttpProxy, startSocksProxy } from '../../support/connections/proxies.ts';
import { newHome } from '../../support/databases/databases.ts';
import { startFakeWhatsapp } from '../../support/fakeWhatsapp/index.ts';
import { download, picture, upload } from '../../support/media/media.ts';
import { spawnServer } from '../../support/processes/process.ts';
import { bearer, callerOf, eventOf } from '../../support/server.ts';
import { linkSession, nextPhone, useWhatsapp } from '../support.ts';

const setting = useWhatsapp();

for (const [kind, start] of [
  ['HTTP', startHttpProxy],
  ['SOCKS', startSocksProxy],
] as const) {
  it(`sends all traffic of a session through its ${kind} proxy`, async (test) => {
    const { whatsapp, server, call, token } = setting;
    const proxy = await start();
    test.after(() => proxy.close());
    const [me, bob] = [nextPhone(whatsapp), nextPhone(whatsapp)];
    const sessionId = await linkSession(call, me, { proxy: proxy.url });
    assert.ok(proxy.targets.includes(new URL(whatsapp.url).host), JSON.stringify(proxy.targets));
    const connections = proxy.targets.length;

    const content = picture();
    const { body: file } = await upload(server, token, content, { headers: { 'content-type': 'image/png' } });
    const media = { type: 'image', mediaId: file.mediaId };
    const { status, body } = await call('POST', '/messages/send-media', { sessionId, to: bob.number, ...media });
    assert.equal(status, 201, JSON.stringify(body));
    assert.deepEqual(bob.openFile(await bob.messages.waitFor()), content);
    const uploaded = proxy.targets.length;
    assert.ok(uploaded > connections, 'the upload bypassed the proxy');

    const sent = picture();
    await bob.sendFile(me.number, 'image', sent, { caption: kind });
    const event = await eventOf(call, 'message.incoming', ({ message }) => message === kind);
    assert.deepEqual((await download(server, token, event.media.mediaId)).bytes, sent);
    assert.ok(proxy.targets.length > uploaded, 'the download bypassed the proxy');
  });
}

it('a server without the client starts, and says how to install it', async (test) => {
  const home = await newHome('sqlite');
  // The client is installed here, so this process is prevented from finding it.
  const hide = `import { registerHooks } from 'node:module';
    registerHooks({ resolve(name, context, next) {
      if (name !== 'baileys') return next(name, context);
      throw Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' });
    } });`;
  const server = await spawnServer(home, {
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hide)}`,
  });
  test.after(async () => {
    await server.stop();
    await home.remove();
  });
  const credentials = { email: 'none@example.com', password: 'correct horse battery' };
  const { body } = await callerOf(server.url, {})('POST', '/auth/register', credentials);
  const call = bearer(server.url, body.token);
  const { body: session } = await call('POST', '/sessions', { connector: 'whatsapp' });
  const { status, body: problem } = await call('POST', `/sessions/${session.sessionId}/connect`);
  assert.equal(status, 422);
  assert.match(problem.detail, /npm install --include=optional/);
  const other = await call('POST', '/sessions', {});
  assert.equal((await call('POST', `/sessions/${other.body.sessionId}/connect`)).body.status, 'connected');
});

it('the server prints no keys of a conversation', async (test) => {
  const whatsapp = await startFakeWhatsapp();
  const home = await newHome('sqlite');
  const server = await spawnServer(home, { ...whatsapp.env, LOG_LEVEL: 'debug' });
  let printed = '';
  for (const stream of [server.child.stdout, server.child.stderr]) {
    stream?.on('data', (chunk) => {
      printed += chunk;
    });
  }
  test.after(async () => {
    await server.stop();
    await whatsapp.close();
    await home.remove();
  });
  const credentials = { email: 'quiet@example.com', password: 'correct horse battery' };
  const { body } = await callerOf(server.url, {})('POST', '/auth/register', credentials);
  const call = bearer(server.url, body.token);
  const [me, bob] = [nextPhone(whatsapp), nextPhone(whatsapp)];
  const sessionId = await linkSession(call, me);
  // Both start the conversation, one message is corrupt, and it is requested again, which makes libsignal log the most.
  await call('POST', '/messages/send', { sessionId, to: bob.number, message: 'a secret of ours' });
  await bob.sendText(me.number, 'a secret of theirs', { isCorrupt: true });
  await eventOf(call, 'message.incoming', ({ message }) => message === 'a secret of theirs');
  await call('POST', '/messages/send', { sessionId, to: bob.number, message: 'another secret' });
  const ended = once(server.child, 'exit');
  await server.stop();
  await ended;
  assert.match(printed, /"operation"/);
  assert.doesNotMatch(printed, /privKey|rootKey|chainKey|Closing session|secret of/);
});
