import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { proto } from 'baileys';
import { eventually } from '../support/eventually.ts';
import type { Phone } from '../support/fakeWhatsapp/index.ts';
import { download, picture } from '../support/media/media.ts';
import { sampleMedia } from '../support/media/sampleMedia.ts';
import { type Answer, eventOf } from '../support/server.ts';
import { eventsOf, linkSession, nextPhone, useWhatsapp } from './support.ts';

/*
 * Files that a phone sends as separate messages, and shows in another message: the HD version of a photo or video
 * (mautrix/whatsapp#818) and the video of a live photo (waha#1757, mautrix/whatsapp#845). A part is wrapped in
 * `associatedChildMessage`, and its `messageContextInfo` names the parent (`handlewhatsapp.go` of mautrix-whatsapp).
 */

const setting = useWhatsapp({}, prepare);
const Type = proto.MessageAssociation.AssociationType;
const { PairedMediaType } = proto.ContextInfo;
const CLIP = sampleMedia('clip.mp4');
let me: Phone;
let bob: Phone;
let mallory: Phone;
let sessionId: string;

async function prepare() {
  me = nextPhone(setting.whatsapp, 'Me');
  bob = nextPhone(setting.whatsapp, 'Bob');
  mallory = nextPhone(setting.whatsapp, 'Mallory');
  sessionId = await linkSession(setting.call, me);
}

const image = (content: Buffer, fields: object = {}) =>
  bob.uploadFile('image', content, { mimetype: 'image/png', ...fields });
const video = (content: Buffer, fields: object = {}) =>
  bob.uploadFile('video', content, { mimetype: 'video/mp4', ...fields });

const partOf = (parent: string, associationType: number, message: proto.IMessage): proto.IMessage => ({
  associatedChildMessage: { message },
  messageContextInfo: {
    messageAssociation: { associationType, parentMessageKey: { id: parent, remoteJid: me.lidJid, fromMe: true } },
  },
});

const incoming = (text: string): Promise<Answer['body']> =>
  eventOf(setting.call, 'message.incoming', ({ message }) => message === text);
const added = (messageId: string, count = 1): Promise<Answer['body'][]> =>
  eventually(
    async () => (await eventsOf(setting.call, sessionId, ['message.media'])).map(({ data }) => data),
    (all) => all.filter((data) => data.messageId === messageId).length >= count,
  ).then((all) => all.filter((data) => data.messageId === messageId));
const stored = async (messageId: string) => (await setting.call('GET', `/messages/${messageId}`)).body;
const bytesOf = async (mediaId: string) => (await download(setting.server, setting.token, mediaId)).bytes;

/** Bob sends a text, which comes after everything that was sent before. */
async function settle(): Promise<void> {
  const text = `settled ${Math.random()}`;
  await bob.sendText(me.number, text);
  await incoming(text);
}

async function countIncoming(): Promise<number> {
  return (await eventsOf(setting.call, sessionId, ['message.incoming'])).filter(({ data }) => data.type !== 'text')
    .length;
}

describe('an HD photo', () => {
  it('is one message, whose file the better one replaces', async () => {
    const before = await countIncoming();
    const [sd, hd] = [picture(), picture()];
    const parent = await bob.send(me.number, image(sd, { caption: 'sea' }));
    const { messageId, media } = await incoming('sea');
    assert.deepEqual(await bytesOf(media.mediaId), sd);
    const child = partOf(parent, Type.HD_IMAGE_DUAL_UPLOAD, image(hd));
    await bob.send(me.number, child);
    const [better] = await added(messageId);
    assert.deepEqual(
      [better.type, better.from, better.fromMe, better.chatId],
      ['image', bob.number, false, bob.number],
    );
    assert.deepEqual(await bytesOf(better.media.mediaId), hd);
    const shown = await stored(messageId);
    assert.deepEqual([shown.media.mediaId, shown.message, shown.edited], [better.media.mediaId, 'sea', undefined]);
    await bob.send(me.number, child);
    await settle();
    assert.equal((await added(messageId)).length, 1, 'the same file again changes nothing');
    assert.equal((await countIncoming()) - before, 1);
  });

  it('is one message when the better file comes first, over a restart of the session', async () => {
    const [sd, hd] = [picture(), picture()];
    bob.switchOff();
    const parent = await bob.send(me.number, image(sd, { caption: 'late sea' }), { isCorrupt: true });
    await bob.send(me.number, partOf(parent, Type.HD_IMAGE_DUAL_UPLOAD, image(hd)));
    await bob.send(me.number, partOf(parent, Type.MOTION_PHOTO, video(CLIP)));
    await settle();
    await setting.call('POST', `/sessions/${sessionId}/disconnect`);
    await setting.call('POST', `/sessions/${sessionId}/connect`);
    bob.switchOn();
    const { messageId, media } = await incoming('late sea');
    assert.deepEqual(await bytesOf(media.mediaId), sd, 'its events are as if it had come first');
    const files = await added(messageId, 2);
    assert.deepEqual(
      files.map(({ media: file, livePhoto }) => [file !== undefined, livePhoto !== undefined]),
      [
        [true, false],
        [false, true],
      ],
    );
    const shown = await stored(messageId);
    assert.deepEqual(await bytesOf(shown.media.mediaId), hd);
    assert.deepEqual(await bytesOf(shown.livePhoto.mediaId), CLIP);
  });

  it('cannot be replaced by another person, in the chat or in a group', async () => {
    const group = bob.groups.create('Sea', [me.number, mallory.number]);
    const { groupId } = await eventOf(setting.call, 'group.created', ({ subject }) => subject === 'Sea');
    const inGroup = await bob.send(group, image(picture(), { caption: 'group sea' }));
    const direct = await bob.send(me.number, image(picture(), { caption: 'direct sea' }));
    const [one, other] = [await incoming('group sea'), await incoming('direct sea')];
    const forged = (parent: string) => partOf(parent, Type.HD_IMAGE_DUAL_UPLOAD, image(picture()));
    await mallory.send(group, forged(inGroup));
    await mallory.send(me.number, forged(direct));
    await bob.send(me.number, forged(inGroup)); // in another chat than its message
    const hd = picture();
    const child = await bob.send(group, partOf(inGroup, Type.HD_IMAGE_DUAL_UPLOAD, image(hd)));
    const files = await added(one.messageId);
    const key = { id: child, fromMe: false, remoteJid: group, participant: bob.lidJid };
    await mallory.send(group, { reactionMessage: { key: { ...key, participant: me.lidJid }, text: '👎' } });
    await mallory.send(group, { reactionMessage: { key, text: '👍' } });
    const { emoji } = await eventOf(setting.call, 'message.reaction', (data) => data.messageId === one.messageId);
    assert.equal(emoji, '👍', 'the author of the message is known');
    await settle();
    assert.deepEqual([files.length, files[0].groupId], [1, groupId]);
    assert.deepEqual(await bytesOf((await stored(one.messageId)).media.mediaId), hd);
    assert.equal((await stored(other.messageId)).media.mediaId, other.media.mediaId);
  });

  it('is one message when our phone sends it', async () => {
    const parent = await me.send(bob.number, image(picture(), { caption: 'own sea' }));
    const { messageId } = await eventOf(setting.call, 'message.sent', ({ message }) => message === 'own sea');
    await me.send(bob.number, partOf(parent, Type.HD_IMAGE_DUAL_UPLOAD, image(picture())));
    const [better] = await added(messageId);
    assert.deepEqual([better.fromMe, better.from], [true, me.number]);
  });

  it('stays as it is when the better file cannot be read', async () => {
    const parent = await bob.send(me.number, image(picture(), { caption: 'whole sea' }));
    const { messageId, media } = await incoming('whole sea');
    await bob.send(me.number, partOf(parent, Type.HD_IMAGE_DUAL_UPLOAD, { imageMessage: { mimetype: 'image/png' } }));
    await settle();
    assert.equal((await stored(messageId)).media.mediaId, media.mediaId);
  });

  it('is reacted to and deleted through the better file', async () => {
    const parent = await bob.send(me.number, image(picture(), { caption: 'far sea' }));
    const { messageId } = await incoming('far sea');
    const child = await bob.send(me.number, partOf(parent, Type.HD_IMAGE_DUAL_UPLOAD, image(picture())));
    await added(messageId);
    const key = { id: child, fromMe: true, remoteJid: me.lidJid };
    await bob.send(me.number, { reactionMessage: { key, text: '🌊' } });
    const { emoji } = await eventOf(setting.call, 'message.reaction', (data) => data.messageId === messageId);
    assert.equal(emoji, '🌊');
    await bob.send(me.number, { protocolMessage: { type: 0, key } });
    await eventOf(setting.call, 'message.deleted', (data) => data.messageId === messageId);
  });

  it('has its caption edited through the better file', async () => {
    const parent = await bob.send(me.number, image(picture(), { caption: 'seo' }));
    const { messageId } = await incoming('seo');
    const child = await bob.send(me.number, partOf(parent, Type.HD_IMAGE_DUAL_UPLOAD, image(picture())));
    await added(messageId);
    const edited = partOf(parent, Type.HD_IMAGE_DUAL_UPLOAD, { imageMessage: { caption: 'sea again' } });
    await bob.edit(me.number, child, edited);
    const event = await eventOf(setting.call, 'message.edited', (data) => data.messageId === messageId);
    assert.equal(event.message, 'sea again');
  });
});

describe('other parts', () => {
  it('replaces an SD video, and leaves out its copy in another encoding', async () => {
    const before = await countIncoming();
    const parent = await bob.send(me.number, video(picture(), { caption: 'clip' }));
    const { messageId } = await incoming('clip');
    await bob.send(me.number, partOf(parent, Type.HEVC_VIDEO_DUAL_UPLOAD, video(picture())));
    await bob.send(me.number, partOf(parent, Type.HD_VIDEO_DUAL_UPLOAD, video(CLIP)));
    const files = await added(messageId);
    assert.equal(files.length, 1);
    assert.deepEqual(await bytesOf(files[0].media.mediaId), CLIP);
    assert.equal((await countIncoming()) - before, 1);
  });

  it('adds the video of a live photo to its image', async () => {
    const before = await countIncoming();
    const still = picture();
    const parent = await bob.send(me.number, image(still, { caption: 'wave' }));
    const { messageId, livePhoto } = await incoming('wave');
    assert.equal(livePhoto, undefined);
    await bob.send(me.number, partOf(parent, Type.MOTION_PHOTO, video(CLIP)));
    const [moving] = await added(messageId);
    assert.deepEqual(await bytesOf(moving.livePhoto.mediaId), CLIP);
    const shown = await stored(messageId);
    assert.deepEqual([shown.type, shown.livePhoto], ['image', moving.livePhoto]);
    assert.deepEqual(await bytesOf(shown.media.mediaId), still);
    const { status, body } = await setting.call('POST', `/messages/${messageId}/forward`, { to: bob.number });
    assert.deepEqual([status, body.livePhoto], [201, undefined]);
    assert.equal((await countIncoming()) - before, 1);
  });

  it('reads the mark of older apps, on the file itself', async () => {
    const parent = await bob.send(me.number, image(picture(), { caption: 'old wave' }));
    const { messageId } = await incoming('old wave');
    const contextInfo = { pairedMediaType: PairedMediaType.MOTION_PHOTO_CHILD };
    await bob.send(me.number, partOf(parent, Type.UNKNOWN, video(CLIP, { contextInfo })));
    const [moving] = await added(messageId);
    assert.deepEqual(await bytesOf(moving.livePhoto.mediaId), CLIP);
  });
});

it('keeps the position of each file of an album', async () => {
  const inAlbum = (messageIndex: number, caption: string): proto.IMessage => ({
    ...image(picture(), { caption }),
    messageContextInfo: {
      messageAssociation: {
        associationType: Type.MEDIA_ALBUM,
        parentMessageKey: { id: 'ALBUM1', remoteJid: me.lidJid, fromMe: true },
        messageIndex,
      },
    },
  });
  await bob.send(me.number, inAlbum(1, 'second'));
  await bob.send(me.number, inAlbum(0, 'first'));
  assert.deepEqual((await incoming('second')).album, { albumId: 'ALBUM1', index: 1 });
  const { messageId, album } = await incoming('first');
  assert.deepEqual([album, (await stored(messageId)).album], [{ albumId: 'ALBUM1', index: 0 }, album]);
});

it('the fake server recorded no errors', () => assert.deepEqual(setting.whatsapp.troubles, []));
