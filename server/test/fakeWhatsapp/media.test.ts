import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { downloadMediaMessage } from 'baileys';
import { type Scene, startScene } from '../support/networks/fakeWhatsappScene.ts';

const hasStatusCode = (code: number) => (error: { output?: { statusCode: number } }) =>
  error.output?.statusCode === code;

describe('media', () => {
  let scene: Scene;
  let whatsapp: Scene['whatsapp'];
  let me: Scene['me'];
  let bob: Scene['bob'];
  let client: Scene['client'];
  const content = Buffer.from('bytes of a file '.repeat(5000));

  before(async () => {
    scene = await startScene();
    ({ whatsapp, me, bob, client } = scene);
  });
  after(() => scene.close());

  const receive = async (id: string) => {
    const { messages } = await client.event('messages.upsert', ({ messages }) => messages[0]?.key.id === id);
    assert.ok(messages[0]);
    return messages[0];
  };
  const reuploadRequest: typeof client.socket.updateMediaMessage = (message) =>
    client.socket.updateMediaMessage(message);
  const download = (message: Awaited<ReturnType<typeof receive>>) =>
    downloadMediaMessage(message, 'buffer', {}, { logger: client.socket.logger, reuploadRequest });

  it('of a client is encrypted at the host and readable by the other phone', async () => {
    for (const [kind, message] of [
      ['imageMessage', { image: content, caption: 'a picture', jpegThumbnail: '' }],
      ['videoMessage', { video: content, jpegThumbnail: '' }],
      ['audioMessage', { audio: content, mimetype: 'audio/ogg; codecs=opus', ptt: true, seconds: 1 }],
      ['documentMessage', { document: content, mimetype: 'text/plain', fileName: 'a.txt' }],
      ['stickerMessage', { sticker: content }],
    ] as const) {
      const sent = await client.socket.sendMessage(bob.numberJid, message);
      const got = await bob.messages.waitFor(({ id }) => id === sent?.key.id);
      assert.ok(got.message[kind], kind);
      assert.deepEqual(bob.openFile(got), content);
    }
    assert.equal(whatsapp.counters.uploads, 5);
  });

  it('of a phone is downloaded and decrypted by the client', async () => {
    for (const kind of ['image', 'video', 'audio', 'document', 'sticker'] as const) {
      const id = await bob.sendFile(me.number, kind, content, { mimetype: 'application/octet-stream' });
      assert.deepEqual(await download(await receive(id)), content);
    }
  });

  it('that expired at the host is uploaded again by the phone', async () => {
    const message = await receive(await bob.sendFile(me.number, 'image', content));
    whatsapp.faults.expireMedia();
    // The client looks for the 404 of its own download in the wrong place, so it does not request the file again.
    await assert.rejects(download(message), hasStatusCode(404));
    assert.deepEqual(await download(await client.socket.updateMediaMessage(message)), content);
  });

  it('is rejected on command', async () => {
    whatsapp.faults.refuseUploads(503);
    await assert.rejects(
      client.socket.sendMessage(bob.numberJid, { document: content, mimetype: 'text/plain' }),
      /upload failed/i,
    );
    whatsapp.faults.refuseUploads(undefined);
    const message = await receive(await bob.sendFile(me.number, 'image', content));
    whatsapp.faults.refuseDownloads(500);
    await assert.rejects(download(message), { message: /Failed to fetch/ });
    whatsapp.faults.refuseDownloads(undefined);
    assert.deepEqual(await download(message), content);
  });
});
