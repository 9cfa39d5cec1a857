import assert from 'node:assert/strict';
import { randomFillSync } from 'node:crypto';
import { registerHooks } from 'node:module';
import { it } from 'node:test';
import { startHttpProxy } from '../support/connections/proxies.ts';
import { eventually } from '../support/eventually.ts';
import { createFakeClock } from '../support/fakeClock.ts';
import type { Phone } from '../support/fakeWhatsapp/index.ts';
import { download, picture, upload } from '../support/media/media.ts';
import { startServer } from '../support/server.ts';
import { linkSession, nextPhone, useWhatsapp } from './support.ts';

/*
 * The whole process finds no image library, like a server without one, so this file needs a process of its own. The
 * conformance suite of the connectors covers pictures with a library.
 */
registerHooks({
  resolve(specifier, context, nextResolve) {
    if (specifier === 'sharp' || specifier === 'jimp') throw new Error(`${specifier} is not installed`);
    return nextResolve(specifier, context);
  },
});

const setting = useWhatsapp({}, prepare);
let me: Phone;
let bob: Phone;
let sessionId: string;

async function prepare() {
  me = nextPhone(setting.whatsapp, 'Me');
  bob = nextPhone(setting.whatsapp, 'Bob');
  sessionId = await linkSession(setting.call, me);
}

/** Bytes that are detected as a JPEG, unique per call. */
const jpeg = () =>
  Buffer.concat([Buffer.from('ffd8ffe000104a46494600010100000100010000', 'hex'), randomFillSync(Buffer.alloc(64))]);

const change = (fields: object, session = sessionId) => setting.call('PATCH', `/sessions/${session}/profile`, fields);
const read = (number: string, session = sessionId) =>
  setting.call('GET', `/contacts/${number}/profile?sessionId=${session}`);

it('reads a profile: the about text and the picture, stored as one file however often it is read', async () => {
  const content = jpeg();
  bob.profile.about = 'Fishing';
  bob.setPicture(content);
  const { status, body } = await read(bob.number);
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual([body.phoneNumber, body.about, body.picture.mimeType], [bob.number, 'Fishing', 'image/jpeg']);
  assert.equal(body.picture.size, content.length);
  const file = await download(setting.server, setting.token, body.picture.mediaId);
  assert.deepEqual(file.bytes, content);
  assert.deepEqual((await read(bob.number)).body, body);
});

it('returns null for hidden and missing parts of a profile', async () => {
  const carol = nextPhone(setting.whatsapp, 'Carol');
  carol.profile.about = '';
  const nothing = { phoneNumber: carol.number, about: null, picture: null };
  assert.deepEqual((await read(carol.number)).body, nothing);
  carol.profile.about = 'For friends';
  carol.setPicture(jpeg());
  for (const what of ['profile', 'status']) carol.privacy.set(what, 'none');
  assert.deepEqual((await read(carol.number)).body, nothing);
  assert.equal((await read('0001234567890')).body.code, 'recipient_not_on_network');
});

it('rejects a read if the host of a picture answers an error, and returns null if the picture was removed', async () => {
  const dave = nextPhone(setting.whatsapp, 'Dave');
  dave.setPicture(jpeg());
  setting.whatsapp.faults.refuseDownloads(500);
  const { body } = await read(dave.number);
  assert.deepEqual([body.code, body.status], ['fetch_failed', 422]);
  assert.match(body.detail, /answered 500/);
  setting.whatsapp.faults.refuseDownloads(404);
  assert.equal((await read(dave.number)).body.picture, null);
  setting.whatsapp.faults.refuseDownloads(undefined);
  assert.notEqual((await read(dave.number)).body.picture, null);
});

it('changes its own name, about text and picture, visible to others', async () => {
  const content = jpeg();
  const { mediaId } = (await upload(setting.server, setting.token, content)).body;
  const { status, body } = await change({ name: 'Tea house', about: 'Open', pictureMediaId: mediaId });
  assert.deepEqual([status, body], [200, { sessionId, updated: true }]);
  assert.deepEqual([me.profile.name, me.profile.about], ['Tea house', 'Open']);
  const seenByBob = await linkSession(setting.call, bob);
  const { about, picture: seen } = (await read(me.number, seenByBob)).body;
  assert.equal(about, 'Open');
  assert.equal(seen.mediaId, mediaId, 'both sessions belong to one account');
  await change({ about: '', pictureMediaId: null });
  assert.deepEqual((await read(me.number, seenByBob)).body, { phoneNumber: me.number, about: null, picture: null });
});

it('sets only JPEG pictures without an image library, for groups too', async () => {
  const png = (await upload(setting.server, setting.token, picture())).body.mediaId;
  const { body } = await change({ pictureMediaId: png });
  assert.equal(body.code, 'unsupported_media_type', JSON.stringify(body));
  const group = await setting.call('POST', '/groups', { sessionId, subject: 'Seen', phoneNumbers: [bob.number] });
  const { mediaId } = (await upload(setting.server, setting.token, jpeg())).body;
  const changed = await setting.call('PATCH', `/groups/${group.body.groupId}`, { pictureMediaId: mediaId });
  assert.deepEqual([changed.status, changed.body.pictureMediaId], [200, mediaId]);
});

it('reports that a name change must wait while the phone has not shared its keys', async () => {
  const { faults } = setting.whatsapp;
  faults.withholdStateKeys(true);
  const late = nextPhone(setting.whatsapp, 'Late');
  const session = await linkSession(setting.call, late);
  faults.withholdStateKeys(false);
  const { body } = await change({ name: 'Early', about: 'Not this either' }, session);
  assert.equal(body.code, 'session_state', JSON.stringify(body));
  assert.match(body.detail, /keys/);
  assert.deepEqual([late.profile.name, late.profile.about], ['Late', 'Available']);
  assert.equal((await change({ about: 'This one' }, session)).status, 200);
  assert.equal(late.profile.about, 'This one');
});

it('waits 20 seconds for a server that does not respond', async (t) => {
  const { whatsapp } = setting;
  const clock = createFakeClock(Date.now());
  const server = await startServer({ clock, env: whatsapp.env });
  t.after(() => server.stop());
  const { call } = await server.account();
  const session = await linkSession(call, nextPhone(whatsapp));
  const rename = () => call('PATCH', `/sessions/${session}/profile`, { name: 'Slow' });
  // The phone shares its keys within the first moments.
  await eventually(rename, ({ status }) => status === 200);
  for (const [namespace, ask] of [
    ['w:sync:app:state', rename],
    ['usync', () => call('GET', `/contacts/${bob.number}/profile`)],
  ] as const) {
    const before = whatsapp.counters.queries[namespace] ?? 0;
    whatsapp.faults.ignoreQueries(namespace);
    const answer = ask();
    await eventually(
      async () => whatsapp.counters.queries[namespace] ?? 0,
      (asked) => asked > before,
    );
    await clock.advance(20_000);
    const { body } = await answer;
    assert.deepEqual(
      [body.code, body.detail],
      ['send_failed', 'WhatsApp did not answer in time; check whether the change was made before you try again'],
    );
    whatsapp.faults.answerQueries();
  }
});

it('downloads the picture through the proxy of the session', async () => {
  const proxy = await startHttpProxy();
  const erin = nextPhone(setting.whatsapp, 'Erin');
  erin.setPicture(jpeg());
  const session = await linkSession(setting.call, nextPhone(setting.whatsapp), { proxy: proxy.url });
  const before = proxy.targets.length;
  const { body } = await read(erin.number, session);
  assert.notEqual(body.picture, null, JSON.stringify(body));
  assert.ok(proxy.targets.slice(before).some((target) => target.startsWith('localhost:')));
  await setting.call('POST', `/sessions/${session}/disconnect`);
  await proxy.close();
});
