import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import sharp from 'sharp';
import { whatsappMediaRules } from '../../src/connectors/mediaRules.ts';
import type { Converter } from '../../src/media/conversion/converter.ts';
import { ConversionError, type Prepared } from '../../src/media/conversion/task.ts';
import { factsOf } from '../../src/media/media.ts';
import { Preparation } from '../../src/media/preparation.ts';
import { contentPath } from '../../src/media/store.ts';
import { describeOnEachDatabase, describeOnEachDeployment } from '../support/databases/databases.ts';
import { createFakeClock } from '../support/fakeClock.ts';
import { download, picture, upload } from '../support/media/media.ts';
import { damagedAt, sampleMedia, wavOf } from '../support/media/sampleMedia.ts';
import {
  bearer,
  type Call,
  connectSession,
  eventOf,
  newNumber,
  sharedSandbox,
  startServer,
  type TestServer,
} from '../support/server.ts';

describeOnEachDeployment('the files of messages', (_, database) => {
  let server: TestServer;
  let call: Call;
  let token: string;
  before(async () => {
    server = await startServer({ database, env: sharedSandbox });
    ({ call, token } = await server.account());
    await connectSession(call);
  });
  after(() => server.stop());

  const keep = async (content: Buffer, fileName: string): Promise<string> =>
    (await upload(server, token, content, { query: `?fileName=${fileName}` })).body.mediaId;
  const send = (fields: object) => call('POST', '/messages/send-media', { to: newNumber(), ...fields });

  it('are converted once, before the message is stored, and arrive with their facts', async () => {
    const friend = await server.account();
    const phoneNumber = newNumber();
    await connectSession(friend.call, phoneNumber);
    const mediaId = await keep(sampleMedia('tone.mp3'), 'tone.mp3');
    const first = await send({ type: 'voice', mediaId, to: phoneNumber });
    assert.equal(first.status, 201, JSON.stringify(first.body));
    const { media, mediaFacts } = first.body;
    assert.deepEqual([media.mimeType.split(';')[0], media.fileName], ['audio/ogg', 'tone.ogg']);
    assert.deepEqual([mediaFacts.durationSeconds, mediaFacts.waveform.length], [2, 64]);
    assert.notEqual(media.mediaId, mediaId);
    const sendAt = new Date(Date.now() + 3_600_000).toISOString();
    const later = await send({ type: 'voice', mediaId, sendAt });
    assert.deepEqual([later.status, later.body.media.mediaId], [201, media.mediaId]);
    assert.equal((await send({ type: 'voice', mediaId: media.mediaId })).body.media.mediaId, media.mediaId);

    const event = await eventOf(friend.call, 'message.incoming', ({ type }) => type === 'voice');
    assert.deepEqual(Object.keys(event.media).sort(), ['fileName', 'mediaId', 'mimeType', 'size', 'url']);
    const received = (await friend.call('GET', `/messages/${event.messageId}`)).body;
    assert.deepEqual(received.mediaFacts, mediaFacts);
    const file = (await friend.call('GET', `/media/${event.media.mediaId}`)).body;
    assert.deepEqual([file.durationSeconds, file.waveform], [2, mediaFacts.waveform]);
  });

  it('are converted once for callers at the same time', async () => {
    const mediaId = await keep(wavOf(5), 'hello.wav');
    const answers = Array.from({ length: 12 }, () => send({ type: 'voice', mediaId }));
    const results = new Set((await Promise.all(answers)).map(({ status, body }) => `${status} ${body.media?.mediaId}`));
    assert.equal(results.size, 1, [...results].join());
    assert.match([...results].join(), /^201 med_/);
  });

  it('become pictures and stickers that apps show', async () => {
    const square = sharp({ create: { width: 20, height: 10, channels: 4, background: '#00ff0080' } });
    const image = await send({ type: 'image', mediaId: await keep(await square.tiff().toBuffer(), 'a.tiff') });
    assert.deepEqual([image.body.media.mimeType, image.body.media.fileName], ['image/jpeg', 'a.jpg']);
    assert.deepEqual(image.body.mediaFacts, { width: 20, height: 10, hasThumbnail: true });
    const shown = (await call('GET', `/media/${image.body.media.mediaId}?thumbnail=true`)).body;
    assert.equal((await sharp(Buffer.from(shown.thumbnail, 'base64')).metadata()).format, 'jpeg');
    assert.equal((await call('GET', `/media/${image.body.media.mediaId}`)).body.thumbnail, undefined);
    const png = await keep(await square.png().toBuffer(), 'b.png');
    const sticker = await send({ type: 'sticker', mediaId: png });
    const { bytes } = await download(server, token, sticker.body.media.mediaId);
    assert.deepEqual((await sharp(bytes).metadata()).width, 512);
    assert.equal((await send({ type: 'document', mediaId: png })).body.media.mediaId, png);
  });

  it('are refused in words if they cannot be converted, and nothing is sent', async () => {
    const count = async () => (await call('GET', '/messages?limit=200')).body.data.length;
    const earlier = await count();
    const svg = Buffer.from('<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>').toString('base64');
    const drawing = await send({ type: 'image', content: svg, mimeType: 'image/svg+xml' });
    assert.deepEqual([drawing.status, drawing.body.code], [415, 'unsupported_media_type']);
    assert.match(drawing.body.detail, /cannot be made a JPEG or PNG image/);
    const silent = await send({ type: 'video', mediaId: await keep(sampleMedia('tone.m4a'), 'tone.m4a') });
    assert.equal(silent.status, 400);
    const damaged = {
      image: sampleMedia('sticker.webp').subarray(0, 60),
      sticker: sampleMedia('sticker.webp').subarray(0, 60),
      video: sampleMedia('clip.mp4').subarray(0, 300),
      voice: sampleMedia('voice.ogg').subarray(0, 40),
      audio: damagedAt(sampleMedia('voice.ogg'), 500, 2000),
    };
    for (const [type, content] of [...Object.entries(damaged), ['voice', wavOf(0)] as const]) {
      const { status, body } = await send({ type, mediaId: await keep(content, 'damaged') });
      assert.deepEqual([status, body.code], [415, 'unsupported_media_type'], `${type} ${JSON.stringify(body)}`);
    }
    assert.equal(await count(), earlier);
  });

  it('are returned in base64 on request, up to a limit', async () => {
    const bytes = picture();
    const mediaId = await keep(bytes, 'c.png');
    const file = await call('GET', `/media/${mediaId}?encoding=base64`);
    assert.deepEqual(Buffer.from(file.body.content, 'base64'), bytes);
    assert.equal((await call('GET', `/media/${mediaId}`)).body.content, undefined);
    assert.equal((await call('GET', `/media/${mediaId}?encoding=hex`)).status, 400);
    const { messageId } = (await send({ type: 'image', mediaId })).body;
    const message = await call('GET', `/messages/${messageId}?include=content`);
    assert.deepEqual(Buffer.from(message.body.media.content, 'base64'), bytes);
    assert.equal((await call('GET', `/messages/${messageId}`)).body.media.content, undefined);

    const permissions = ['messages:read', 'messages:metadata'];
    const { key } = (await call('POST', '/api-keys/create', { name: 'reads', permissions })).body;
    const reader = bearer(server.url, key);
    const denied = await reader('GET', `/messages/${messageId}?include=content`);
    assert.deepEqual([denied.status, denied.body.code], [403, 'permission_denied']);
    assert.equal((await reader('GET', `/messages/${messageId}`)).status, 200);

    const large = await keep(Buffer.alloc(1024 * 1024 + 1, 1), 'large.bin');
    const refused = await call('GET', `/media/${large}?encoding=base64`);
    assert.deepEqual([refused.status, refused.body.code], [413, 'payload_too_large']);
    const sent = (await send({ type: 'document', mediaId: large })).body;
    assert.equal((await call('GET', `/messages/${sent.messageId}?include=content`)).status, 413);
  });

  it('can be deleted unless a message still needs them, and messages then say so', async () => {
    const mediaId = await keep(picture(), 'd.png');
    const sendAt = new Date(Date.now() + 3_600_000).toISOString();
    const waiting = (await send({ type: 'image', mediaId, sendAt })).body;
    const inUse = await call('DELETE', `/media/${mediaId}`);
    assert.deepEqual([inUse.status, inUse.body.code], [409, 'message_state']);
    assert.match(inUse.body.detail, new RegExp(waiting.messageId));
    await call('DELETE', `/messages/${waiting.messageId}`);
    const { messageId } = (await send({ type: 'image', mediaId })).body;
    assert.deepEqual((await call('DELETE', `/media/${mediaId}`)).body, { mediaId, deleted: true });
    assert.equal((await call('GET', `/media/${mediaId}`)).status, 404);
    assert.equal((await call('DELETE', `/media/${mediaId}`)).status, 404);
    const message = (await call('GET', `/messages/${messageId}?include=content`)).body;
    assert.deepEqual([message.media.mediaId, message.media.available], [mediaId, false]);
    assert.equal(message.media.content, undefined);
    const stranger = await server.account();
    const kept = await keep(picture(), 'e.png');
    assert.equal((await stranger.call('DELETE', `/media/${kept}`)).status, 404);
    assert.equal((await call('GET', `/media/${kept}`)).status, 200);
  });
});

describeOnEachDatabase('the preparation of files', (_, database) => {
  let server: TestServer;
  before(async () => {
    server = await startServer({ database });
  });
  after(() => server.stop());

  /** A file of a new account. */
  async function given() {
    const { token, accountId } = await server.account();
    const { mediaId } = (await upload(server, token, sampleMedia('voice.ogg'))).body;
    return server.app.services.media.find(accountId, mediaId);
  }

  /** As on a node of its own. @param answers of its converter, one after the other */
  function nodeWith(...answers: (() => Promise<Prepared>)[]) {
    const calls = { count: 0 };
    const prepare = () => {
      calls.count += 1;
      return answers.shift()?.() ?? assert.fail('is not expected to convert again');
    };
    const preparation = new Preparation({ ...server.app.services, converter: { prepare } as unknown as Converter });
    return {
      calls,
      prepare: (row: Awaited<ReturnType<typeof given>>) => preparation.prepare(row, 'voice', whatsappMediaRules),
    };
  }

  const resultOf = (content: Buffer): Prepared => ({
    converted: { content, mimeType: 'audio/ogg', extension: 'ogg' },
    facts: { durationSeconds: 2 },
  });

  it('has one result if two nodes convert the same file, and another one after its file was deleted', async () => {
    const row = await given();
    const [first, second] = [Promise.withResolvers<Prepared>(), Promise.withResolvers<Prepared>()];
    const nodes = [nodeWith(() => first.promise), nodeWith(() => second.promise)];
    const [one, other] = nodes.map(({ prepare }) => prepare(row));
    first.resolve(resultOf(sampleMedia('stereo.ogg')));
    const stored = await one;
    second.resolve(resultOf(sampleMedia('vorbis.ogg')));
    assert.equal((await other)?.media_id, stored?.media_id);
    const { removal } = server.app.services;
    assert.ok(stored);
    await removal.delete(stored.account_id, stored.media_id);
    const later = await nodeWith(async () => resultOf(sampleMedia('vorbis.ogg'))).prepare(row);
    assert.notEqual(later.media_id, stored.media_id);
  });

  it('refuses a file whose conversion took too long, also one of an accepted type', async () => {
    const row = await given();
    const failed = async () => Promise.reject(new ConversionError('failed', 'its conversion takes longer than 120 s'));
    const { calls, prepare } = nodeWith(failed);
    for (const _ of [1, 2])
      await assert.rejects(prepare(row), { code: 'unsupported_media_type', message: /longer than 120 s/ });
    assert.equal(calls.count, 1, 'does not try again at once');
  });

  it('does not keep what was found out without a library', async () => {
    const row = await given();
    const { prepare } = nodeWith(
      async () => ({ facts: { durationSeconds: 2 }, isProvisional: true }),
      async () => ({ facts: { durationSeconds: 2, waveform: [7] } }),
    );
    assert.deepEqual(factsOf(await prepare(row)), { durationSeconds: 2 });
    assert.deepEqual(factsOf(await prepare(row)), { durationSeconds: 2, waveform: [7] });
    assert.equal((await prepare(row)).media_id, row.media_id);
  });
});

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describeOnEachDatabase('the removal of files', (_, database) => {
  async function start(days: string) {
    const clock = createFakeClock(Date.now());
    const server = await startServer({ database, clock, env: { MEDIA_RETENTION_DAYS: days } });
    const { removal } = server.app.services;
    const isStored = (hash: string) => existsSync(contentPath(join(server.home.dataDir, 'media', 'content'), hash));
    return { clock, server, removal, isStored };
  }

  it('deletes a content an hour after its last file, unless another account or a new upload has it', async (test) => {
    const { clock, server, removal, isStored } = await start('0');
    test.after(() => server.stop());
    const [a, b] = [await server.account(), await server.account()];
    const bytes = picture();
    const [own, other] = [(await upload(server, a.token, bytes)).body, (await upload(server, b.token, bytes)).body];
    await a.call('DELETE', `/media/${own.mediaId}`);
    clock.skip(2 * HOUR_MS);
    assert.deepEqual(await removal.run(), { files: 0, contents: 0 });
    assert.deepEqual((await download(server, b.token, other.mediaId)).bytes, bytes);

    await b.call('DELETE', `/media/${other.mediaId}`);
    assert.deepEqual(await removal.run(), { files: 0, contents: 0 });
    assert.ok(isStored(own.sha256), 'is kept for an hour');
    const again = (await upload(server, a.token, bytes)).body;
    clock.skip(2 * HOUR_MS);
    assert.deepEqual(await removal.run(), { files: 0, contents: 0 });
    assert.deepEqual((await download(server, a.token, again.mediaId)).bytes, bytes);

    await a.call('DELETE', `/media/${again.mediaId}`);
    clock.skip(2 * HOUR_MS);
    assert.deepEqual(await removal.run(), { files: 0, contents: 1 });
    assert.ok(!isStored(own.sha256));
    const ofChannel = (await upload(server, a.token, picture())).body;
    const state = JSON.stringify({ picture: { hash: ofChannel.sha256 } });
    const channel = { network_id: 'chn-1', invite_code: 'chn-1', owner: '491701234567', state };
    await server.app.services.database.commit(({ kysely }) =>
      kysely.insertInto('sandbox_channels').values(channel).execute(),
    );
    await a.call('DELETE', `/media/${ofChannel.mediaId}`);
    clock.skip(2 * HOUR_MS);
    assert.deepEqual(await removal.run(), { files: 0, contents: 0 }, 'a channel of the sandbox has it');
    const anew = (await upload(server, a.token, bytes)).body;
    assert.deepEqual((await download(server, a.token, anew.mediaId)).bytes, bytes);
  });

  it('lets an upload wait while another node removes the same content', async (test) => {
    const { clock, server } = await start('0');
    test.after(() => server.stop());
    const { token } = await server.account();
    const bytes = picture();
    const { sha256: hash } = (await upload(server, token, bytes)).body;
    const { database: db } = server.app.services;
    const mark = { hash, unused_at: clock.now(), removing_until: clock.now() + HOUR_MS };
    await db.commit(({ kysely }) => kysely.insertInto('unused_contents').values(mark).execute());
    let isDone = false;
    const waiting = upload(server, token, bytes).then((answer) => {
      isDone = true;
      return answer;
    });
    await upload(server, token, picture());
    assert.equal(isDone, false);
    await db.commit(({ kysely }) => kysely.deleteFrom('unused_contents').where('hash', '=', hash).execute());
    assert.equal((await waiting).status, 201);
  });

  it('deletes files that were not used for MEDIA_RETENTION_DAYS, but none that a message or a group needs', async (test) => {
    const { clock, server, removal, isStored } = await start('30');
    test.after(() => server.stop());
    const owner = await server.account();
    const { key: token } = (await owner.call('POST', '/api-keys/create', { name: 'lasts longer than a login' })).body;
    const call = bearer(server.url, token);
    await connectSession(call);
    const files = await Promise.all(
      Array.from({ length: 4 }, async () => (await upload(server, token, picture())).body),
    );
    const [unused, used, waiting, shown] = files;
    const sendAt = new Date(clock.now() + 100 * DAY_MS).toISOString();
    const send = (fields: object) =>
      call('POST', '/messages/send-media', { to: newNumber(), type: 'image', ...fields });
    assert.equal((await send({ mediaId: waiting.mediaId, sendAt })).status, 201);
    const group = (await call('POST', '/groups', { subject: 'Tea', phoneNumbers: [newNumber()] })).body;
    await server.app.services.database.commit(({ kysely }) =>
      kysely.updateTable('groups').set({ picture_media_id: shown.mediaId }).execute(),
    );
    assert.equal((await call('GET', `/groups/${group.groupId}`)).body.pictureMediaId, shown.mediaId);
    clock.skip(25 * DAY_MS);
    assert.equal((await send({ mediaId: used.mediaId })).status, 201);
    clock.skip(10 * DAY_MS);
    assert.equal((await removal.run()).files, 1);
    const statuses = await Promise.all(
      files.map(async ({ mediaId }) => (await call('GET', `/media/${mediaId}`)).status),
    );
    assert.deepEqual(statuses, [404, 200, 200, 200]);
    clock.skip(2 * HOUR_MS);
    assert.equal((await removal.run()).contents, 1);
    assert.ok(!isStored(unused.sha256));
  });
});

describe('the retention setting', () => {
  it('keeps every file by default', async (test) => {
    const clock = createFakeClock(Date.now());
    const server = await startServer({ clock });
    test.after(() => server.stop());
    const { token, call } = await server.account();
    const { mediaId } = (await upload(server, token, picture())).body;
    clock.skip(4000 * DAY_MS);
    assert.deepEqual(await server.app.services.removal.run(), { files: 0, contents: 0 });
    const keys = await call('GET', `/media/${mediaId}`);
    assert.ok([200, 401].includes(keys.status), 'a login may have expired meanwhile');
    const { reader } = server.app.services.database;
    assert.equal((await reader.kysely.selectFrom('media').selectAll().execute()).length, 1);
  });
});
