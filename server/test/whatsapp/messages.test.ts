import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { proto } from 'baileys';
import sharp from 'sharp';
import { eventually } from '../support/eventually.ts';
import type { Phone } from '../support/fakeWhatsapp/index.ts';
import { stanza } from '../support/fakeWhatsapp/stanza.ts';
import { download, picture, samples, upload } from '../support/media/media.ts';
import { sampleMedia } from '../support/media/sampleMedia.ts';
import { sealVote } from '../support/networks/sealVote.ts';
import { wireIdOf } from '../support/networks/wireId.ts';
import { type Answer, eventOf } from '../support/server.ts';
import { inStatus, linkSession, nextPhone, useWhatsapp } from './support.ts';

const setting = useWhatsapp({}, prepare);
let me: Phone;
let bob: Phone;
let sessionId: string;

async function prepare() {
  me = nextPhone(setting.whatsapp, 'Me');
  bob = nextPhone(setting.whatsapp, 'Bob');
  sessionId = await linkSession(setting.call, me);
}

/** Sends, and returns the message as seen by the API and by the other phone. */
async function sendBob(
  path: string,
  body: object,
): Promise<{ sent: Answer['body']; got: NonNullable<Answer['body']> }> {
  const { status, body: sent } = await setting.call('POST', path, { sessionId, to: bob.number, ...body });
  assert.equal(status, 201, JSON.stringify(sent));
  assert.equal(sent.status, 'sent');
  assert.equal(sent.networkId, wireIdOf(sent.messageId));
  const { message } = await bob.messages.waitFor(({ id }) => id === sent.networkId);
  return { sent, got: message };
}

const textOf = (message: proto.IMessage | null | undefined) =>
  message?.conversation ?? message?.extendedTextMessage?.text ?? undefined;
const isEdit = (message: proto.IMessage) => Boolean(message.protocolMessage?.editedMessage);

/** The first bytes of files of these types, by which they are detected. */
describe('outgoing', () => {
  it('shows the id that went over the wire, by which others reply, react and confirm', async () => {
    const { call } = setting;
    const { sent } = await sendBob('/messages/send', { message: 'correlated' });
    const { networkId, messageId } = sent;
    const { body: listed } = await call('GET', `/messages?chatId=${bob.number}&limit=1`);
    const { body: found } = await call('GET', '/messages?q=correlated');
    const { body: chats } = await call('GET', `/chats?sessionId=${sessionId}`);
    const { lastMessage } = chats.data.find(({ chatId }: Answer['body']) => chatId === bob.number);
    assert.deepEqual(
      [listed.data[0].networkId, found.data[0].networkId, lastMessage.networkId],
      Array(3).fill(networkId),
    );

    const contextInfo = { stanzaId: networkId, participant: me.lidJid, quotedMessage: { conversation: 'correlated' } };
    await bob.send(me.number, { extendedTextMessage: { text: 'about that', contextInfo } });
    const reply = await eventOf(call, 'message.incoming', ({ message }) => message === 'about that');
    assert.equal(reply.replyTo, messageId);
    await bob.send(me.number, { reactionMessage: { key: { id: networkId, remoteJid: me.lidJid }, text: '🧭' } });
    bob.read(me.number, networkId);
    await eventually(
      async () => (await call('GET', `/messages/${messageId}`)).body,
      ({ status, reactions, networkId: shown }) =>
        status === 'read' && reactions?.[0]?.emoji === '🧭' && shown === networkId,
    );
  });

  it('shows no id of the network before the message is sent', async () => {
    const sendAt = new Date(Date.now() + 3_600_000).toISOString();
    const body = { sessionId, to: bob.number, message: 'later', sendAt };
    const scheduled = await setting.call('POST', '/messages/send', body);
    assert.deepEqual([scheduled.status, scheduled.body.networkId], [201, undefined]);
  });

  it('sends a reply with its original, and mentions', async () => {
    await bob.sendText(me.number, 'a question');
    const { messageId } = await eventOf(setting.call, 'message.incoming', ({ message }) => message === 'a question');
    const { got } = await sendBob('/messages/send', {
      message: `an answer, @${bob.number}`,
      replyTo: messageId,
      mentions: [bob.number],
    });
    const context = got.extendedTextMessage?.contextInfo;
    assert.equal(context?.quotedMessage?.conversation, 'a question');
    assert.equal(context?.participant, bob.lidJid, 'the address that the original had');
    assert.deepEqual(context?.mentionedJid, [bob.numberJid]);
  });

  it('sends a location, a contact and a poll', async () => {
    const { got: place } = await sendBob('/messages/send-location', { latitude: 52.5, longitude: 13.4, name: 'Here' });
    assert.equal(place.locationMessage?.degreesLatitude, 52.5);
    assert.equal(place.locationMessage?.name, 'Here');
    const { got: card } = await sendBob('/messages/send-contact', { name: 'Ada, L.', phoneNumbers: ['491701112223'] });
    assert.match(card.contactMessage?.vcard ?? '', /waid=491701112223/);
    const { got: poll } = await sendBob('/messages/send-poll', { question: 'When?', options: ['Today', 'Later'] });
    const asked = poll.pollCreationMessage ?? poll.pollCreationMessageV3;
    assert.equal(asked?.name, 'When?');
    assert.deepEqual(
      asked?.options?.map(({ optionName }: { optionName?: string }) => optionName),
      ['Today', 'Later'],
    );
  });

  it('encrypts an uploaded file, which can be downloaded unchanged', async () => {
    const { server, call } = setting;
    const { token } = setting;
    const content = picture();
    const { body: file } = await upload(server, token, content, { headers: { 'content-type': 'image/png' } });
    const { got } = await sendBob('/messages/send-media', { type: 'image', mediaId: file.mediaId, caption: 'Look' });
    assert.equal(got.imageMessage?.caption, 'Look');
    assert.deepEqual(Buffer.from(got.imageMessage?.fileSha256 ?? []), createHash('sha256').update(content).digest());
    // The same file sent back, which proves that the network stores what was uploaded.
    await bob.send(me.number, { imageMessage: { ...got.imageMessage, caption: 'Seen' } });
    const incoming = await eventOf(call, 'message.incoming', ({ message }) => message === 'Seen');
    assert.equal(incoming.type, 'image');
    assert.equal(incoming.media.size, content.length);
    const { bytes } = await download(server, token, incoming.media.mediaId);
    assert.deepEqual(bytes, content);
  });

  it('sends a reaction, an edit, a deletion and a forward', async () => {
    const { sent } = await sendBob('/messages/send', { message: 'frist' });
    const id = wireIdOf(sent.messageId);
    const { call } = setting;
    await call('PATCH', `/messages/${sent.messageId}`, { message: 'first' });
    const edit = await bob.messages.waitFor(
      ({ message }) => message.protocolMessage?.editedMessage != null || message.editedMessage != null,
    );
    const change = edit.message.protocolMessage ?? edit.message.editedMessage?.message?.protocolMessage;
    assert.equal(change?.key?.id, id);
    assert.equal((await call('PUT', `/messages/${sent.messageId}/reaction`, { emoji: '👍' })).status, 200);
    const reaction = await bob.messages.waitFor(({ message }) => message.reactionMessage != null);
    assert.equal(reaction.message.reactionMessage?.key?.id, id);
    const forwarded = await call('POST', `/messages/${sent.messageId}/forward`, { to: bob.number });
    const copy = await bob.messages.waitFor((one) => one.id === wireIdOf(forwarded.body.messageId));
    assert.equal(copy.message.extendedTextMessage?.contextInfo?.isForwarded, true);
    assert.equal((await call('DELETE', `/messages/${sent.messageId}`)).status, 200);
    const revoked = await bob.messages.waitFor(({ message }) => message.protocolMessage?.type === 0);
    assert.equal(revoked.message.protocolMessage?.key?.id, id);
  });

  it('sends each type of file as such', async () => {
    const { server, token } = setting;
    const kinds = {
      video: [samples.video, 'videoMessage'],
      audio: [samples.audio, 'audioMessage'],
      voice: [samples.voice, 'audioMessage'],
      document: [Buffer.from('%PDF-1.4\n'), 'documentMessage'],
      sticker: [samples.sticker, 'stickerMessage'],
    } as const;
    for (const [type, [content, field]] of Object.entries(kinds)) {
      const { body: file } = await upload(server, token, content);
      const { sent, got } = await sendBob('/messages/send-media', { type, mediaId: file.mediaId });
      const part = got.documentWithCaptionMessage?.message?.[field] ?? got[field];
      assert.ok(part, `${type}: ${Object.keys(got)}`);
      if (type === 'voice') assert.equal(part.ptt, true);
      const received = await bob.messages.waitFor(({ id }) => id === wireIdOf(sent.messageId));
      assert.deepEqual(bob.openFile(received), content);
    }
  });

  it('states what apps show of a file before they download it, and stores what others state', async () => {
    const { server, token, call } = setting;
    const speech = (await upload(server, token, sampleMedia('tone.mp3'))).body;
    const { got: voice } = await sendBob('/messages/send-media', { type: 'voice', mediaId: speech.mediaId });
    assert.deepEqual(
      [voice.audioMessage?.mimetype, voice.audioMessage?.seconds, voice.audioMessage?.waveform?.length],
      ['audio/ogg; codecs=opus', 2, 64],
    );
    const clip = (await upload(server, token, sampleMedia('clip.mp4'))).body;
    const { got: video } = await sendBob('/messages/send-media', { type: 'video', mediaId: clip.mediaId });
    const { width, height, seconds, jpegThumbnail } = video.videoMessage ?? {};
    assert.deepEqual([width, height, seconds], [64, 48, 2]);
    assert.equal((await sharp(jpegThumbnail ?? undefined).metadata()).format, 'jpeg');

    const states = { caption: 'stated', width: 640, height: 4_000_000_000, seconds: 7 };
    await bob.sendFile(me.number, 'video', Buffer.from('a film with facts'), states);
    const incoming = await eventOf(call, 'message.incoming', ({ message }) => message === 'stated');
    const { mediaFacts } = (await call('GET', `/messages/${incoming.messageId}`)).body;
    assert.deepEqual(mediaFacts, { durationSeconds: 7 }, 'a size that is impossible is ignored');
  });

  it('fails a message whose upload the network rejects', async () => {
    const { whatsapp, server, token, call } = setting;
    const { body: file } = await upload(server, token, picture(), { headers: { 'content-type': 'image/png' } });
    whatsapp.faults.refuseUploads(500);
    try {
      const { status, body } = await call('POST', '/messages/send-media', {
        sessionId,
        to: bob.number,
        type: 'image',
        mediaId: file.mediaId,
      });
      assert.equal(status, 502, JSON.stringify(body));
    } finally {
      whatsapp.faults.refuseUploads(undefined);
    }
  });

  it('counts votes in a poll, including changed ones', async () => {
    const { call } = setting;
    const { sent, got } = await sendBob('/messages/send-poll', { question: 'Who?', options: ['You', 'Me', 'Both'] });
    const secret = got.messageContextInfo?.messageSecret;
    assert.ok(secret);
    const id = wireIdOf(sent.messageId);
    const vote = (options: string[]) =>
      bob.send(me.number, {
        pollUpdateMessage: {
          pollCreationMessageKey: { id, fromMe: false, remoteJid: me.lidJid },
          vote: sealVote(options, { pollId: id, secret, author: me.lidJid, voter: bob.lidJid }),
          senderTimestampMs: Date.now(),
        },
      });
    const read = async () => (await call('GET', `/messages/${sent.messageId}`)).body;
    await vote(['Me']);
    await eventually(read, ({ votes }) => votes?.[0]?.options?.[0] === 'Me');
    await vote(['Both']);
    const { votes } = await eventually(read, (message) => message.votes?.[0]?.options?.[0] === 'Both');
    assert.deepEqual(
      votes.map(({ from, options }: Answer['body']) => [from, options]),
      [[bob.number, ['Both']]],
    );
  });

  it('rejects a recipient who is not on WhatsApp before sending', async () => {
    const { status, body } = await setting.call('POST', '/messages/send', {
      sessionId,
      to: '4917012345678',
      message: 'hi',
    });
    assert.equal(status, 422);
    assert.equal(body.code, 'recipient_not_on_network');
  });

  it('fails a message that the server rejects, with a reason', async () => {
    setting.whatsapp.faults.refuseNextMessage(me.number, 421);
    const { status, body } = await setting.call('POST', '/messages/send', { sessionId, to: bob.number, message: 'no' });
    assert.equal(status, 502);
    assert.match(body.detail, /does not accept this type of message/);
  });

  it('becomes sent on the acknowledgement only, and once, even over a broken connection', async () => {
    const { whatsapp, call } = setting;
    whatsapp.faults.withholdAcks(me.number);
    bob.confirmsDelivery = false;
    const sending = call('POST', '/messages/send', { sessionId, to: bob.number, message: 'patience' });
    await bob.messages.waitFor(({ message }) => message.extendedTextMessage?.text === 'patience');
    const { body: page } = await call('GET', `/messages?sessionId=${sessionId}&status=queued`);
    assert.equal(page.data[0].message, 'patience');
    whatsapp.faults.drop(me.number);
    whatsapp.faults.releaseAcks(me.number);
    const { body } = await sending;
    assert.equal(body.status, 'sent');
    const copies = bob.messages.all.filter(({ message }) => message.extendedTextMessage?.text === 'patience');
    assert.equal(new Set(copies.map(({ id }) => id)).size, 1);
    bob.confirmsDelivery = true;
    await inStatus(call, sessionId, 'connected');
  });

  it('becomes sent without an acknowledgement if the recipient received it', async () => {
    const { whatsapp, call } = setting;
    whatsapp.faults.withholdAcks(me.number);
    const { status, body } = await call('POST', '/messages/send', { sessionId, to: bob.number, message: 'got it?' });
    whatsapp.faults.releaseAcks(me.number);
    assert.equal(status, 201, JSON.stringify(body));
    await eventOf(call, 'message.delivered', ({ messageId }) => messageId === body.messageId);
    const { data } = (await call('GET', '/events?events=message.sent&limit=200')).body;
    assert.equal(data.filter(({ data }: Answer['body']) => data.messageId === body.messageId).length, 1);
  });

  const breaks: Record<string, (number: string) => void> = {
    'breaks off': (number) => setting.whatsapp.faults.drop(number),
    'is ended by the server': (number) => setting.whatsapp.faults.endStream(number, 'unavailable'),
  };
  for (const [title, end] of Object.entries(breaks)) {
    it(`goes out on the next connection if one ${title} while its recipient is looked up`, async () => {
      const { whatsapp, call } = setting;
      const carol = nextPhone(whatsapp);
      const asked = async () => whatsapp.counters.queries['usync'] ?? 0;
      const before = await asked();
      whatsapp.faults.ignoreQueries('usync');
      const sending = call('POST', '/messages/send', { sessionId, to: carol.number, message: 'are you there?' });
      await eventually(asked, (now) => now > before);
      end(me.number);
      whatsapp.faults.answerQueries();
      const { status, body } = await sending;
      assert.deepEqual([status, body.status], [201, 'sent'], JSON.stringify(body));
      await carol.messages.waitFor(({ id }) => id === wireIdOf(body.messageId));
      await inStatus(call, sessionId, 'connected');
    });
  }

  it('waits for the acknowledgement of its last message before disconnecting', async () => {
    const { whatsapp, call } = setting;
    whatsapp.faults.withholdAcks(me.number);
    const sending = call('POST', '/messages/send', { sessionId, to: bob.number, message: 'last words' });
    await bob.messages.waitFor(({ message }) => message.extendedTextMessage?.text === 'last words');
    const disconnecting = call('POST', `/sessions/${sessionId}/disconnect`);
    // Once it has no more calls, it is on its way.
    await eventually(
      () => call('POST', `/chats/${bob.number}/typing`, { sessionId, state: 'typing' }),
      ({ body }) => body.code === 'session_not_connected',
    );
    whatsapp.faults.releaseAcks(me.number);
    assert.equal((await sending).body.status, 'sent');
    assert.equal((await disconnecting).body.status, 'disconnected');
    await call('POST', `/sessions/${sessionId}/connect`);
    await inStatus(call, sessionId, 'connected');
  });

  it('resends a message that the recipient could not decrypt', async () => {
    const { sent } = await sendBob('/messages/send', { message: 'say again' });
    const first = await bob.messages.waitFor(({ id }) => id === wireIdOf(sent.messageId));
    await bob.askAgain(first);
    await bob.messages.waitFor((one) => one !== first && one.id === first.id);
  });

  it('resends an edited message as edited, and a message that was deleted for everyone not at all', async () => {
    const { call } = setting;
    const { sent } = await sendBob('/messages/send', { message: 'the first text' });
    const first = await bob.messages.waitFor(({ id }) => id === wireIdOf(sent.messageId));
    const edit = async (message: string) => {
      assert.equal((await call('PATCH', `/messages/${sent.messageId}`, { message })).status, 200);
      return bob.messages.waitFor((one) => textOf(one.message.protocolMessage?.editedMessage) === message);
    };
    const firstEdit = await edit('the second text');
    const secondEdit = await edit('the third text');
    await bob.askAgain(first);
    const resent = await bob.messages.waitFor((one) => one !== first && one.id === first.id);
    assert.equal(textOf(resent.message), 'the third text');

    assert.equal((await call('DELETE', `/messages/${sent.messageId}`)).status, 200);
    await bob.messages.waitFor((one) => one.message.protocolMessage?.key?.id === first.id && !isEdit(one.message));
    const { sent: marker } = await sendBob('/messages/send', { message: 'a later one' });
    const later = await bob.messages.waitFor(({ id }) => id === wireIdOf(marker.messageId));
    const before = bob.messages.all.length;
    for (const one of [first, firstEdit, secondEdit]) await bob.askAgain(one);
    await bob.askAgain(later);
    await bob.messages.waitFor((one) => one !== later && one.id === later.id);
    assert.deepEqual(
      bob.messages.all.slice(before).map(({ id }) => id),
      [later.id],
    );
  });

  it('does not resend the original while its edit or deletion is not confirmed', async () => {
    const { call, whatsapp } = setting;
    const { sent } = await sendBob('/messages/send', { message: 'the first text' });
    const first = await bob.messages.waitFor(({ id }) => id === wireIdOf(sent.messageId));
    whatsapp.faults.withholdAcks(me.number);
    const editing = call('PATCH', `/messages/${sent.messageId}`, { message: 'the new text' });
    await bob.messages.waitFor((one) => textOf(one.message.protocolMessage?.editedMessage) === 'the new text');
    await bob.askAgain(first);
    const resent = await bob.messages.waitFor((one) => one !== first && one.id === first.id);
    assert.equal(textOf(resent.message), 'the new text');
    whatsapp.faults.releaseAcks(me.number);
    assert.equal((await editing).status, 200);

    const { sent: marker } = await sendBob('/messages/send', { message: 'a later one' });
    const later = await bob.messages.waitFor(({ id }) => id === wireIdOf(marker.messageId));
    whatsapp.faults.withholdAcks(me.number);
    const deleting = call('DELETE', `/messages/${sent.messageId}`);
    await bob.messages.waitFor((one) => one.message.protocolMessage?.key?.id === first.id && !isEdit(one.message));
    const before = bob.messages.all.length;
    await bob.askAgain(first);
    await bob.askAgain(later);
    await bob.messages.waitFor((one) => one !== later && one.id === later.id);
    assert.deepEqual(
      bob.messages.all.slice(before).map(({ id }) => id),
      [later.id],
    );
    whatsapp.faults.releaseAcks(me.number);
    assert.equal((await deleting).status, 200);
  });

  it('resends the original after the network refused its deletion', async () => {
    const { call, whatsapp } = setting;
    const { sent } = await sendBob('/messages/send', { message: 'it stays' });
    const first = await bob.messages.waitFor(({ id }) => id === wireIdOf(sent.messageId));
    whatsapp.faults.refuseNextMessage(me.number, 403);
    assert.equal((await call('DELETE', `/messages/${sent.messageId}`)).body.code, 'network_denied');
    await bob.askAgain(first);
    const resent = await bob.messages.waitFor((one) => one !== first && one.id === first.id);
    assert.equal(textOf(resent.message), 'it stays');
  });
});

describe('incoming', () => {
  it('shows the content of each type', async () => {
    const { call } = setting;
    await bob.send(me.number, { locationMessage: { degreesLatitude: 1.5, degreesLongitude: 2.5, name: 'There' } });
    const place = await eventOf(call, 'message.incoming', ({ type }) => type === 'location');
    assert.deepEqual(place.location, { latitude: 1.5, longitude: 2.5, name: 'There' });
    const vcard = 'BEGIN:VCARD\nVERSION:3.0\nFN:Ada\nTEL;type=CELL;waid=491701112223:+49 170 1112223\nEND:VCARD';
    await bob.send(me.number, { contactMessage: { displayName: 'Ada', vcard } });
    const card = await eventOf(call, 'message.incoming', ({ type }) => type === 'contact');
    assert.deepEqual(card.contact, { name: 'Ada', phoneNumbers: ['491701112223'] });
    const options = [{ optionName: 'a' }, { optionName: 'b' }];
    await bob.send(me.number, { pollCreationMessageV3: { name: 'Which?', options, selectableOptionsCount: 0 } });
    const poll = await eventOf(call, 'message.incoming', ({ type }) => type === 'poll');
    assert.deepEqual(poll.poll, { options: ['a', 'b'], maxSelections: 2 });
    const singleSelectReply = { selectedRowId: 'row-2' };
    await bob.send(me.number, { listResponseMessage: { title: 'The second', singleSelectReply } });
    const chosen = await eventOf(call, 'message.incoming', ({ message }) => message === 'The second');
    assert.equal(chosen.payload, 'row-2');
    await bob.send(me.number, { ephemeralMessage: { message: { extendedTextMessage: { text: 'it will vanish' } } } });
    await eventOf(call, 'message.incoming', ({ message }) => message === 'it will vanish');
  });

  it('requests a file that the network deleted from its sender', async () => {
    const { whatsapp, server, call, token } = setting;
    const content = picture();
    whatsapp.faults.loseNextUpload();
    await bob.sendFile(me.number, 'image', content, { caption: 'later' });
    const { media } = await eventOf(call, 'message.incoming', ({ message }) => message === 'later');
    assert.deepEqual((await download(server, token, media.mediaId)).bytes, content);
  });

  it('shows the caption of a file that is unavailable', async () => {
    const { whatsapp, call } = setting;
    whatsapp.faults.refuseDownloads(503);
    try {
      await bob.sendFile(me.number, 'document', Buffer.from('%PDF-1.4'), { caption: 'without' });
      const event = await eventOf(call, 'message.incoming', ({ message }) => message === 'without');
      assert.equal(event.type, 'document');
      assert.equal(event.media, undefined);
    } finally {
      whatsapp.faults.refuseDownloads(undefined);
    }
  });

  it('links a reply to a message that the session sent', async () => {
    const { sent } = await sendBob('/messages/send', { message: 'a question of ours' });
    const contextInfo = { stanzaId: wireIdOf(sent.messageId), participant: me.lidJid };
    await bob.send(me.number, { extendedTextMessage: { text: 'an answer to ours', contextInfo } });
    const answer = await eventOf(setting.call, 'message.incoming', ({ message }) => message === 'an answer to ours');
    assert.equal(answer.replyTo, sent.messageId);
  });

  it('applies edits, reactions and deletions', async () => {
    const { call } = setting;
    const id = await bob.sendText(me.number, 'teh text');
    const { messageId } = await eventOf(call, 'message.incoming', ({ message }) => message === 'teh text');
    const key = { id, fromMe: true, remoteJid: me.lidJid };
    await bob.send(me.number, { protocolMessage: { type: 14, key, editedMessage: { conversation: 'the text' } } });
    const read = async () => (await call('GET', `/messages/${messageId}`)).body;
    await eventually(read, ({ message }) => message === 'the text');
    await bob.send(me.number, { reactionMessage: { key, text: '🎉' } });
    await eventually(read, ({ reactions }) => reactions?.[0]?.emoji === '🎉');
    await bob.send(me.number, { protocolMessage: { type: 0, key } });
    await eventually(read, ({ deleted }) => deleted === true);
  });

  it('reports a view-once message without its content', async () => {
    const content = [stanza('unavailable', { type: 'view_once' })];
    setting.whatsapp.inject(me.number, stanza('message', envelope('SEENONCE'), content));
    const event = await eventOf(setting.call, 'message.incoming', ({ message }) => /View-once/.test(message));
    assert.equal(event.from, bob.number);
  });

  it('receives the content of an empty message from the phone', async () => {
    const { whatsapp, call } = setting;
    whatsapp.inject(me.number, stanza('message', envelope('EMPTY'), [stanza('unavailable')]));
    await bob.sendText(me.number, 'behind the empty one');
    await eventOf(call, 'message.incoming', ({ message }) => message === 'behind the empty one');
    const resent = proto.WebMessageInfo.encode({
      key: { id: 'EMPTY', remoteJid: bob.lidJid, fromMe: false },
      message: { conversation: 'I saw your advertisement' },
    }).finish();
    const { PEER_DATA_OPERATION_REQUEST_RESPONSE_MESSAGE: type } = proto.Message.ProtocolMessage.Type;
    const result = { placeholderMessageResendResponse: { webMessageInfoBytes: resent } };
    await me.send(me.number, {
      protocolMessage: {
        type,
        peerDataOperationRequestResponseMessage: { stanzaId: 'REQUEST', peerDataOperationResult: [result] },
      },
    });
    const event = await eventOf(call, 'message.incoming', ({ message }) => message === 'I saw your advertisement');
    assert.equal(event.from, bob.number);
  });

  /** An envelope from Bob that does not reveal its content. */
  const envelope = (id: string) => ({
    id,
    from: bob.lidJid,
    sender_pn: bob.numberJid,
    type: 'text',
    t: String(Math.floor(Date.now() / 1000)),
  });

  it('reports a message delivered twice once', async () => {
    setting.whatsapp.faults.duplicateNext(me.number);
    await bob.sendText(me.number, 'only once');
    await bob.sendText(me.number, 'and then this');
    await eventOf(setting.call, 'message.incoming', ({ message }) => message === 'and then this');
    const { body } = await setting.call('GET', '/events?events=message.incoming&limit=200');
    assert.equal(body.data.filter(({ data }: Answer['body']) => data.message === 'only once').length, 1);
  });

  it('keeps both messages if a sender reuses an id of another sender', async () => {
    const carol = nextPhone(setting.whatsapp, 'Carol');
    const id = await bob.sendText(me.number, 'from Bob');
    await carol.sendText(me.number, 'from Carol', { id });
    await eventOf(setting.call, 'message.incoming', ({ message }) => message === 'from Bob');
    const { messageId } = await eventOf(setting.call, 'message.incoming', ({ message }) => message === 'from Carol');
    await carol.send(me.number, {
      protocolMessage: {
        type: proto.Message.ProtocolMessage.Type.REVOKE,
        key: { id, remoteJid: me.lidJid, fromMe: true },
      },
    });
    const { body } = await eventually(
      () => setting.call('GET', '/messages?direction=incoming'),
      ({ body }) => body.data.some((one: Answer['body']) => one.messageId === messageId && one.deleted),
    );
    assert.ok(body.data.some(({ message }: Answer['body']) => message === 'from Bob'));
  });

  it('requests a message that cannot be decrypted again, and reports it then', async () => {
    await bob.sendText(me.number, 'garbled at first', { isCorrupt: true });
    await eventOf(setting.call, 'message.incoming', ({ message }) => message === 'garbled at first');
  });

  it('reports messages that arrived while the session was away once, as replayed, with their own time', async () => {
    const { call } = setting;
    await call('POST', `/sessions/${sessionId}/disconnect`);
    const before = Date.now();
    await bob.sendText(me.number, 'while you were out');
    await call('POST', `/sessions/${sessionId}/connect`);
    const data = await eventOf(call, 'message.incoming', ({ message }) => message === 'while you were out');
    assert.equal(data.replayed, true);
    assert.ok(Math.abs(Date.parse(data.timestamp) - before) < 5000);
    await inStatus(call, sessionId, 'connected');
  });

  it('sends read receipts and typing indicators', async () => {
    const { call } = setting;
    const id = await bob.sendText(me.number, 'have you read this?');
    await eventOf(call, 'message.incoming', ({ message }) => message === 'have you read this?');
    assert.equal((await call('POST', `/chats/${bob.number}/read`, { sessionId })).status, 200);
    await bob.receipts.waitFor((receipt) => receipt.id === id && receipt.type === 'read');
    assert.equal((await call('POST', `/chats/${bob.number}/typing`, { sessionId, state: 'typing' })).status, 200);
    await bob.typings.waitFor(({ state }) => state === 'composing');
  });
});

describe('people', () => {
  it('checks and blocks numbers', async () => {
    const { call } = setting;
    const { body } = await call(
      'GET',
      `/contacts/check?sessionId=${sessionId}&phoneNumbers=${bob.number}&phoneNumbers=4917099999999`,
    );
    assert.deepEqual(
      body.data.map(({ onNetwork }: { onNetwork: boolean }) => onNetwork),
      [true, false],
    );
    const carol = nextPhone(setting.whatsapp, 'Carol');
    assert.equal((await call('PUT', `/contacts/${carol.number}/blocked`, { sessionId, blocked: true })).status, 200);
    await carol.sendText(me.number, 'let me in');
    assert.equal((await call('PUT', `/contacts/${carol.number}/blocked`, { sessionId, blocked: false })).status, 200);
    await carol.sendText(me.number, 'thank you');
    await eventOf(call, 'message.incoming', ({ message }) => message === 'thank you');
    const { body: events } = await call('GET', '/events?events=message.incoming&limit=200');
    assert.ok(!events.data.some(({ data }: Answer['body']) => data.message === 'let me in'));
    for (const nobody of ['4917099999999', '000123456789']) {
      const { status, body } = await call('PUT', `/contacts/${nobody}/blocked`, { sessionId, blocked: false });
      assert.deepEqual([status, body.code], [422, 'recipient_not_on_network']);
    }
    const block = { sessionId, blocked: true };
    const { body: absent } = await call('PUT', '/contacts/4917099999999/blocked', block);
    assert.equal(absent.code, 'recipient_not_on_network');
    const { body: unknown } = await call('PUT', '/contacts/000123456789/blocked', block);
    assert.equal(unknown.code, 'recipient_not_on_network');
  });

  it('recognizes a sender by number and by LID as one person', async () => {
    const { call } = setting;
    await bob.sendText(me.number, 'by number', { addressing: 'number' });
    const one = await eventOf(call, 'message.incoming', ({ message }) => message === 'by number');
    await bob.sendText(me.number, 'by LID', { addressing: 'lid' });
    const other = await eventOf(call, 'message.incoming', ({ message }) => message === 'by LID');
    assert.deepEqual([one.from, other.from], [bob.number, bob.number]);
    assert.equal(one.chatId, other.chatId);
  });
});

it('the fake server recorded no errors', () => assert.deepEqual(setting.whatsapp.troubles, []));
