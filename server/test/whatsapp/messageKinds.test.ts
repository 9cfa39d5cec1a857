import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decryptPollVote, proto } from 'baileys';
import { eventually } from '../support/eventually.ts';
import type { Phone } from '../support/fakeWhatsapp/index.ts';
import { download, picture, upload } from '../support/media/media.ts';
import { sampleMedia } from '../support/media/sampleMedia.ts';
import { sealAnswer, sealVote } from '../support/networks/sealVote.ts';
import { wireIdOf } from '../support/networks/wireId.ts';
import { type Answer, eventOf } from '../support/server.ts';
import { linkSession, nextPhone, useWhatsapp } from './support.ts';

const setting = useWhatsapp({}, prepare);
let me: Phone;
let bob: Phone;
let sessionId: string;

async function prepare() {
  me = nextPhone(setting.whatsapp, 'Me');
  bob = nextPhone(setting.whatsapp, 'Bob');
  sessionId = await linkSession(setting.call, me);
}

/** Sends, and returns the message as seen by the API and by the other phone, without its wrapper. */
async function sendBob(path: string, body: object): Promise<{ sent: Answer['body']; got: proto.IMessage }> {
  const { status, body: sent } = await setting.call('POST', path, { sessionId, to: bob.number, ...body });
  assert.equal(status, 201, JSON.stringify(sent));
  assert.equal(sent.status, 'sent', JSON.stringify(sent));
  const { message } = await bob.messages.waitFor(({ id }) => id === wireIdOf(sent.messageId));
  return { sent, got: message };
}

/** Bob sends; returns the event and the stored message. */
async function fromBob(message: proto.IMessage): Promise<Answer['body']> {
  const networkId = await bob.send(me.number, message);
  const { body } = await eventually(
    () => setting.call('GET', `/messages?chatId=${bob.number}&direction=incoming&limit=20`),
    (answer) => answer.body.data.some((one: Answer['body']) => one.networkId === networkId),
  );
  return body.data.find((one: Answer['body']) => one.networkId === networkId);
}

async function uploaded(content = picture(), type = 'image/png'): Promise<string> {
  return (await upload(setting.server, setting.token, content, { headers: { 'content-type': type } })).body.mediaId;
}

const MP4 = sampleMedia('clip.mp4');

describe('sending over WhatsApp', () => {
  it('shows the preview that the caller chose', async () => {
    const image = await uploaded();
    const linkPreview = { title: 'Example', description: 'A page', image };
    const { sent, got } = await sendBob('/messages/send', { message: 'See https://example.com/a.', linkPreview });
    const { matchedText, title, description, jpegThumbnail, text } = got.extendedTextMessage ?? {};
    assert.deepEqual(
      [text, matchedText, title, description],
      ['See https://example.com/a.', 'https://example.com/a', 'Example', 'A page'],
    );
    assert.deepEqual([...(jpegThumbnail ?? []).slice(0, 2)], [0xff, 0xd8]);
    const url = 'https://example.com/a';
    assert.deepEqual(sent.linkPreview, { url, title: 'Example', description: 'A page', hasImage: true });
    const { got: plain } = await sendBob('/messages/send', { message: 'See https://example.com/b' });
    assert.equal(plain.extendedTextMessage?.matchedText ?? '', '');
  });

  it('sends a file that opens once, a GIF and a video note', async () => {
    const { got: once, sent } = await sendBob('/messages/send-media', {
      type: 'image',
      mediaId: await uploaded(),
      viewOnce: true,
    });
    assert.equal(once.viewOnceMessage?.message?.imageMessage?.viewOnce, true);
    assert.equal(sent.viewOnce, true);
    const video = await uploaded(MP4, 'video/mp4');
    const { got: gif } = await sendBob('/messages/send-media', { type: 'video', mediaId: video, gif: true });
    assert.equal(gif.videoMessage?.gifPlayback, true);
    const { got: note } = await sendBob('/messages/send-media', { type: 'video', mediaId: video, videoNote: true });
    assert.ok(note.ptvMessage);
  });

  it('sends an event, and stores who comes', async () => {
    const { sent, got } = await sendBob('/messages/send-event', {
      name: 'Lunch',
      startsAt: '2030-07-01T12:00:00.500+02:00',
      location: { name: 'Gate' },
    });
    const { eventMessage, messageContextInfo } = got;
    assert.deepEqual(
      [eventMessage?.name, Number(eventMessage?.startTime), eventMessage?.location?.name],
      ['Lunch', Date.UTC(2030, 6, 1, 10) / 1000, 'Gate'],
    );
    const secret = messageContextInfo?.messageSecret ?? Buffer.alloc(0);
    const eventId = wireIdOf(sent.messageId);
    const sealed = sealAnswer(1, { eventId, secret, author: me.numberJid, person: bob.lidJid });
    const key = { remoteJid: me.lidJid, fromMe: false, id: eventId };
    await bob.send(me.number, { encEventResponseMessage: { eventCreationMessageKey: key, ...sealed } });
    const answered = await eventually(
      async () => (await setting.call('GET', `/messages/${sent.messageId}`)).body,
      ({ answers }) => answers?.length > 0,
    );
    assert.deepEqual(answered.answers, [{ from: bob.number, answer: 'going' }]);
    assert.equal(answered.votes, undefined);
  });

  it('links the files of an album to one head, in their order', async () => {
    const files = [
      { type: 'image', mediaId: await uploaded(), caption: 'one' },
      { type: 'video', mediaId: await uploaded(MP4, 'video/mp4'), caption: 'two' },
    ];
    const { status, body } = await setting.call('POST', '/messages/send-album', { sessionId, to: bob.number, files });
    assert.equal(status, 202, JSON.stringify(body));
    const head = await bob.messages.waitFor(({ id }) => id === wireIdOf(body.albumId));
    assert.deepEqual(
      [head.message.albumMessage?.expectedImageCount, head.message.albumMessage?.expectedVideoCount],
      [1, 1],
    );
    for (const one of body.messages) {
      const { messageId, album, message } = one;
      assert.deepEqual(album, { albumId: body.albumId, images: 1, videos: 1, index: body.messages.indexOf(one) });
      const { message: part } = await bob.messages.waitFor(({ id }) => id === wireIdOf(messageId));
      const association = part.messageContextInfo?.messageAssociation;
      assert.equal(association?.parentMessageKey?.id, wireIdOf(body.albumId));
      assert.equal((part.imageMessage ?? part.videoMessage)?.caption, message);
    }
  });

  it('mentions everybody in a group', async () => {
    const group = await setting.call('POST', '/groups', { sessionId, subject: 'All', phoneNumbers: [bob.number] });
    const { groupId } = group.body;
    const { body } = await setting.call('POST', '/messages/send', {
      sessionId,
      to: groupId,
      message: 'all of you',
      mentionAll: true,
    });
    assert.deepEqual([body.status, body.mentionsAll], ['sent', true]);
    const { message } = await bob.messages.waitFor(({ id }) => id === wireIdOf(body.messageId));
    assert.equal(message.extendedTextMessage?.contextInfo?.nonJidMentions, 1);
  });

  it('edits the caption of a file by repeating the file', async () => {
    const mediaId = await uploaded();
    const { sent, got } = await sendBob('/messages/send-media', { type: 'image', mediaId, caption: 'Lok' });
    const edited = await setting.call('PATCH', `/messages/${sent.messageId}`, { message: 'Look' });
    assert.deepEqual([edited.status, edited.body.message, edited.body.edited], [200, 'Look', true]);
    const { message } = await bob.messages.waitFor(({ message: one }) => one.protocolMessage?.editedMessage != null);
    const { key, editedMessage } = message.protocolMessage ?? {};
    assert.equal(key?.id, wireIdOf(sent.messageId));
    assert.equal(editedMessage?.imageMessage?.caption, 'Look');
    assert.deepEqual(editedMessage.imageMessage.mediaKey, got.imageMessage?.mediaKey);
    const removed = await setting.call('PATCH', `/messages/${sent.messageId}`, { message: '' });
    assert.deepEqual([removed.status, removed.body.message], [200, ''], JSON.stringify(removed.body));
    const isRemoval = ({ message: one }: { message: proto.IMessage }) =>
      one.protocolMessage?.editedMessage?.imageMessage?.caption === '';
    await bob.messages.waitFor(isRemoval);
  });

  it('votes in the poll of another person, and withdraws the vote', async () => {
    const secret = Buffer.alloc(32, 5);
    const poll = await fromBob({
      pollCreationMessageV3: {
        name: 'Tea?',
        options: [{ optionName: 'Yes' }, { optionName: 'No' }],
        selectableOptionsCount: 1,
      },
      messageContextInfo: { messageSecret: secret },
    });
    const vote = (options: string[]) => setting.call('POST', `/messages/${poll.messageId}/vote`, { options });
    const { status, body } = await vote(['Yes']);
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual(body.votes, [{ from: me.number, options: ['Yes'] }]);
    const { message } = await bob.messages.waitFor(({ message: one }) => one.pollUpdateMessage != null);
    const sealed = message.pollUpdateMessage?.vote;
    assert.ok(sealed);
    const author = { pollCreatorJid: bob.lidJid, pollMsgId: poll.networkId, pollEncKey: secret };
    const opened = decryptPollVote(sealed, { ...author, voterJid: me.lidJid });
    assert.equal(opened.selectedOptions?.length, 1);
    assert.deepEqual((await vote([])).body.votes, undefined);
    for (const [options, code] of [
      [['Maybe'], 'validation_failed'],
      [['Yes', 'No'], 'validation_failed'],
    ] as const)
      assert.equal((await vote([...options])).body.code, code);
    // The author votes as well, which only the secret of the received poll can open.
    const own = sealVote(['No'], { pollId: poll.networkId, secret, author: bob.lidJid, voter: bob.lidJid });
    const key = { remoteJid: me.lidJid, fromMe: true, id: poll.networkId };
    await bob.send(me.number, { pollUpdateMessage: { pollCreationMessageKey: key, vote: own } });
    await eventually(
      async () => (await setting.call('GET', `/messages/${poll.messageId}`)).body,
      ({ votes }) => votes?.some((one: Answer['body']) => one.from === bob.number && one.options[0] === 'No'),
    );
  });

  it('cannot vote in what is not a poll, or whose secret it does not have', async () => {
    const text = await fromBob({ conversation: 'no poll' });
    const vote = (messageId: string, options: string[]) =>
      setting.call('POST', `/messages/${messageId}/vote`, { options });
    assert.equal((await vote(text.messageId, ['Yes'])).body.code, 'message_state');
    const poll = await fromBob({
      pollCreationMessage: { name: 'Old?', options: [{ optionName: 'Yes' }] },
      messageContextInfo: { messageSecret: Buffer.alloc(0) },
    });
    assert.deepEqual((await vote(poll.messageId, ['Yes'])).body.code, 'message_state');
  });
});

describe('receiving over WhatsApp', () => {
  it('stores a view-once image with its file, and says that it opens once', async () => {
    const content = picture();
    const { imageMessage } = bobsImage(content);
    const message = await fromBob({ viewOnceMessageV2: { message: { imageMessage } } });
    assert.deepEqual([message.type, message.viewOnce], ['image', true]);
    const { bytes } = await download(setting.server, setting.token, message.media.mediaId);
    assert.deepEqual(bytes, content);
    const forward = await setting.call('POST', `/messages/${message.messageId}/forward`, { to: bob.number });
    assert.equal(forward.body.code, 'message_state');
  });

  it('stores events, products, orders and invites with their fields', async () => {
    const event = await fromBob({ eventMessage: { name: 'Lunch', startTime: 1_900_000_000, isCanceled: true } });
    assert.deepEqual(
      [event.type, event.message, event.event],
      ['event', 'Lunch', { startsAt: '2030-03-17T17:46:40.000Z', canceled: true }],
    );
    const { imageMessage } = bobsImage(picture());
    const product = await fromBob({
      productMessage: {
        product: { title: 'Tea', priceAmount1000: 4500, currencyCode: 'EUR', productImage: imageMessage },
        businessOwnerJid: bob.numberJid,
      },
    });
    assert.deepEqual(
      [product.type, product.product],
      ['product', { title: 'Tea', price: 4.5, currency: 'EUR', seller: bob.number }],
    );
    assert.match(product.media.mediaId, /^med_/);
    const order = await fromBob({
      orderMessage: { orderId: '9', itemCount: 2, totalAmount1000: 9000, totalCurrencyCode: 'EUR', token: 'secret' },
    });
    assert.deepEqual(order.order, { orderId: '9', itemCount: 2, total: 9, currency: 'EUR' });
    const invite = await fromBob({
      groupInviteMessage: { groupJid: '123@g.us', inviteCode: 'Abc', groupName: 'Team', caption: 'Come' },
    });
    assert.deepEqual(
      [invite.type, invite.message, invite.groupInvite],
      ['group_invite', 'Come', { networkGroupId: '123@g.us', code: 'Abc', subject: 'Team' }],
    );
  });

  it('stores an unknown kind with its name and text, and reports it', async () => {
    const sent = { requestPaymentMessage: { noteMessage: { conversation: 'for the tea' }, amount1000: 5000 } };
    const message = await fromBob(sent);
    assert.deepEqual(
      [message.type, message.rawType, message.message],
      ['unsupported', 'requestPaymentMessage', 'for the tea'],
    );
    const event = await eventOf(setting.call, 'message.incoming', ({ messageId }) => messageId === message.messageId);
    assert.deepEqual([event.type, event.rawType], ['unsupported', 'requestPaymentMessage']);
    const { body } = await setting.call('GET', '/messages?type=unsupported');
    assert.ok(body.data.some((one: Answer['body']) => one.messageId === message.messageId));
  });

  it('stores the ad that the sender tapped', async () => {
    const externalAdReply = { title: 'Chat with us', sourceId: '1202', ctwaClid: 'Aff-n8', sourceUrl: 'javascript:1' };
    const contextInfo = { externalAdReply, entryPointConversionSource: 'ctwa_ad' };
    const stored = await fromBob({ extendedTextMessage: { text: 'Is it fresh?', contextInfo } });
    const referral = { adId: '1202', headline: 'Chat with us', clickId: 'Aff-n8', entryPoint: 'ctwa_ad' };
    assert.deepEqual([stored.message, stored.referral], ['Is it fresh?', referral]);
    const { messageId } = stored;
    const event = await eventOf(setting.call, 'message.incoming', (data) => data.messageId === messageId);
    assert.deepEqual(event.referral, referral);
  });

  it('keeps internal messages out', async () => {
    await bob.send(me.number, { keepInChatMessage: {} });
    await bob.send(me.number, { messageHistoryNotice: {} });
    await bob.send(me.number, { albumMessage: { expectedImageCount: 2 } });
    const { networkId } = await fromBob({ conversation: 'after the internal ones' });
    const { body } = await setting.call('GET', `/messages?chatId=${bob.number}&direction=incoming&limit=2`);
    assert.equal(body.data[0].networkId, networkId);
    assert.notEqual(body.data[1].message, '');
  });

  it('links the files of an album', async () => {
    const { imageMessage } = bobsImage(picture());
    const messageAssociation = {
      associationType: proto.MessageAssociation.AssociationType.MEDIA_ALBUM,
      parentMessageKey: { id: 'A1B2', remoteJid: me.lidJid, fromMe: true },
    };
    const message = await fromBob({ imageMessage, messageContextInfo: { messageAssociation } });
    assert.deepEqual(message.album, { albumId: 'A1B2' });
  });

  it('bounds what a modified app sends', async () => {
    const long = 'x'.repeat(5000);
    const { event, rawType } = await fromBob({
      eventMessage: {
        name: 'e',
        description: long,
        startTime: 9e15,
        joinLink: 'javascript:alert(1)',
        location: { name: long },
      },
    });
    assert.deepEqual(event, { description: long.slice(0, 2048), location: { name: long.slice(0, 200) } });
    assert.equal(rawType, undefined);
    const buttons = Array.from({ length: 500 }, (_, n) => ({ buttonId: `${n}`, buttonText: { displayText: long } }));
    const { interactive } = await fromBob({ buttonsMessage: { contentText: 'many', buttons } });
    assert.equal(interactive.buttons.length, 20);
    assert.equal(interactive.buttons[0].title.length, 1024);
  });
});

const bobsImage = (content: Buffer) => bob.uploadFile('image', content, { mimetype: 'image/png' });
