import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { createLog } from '../../src/log.ts';
import { describeOnEachDeployment } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { NOBODY, SILENT, startFakeGraphs } from '../support/fakeGraph/fakeGraph.ts';
import { download, picture, upload } from '../support/media/media.ts';
import { type Answer, type Call, eventOf, startServer, type TestServer } from '../support/server.ts';

const ADA = '4915112345678';
const GIF = Buffer.from(
  '47494638396101000100800000000000ffffff21f90401000000002c00000000010001000002024401003b',
  'hex',
);

describeOnEachDeployment('WhatsApp Cloud API', (_, database) => {
  let graphs: Awaited<ReturnType<typeof startFakeGraphs>>;
  let server: TestServer;
  const lines: string[] = [];

  before(async () => {
    graphs = await startFakeGraphs();
    const log = createLog('trace', { write: (line) => void lines.push(line) });
    server = await startServer({ database, log, env: { WHATSAPP_CLOUD_URL: graphs.url } });
  });
  after(async () => {
    await server.stop();
    await graphs.close();
  });

  /** An account with one connected session on a number of its own. */
  async function connected() {
    const graph = graphs.add();
    const { call, token } = await server.account();
    const session = await call('POST', '/sessions', { connector: 'whatsapp-cloud', options: graph.options });
    assert.equal(session.status, 201, JSON.stringify(session.body));
    const { sessionId, callbackUrl } = session.body;
    graph.callBackAt(server.url + callbackUrl);
    const { body } = await call('POST', `/sessions/${sessionId}/connect`);
    assert.equal(body.status, 'connected', JSON.stringify(body));
    const send = (message: string, to = ADA) => call('POST', '/messages/send', { to, message });
    const statusOf = async (messageId: string) => (await call('GET', `/messages/${messageId}`)).body.status;
    return { graph, call, token, sessionId, send, statusOf };
  }
  const kindsOf = async (call: Call, messageId: string) => {
    const { body } = await call('GET', '/events?limit=200');
    return body.data
      .filter(({ data }: Answer['body']) => data.messageId === messageId)
      .map(({ kind, event }: Answer['body']) => kind ?? event);
  };

  it('connects a number that responds, and never shows or logs its secrets', async () => {
    const { graph, call, sessionId, send } = await connected();
    await send('Hello');
    await graph.challenge(graph.options.verifyToken);
    await call('POST', `/sessions/${sessionId}/disconnect`);
    assert.equal((await graph.challenge(graph.options.verifyToken)).status, 409);
    const { body } = await call('GET', `/sessions/${sessionId}`);
    assert.equal(body.phoneNumber, graph.phoneNumber);
    assert.deepEqual(body.options, { phoneNumberId: graph.options.phoneNumberId });
    const { token, appSecret, verifyToken } = graph.options;
    const seen = lines.join('') + JSON.stringify([body, (await call('GET', '/sessions')).body]);
    for (const secret of [token, appSecret, verifyToken]) assert.ok(!seen.includes(secret));
  });

  it('a message becomes sent, delivered and read, in whatever order the network reports it', async () => {
    const { graph, call, send, statusOf } = await connected();
    graph.confirm(false);
    const { status, body } = await send('Grüße');
    assert.deepEqual([status, body.status], [201, 'sent']);
    const [sent = assert.fail()] = graph.sent;
    assert.equal(sent.body.text.body, 'Grüße');
    for (const step of ['read', 'sent', 'delivered', 'delivered']) {
      assert.equal(await graph.post({ statuses: [graph.statusOf(sent, step)] }), 200);
      assert.equal(await statusOf(body.messageId), 'read', `after ${step}`);
    }
    const kinds = await eventually(
      () => kindsOf(call, body.messageId),
      (all) => all.length >= 3,
    );
    assert.deepEqual(kinds, ['message.sent', 'message.delivered', 'message.read']);
  });

  it('changes the about text and picture of a number, and rejects other profile fields before any change', async () => {
    const { graph, call, token, sessionId } = await connected();
    const change = (fields: object) => call('PATCH', `/sessions/${sessionId}/profile`, fields);
    const content = picture();
    const pictureMediaId = (await upload(server, token, content)).body.mediaId;
    const { status, body } = await change({ about: 'Grüße ✓', pictureMediaId });
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual([graph.profile.about, graph.profile.picture], ['Grüße ✓', content]);

    graph.refuseName();
    const refusals: [object, string, RegExp][] = [
      [{ about: 'not this', name: 'Shop' }, 'not_supported', /change it in the WhatsApp Manager.*cannot be changed/],
      [{ about: 'not this', pictureMediaId: null }, 'not_supported', /cannot remove the picture/],
      [{ about: '' }, 'not_supported', /empty/],
      [
        { about: 'not this', pictureMediaId: (await upload(server, token, GIF)).body.mediaId },
        'unsupported_media_type',
        /JPEG and PNG/,
      ],
    ];
    for (const [fields, code, words] of refusals) {
      const refused = (await change(fields)).body;
      assert.equal(refused.code, code, JSON.stringify(refused));
      assert.match(refused.detail, words);
    }
    const others = (await call('GET', `/contacts/${ADA}/profile`)).body;
    assert.deepEqual([others.code, /does not provide contact profiles/.test(others.detail)], ['not_supported', true]);
    assert.equal(graph.profile.about, 'Grüße ✓');
  });

  it('a token that cannot change the profile can still send', async () => {
    const { graph, call, sessionId, send } = await connected();
    graph.failNext({ code: 200, status: 403, details: 'Permissions error' });
    const { body } = await call('PATCH', `/sessions/${sessionId}/profile`, { about: 'Open' });
    assert.deepEqual([body.code, body.detail], ['network_denied', 'WhatsApp says: Permissions error (200)']);
    assert.equal((await send('Still here')).status, 201);
    graph.expireToken();
    const { body: ended } = await call('PATCH', `/sessions/${sessionId}/profile`, { about: 'Open' });
    assert.equal(ended.code, 'session_not_connected');
    assert.equal((await call('GET', `/sessions/${sessionId}`)).body.status, 'disconnected');
  });

  it('shows the id of the network for a message in both directions', async () => {
    const { graph, call, send } = await connected();
    const { body } = await send('Where are you?');
    assert.deepEqual([body.networkId], [graph.sent.at(-1)?.id]);
    const { body: read } = await call('GET', `/messages/${body.messageId}`);
    assert.equal(read.networkId, body.networkId);
    const wamid = await graph.incoming(ADA, { type: 'text', text: { body: 'On my way' } });
    const { messageId } = await eventOf(call, 'message.incoming', ({ message }) => message === 'On my way');
    assert.equal((await call('GET', `/messages/${messageId}`)).body.networkId, wamid);
  });

  it('fails undeliverable messages with the reason of the network', async () => {
    const { graph, call, send, statusOf } = await connected();
    const { body } = await send('Is anybody there?', NOBODY);
    await graph.settled();
    await eventually(
      () => statusOf(body.messageId),
      (status) => status === 'failed',
    );
    const { error, errorCode } = (await call('GET', `/messages/${body.messageId}`)).body;
    assert.equal(error, 'WhatsApp says: Message undeliverable (131026)');
    assert.equal(errorCode, 'recipient_not_on_network');
  });

  it('accepts only templates after 24 hours without a message from the recipient', async () => {
    const { graph, call, send } = await connected();
    const refused = await send('Are you there?', SILENT);
    assert.deepEqual([refused.status, refused.body.code], [422, 'template_required']);
    const components = [{ type: 'body', parameters: [{ type: 'text', text: 'Ada' }] }];
    const template = { to: SILENT, name: 'still_there', language: 'en_US', components };
    const sent = await call('POST', '/messages/send-template', template);
    assert.deepEqual([sent.status, sent.body.type, sent.body.status], [201, 'template', 'sent']);
    assert.deepEqual(graph.sent.at(-1)?.body.template, {
      name: 'still_there',
      language: { code: 'en_US' },
      components,
    });
  });

  it('accepts only callbacks signed by the app', async () => {
    const { graph, call } = await connected();
    const messages = [{ from: ADA, id: graph.newId(), timestamp: graph.now(), type: 'text', text: { body: 'Hi' } }];
    assert.equal(await graph.post({ messages }, { signWith: 'another secret' }), 403);
    const unsigned = await fetch(graph.callbackUrl, { method: 'POST', body: '{}' });
    assert.equal(unsigned.status, 403);
    assert.equal((await call('GET', '/messages')).body.data.length, 0);
    assert.equal(await graph.post({ messages }), 200);
    assert.equal((await call('GET', '/messages')).body.data.length, 1);
  });

  it('answers the challenge only with the right verify token', async () => {
    const { graph } = await connected();
    assert.deepEqual(await graph.challenge(graph.options.verifyToken), { status: 200, text: '1158201444' });
    assert.equal((await graph.challenge('a guess')).status, 403);
  });

  it('stores a message once, however often it is delivered, and before it is acknowledged', async () => {
    const { graph, call } = await connected();
    const text = { type: 'text', text: { body: 'Schöne Grüße — ✓ </end>' } };
    const id = graph.newId();
    await Promise.all([1, 2, 3].map(() => graph.incoming(ADA, text, { id })));
    const { data } = (await call('GET', '/messages')).body;
    assert.deepEqual(
      data.map(({ from, message }: Answer['body']) => [from, message]),
      [[ADA, text.text.body]],
    );
    const contact = (await call('GET', `/contacts?phoneNumber=${ADA}`)).body.data[0];
    assert.equal(contact.name, 'Ada');
  });

  it('an invalid part of a callback does not affect the others', async () => {
    const { graph, call } = await connected();
    const good = { from: ADA, id: graph.newId(), timestamp: graph.now(), type: 'text', text: { body: 'Hi' } };
    const status = await graph.post([
      { messages: [{ id: 7 }, { ...good, from: undefined, id: graph.newId() }, good] },
      { statuses: [{ status: 'sent' }] },
      { field: 'account_update', event: 'ACCOUNT_RESTRICTION' },
    ]);
    assert.equal(status, 200);
    // The message without a sender is stored under a placeholder, and the one without an id is not a message.
    assert.equal((await call('GET', '/messages')).body.data.length, 2);
    assert.equal((await call('GET', `/messages?from=${ADA}`)).body.data.length, 1);
  });

  it('stores messages that the number sends from its phone as sent, with their statuses', async () => {
    const { graph, call, statusOf } = await connected();
    const echo = { from: graph.phoneNumber, to: `+${ADA}`, timestamp: graph.now() };
    const text = { ...echo, id: graph.newId(), type: 'text', text: { body: 'from the counter' } };
    const image = {
      ...echo,
      id: graph.newId(),
      type: 'image',
      image: { id: graph.keep(GIF, 'image/gif'), caption: 'look' },
    };
    const change = { ...echo, id: graph.newId(), type: 'revoke', revoke: { original_message_id: 'wamid.1' } };
    const report = {
      field: 'smb_message_echoes',
      message_echoes: [text, image, change, { id: 7 }, { ...text, to: undefined }],
    };
    assert.equal(await graph.post(report), 200);
    assert.equal(await graph.post(report), 200);
    const sent = await eventOf(call, 'message.sent', ({ message }) => message === 'from the counter');
    assert.deepEqual([sent.to, sent.chatId, sent.status, sent.sentElsewhere], [ADA, ADA, 'sent', true]);
    assert.equal(sent.from, graph.phoneNumber);
    assert.equal((await eventOf(call, 'message.sent', ({ message }) => message === 'look')).media.size, GIF.length);
    // The echo without a recipient is stored under a placeholder.
    assert.equal((await call('GET', '/messages')).body.data.length, 3);
    assert.equal((await call('GET', `/messages?chatId=${ADA}`)).body.data.length, 2);
    const edit = { original_message_id: text.id, message: { type: 'text', text: { body: 'from the till' } } };
    const changes = [
      { ...echo, id: graph.newId(), type: 'edit', edit },
      { ...echo, id: graph.newId(), type: 'revoke', revoke: { original_message_id: image.id } },
    ];
    assert.equal(await graph.post({ field: 'smb_message_echoes', message_echoes: changes }), 200);
    const { data: changed } = (await call('GET', `/messages?chatId=${ADA}`)).body;
    assert.deepEqual(
      new Set(changed.map(({ message, deleted }: Answer['body']) => [message, deleted === true].join())),
      new Set(['from the till,false', ',true']),
    );
    await graph.post({ statuses: [{ id: text.id, status: 'read', timestamp: graph.now(), recipient_id: ADA }] });
    assert.equal(await statusOf(sent.messageId), 'read');
    const answer = { type: 'text', text: { body: 'thanks' }, context: { id: text.id } };
    await graph.incoming(ADA, answer);
    const thanks = await eventOf(call, 'message.incoming', ({ message }) => message === 'thanks');
    assert.equal(thanks.replyTo, sent.messageId);
  });

  it('stores an edit that removes a caption, and ignores one that removes a text', async () => {
    const { graph, call } = await connected();
    const id = graph.keep(GIF, 'image/gif');
    const networkId = await graph.incoming(ADA, { type: 'image', image: { id, caption: 'the wrong caption' } });
    const textId = await graph.incoming(ADA, { type: 'text', text: { body: 'a text' } });
    const image = { original_message_id: networkId, message: { type: 'image', image: { id } } };
    const text = { original_message_id: textId, message: { type: 'image', image: { id } } };
    for (const edit of [image, text]) await graph.incoming(ADA, { type: 'edit', edit });
    const edited = await eventOf(call, 'message.edited', ({ type }) => type === 'image');
    assert.equal(edited.message, '');
    const { data } = (await call('GET', '/messages?direction=incoming')).body;
    assert.deepEqual(
      data.map(({ type, message, edited: isEdited }: Answer['body']) => [type, message, isEdited]),
      [
        ['text', 'a text', undefined],
        ['image', '', true],
      ],
    );
  });

  it('receives every message type of the network', async () => {
    const { graph, call, token } = await connected();
    const arrived = async (message: object) => {
      const id = await graph.incoming(ADA, message);
      assert.ok(id);
      return (await call('GET', '/messages?direction=incoming&limit=1')).body.data[0];
    };
    const bytes = picture();
    const file = graph.keep(bytes, 'image/png');
    const image = await arrived({ type: 'image', image: { id: file, mime_type: 'image/png', caption: 'Look' } });
    assert.deepEqual([image.type, image.message, image.media.mimeType], ['image', 'Look', 'image/png']);
    assert.deepEqual((await download(server, token, image.media.mediaId)).bytes, bytes);
    const note = graph.keep(Buffer.from('only text'), 'text/plain');
    const document = await arrived({ type: 'document', document: { id: note, filename: 'note.txt' } });
    assert.deepEqual([document.type, document.media.fileName], ['document', 'note.txt']);
    const sound = graph.keep(Buffer.from('OggS and so on'), 'audio/ogg; codecs=opus');
    assert.equal((await arrived({ type: 'audio', audio: { id: sound, voice: true } })).type, 'voice');
    const gone = await arrived({ type: 'video', video: { id: '404404', caption: 'too late' } });
    assert.deepEqual([gone.type, gone.message, gone.media], ['video', 'too late', undefined]);

    const place = await arrived({ type: 'location', location: { latitude: 52.5, longitude: 13.4, name: 'Gate' } });
    assert.deepEqual(place.location, { latitude: 52.5, longitude: 13.4, name: 'Gate' });
    const contacts = [
      { name: { formatted_name: 'Grace' }, phones: [{ phone: '+49 151 1', wa_id: '491511' }] },
      { name: { formatted_name: 'Alan' }, phones: [{ phone: '+49 151 2' }] },
    ];
    const card = await arrived({ type: 'contacts', contacts });
    assert.deepEqual(card.contact, { name: 'Alan', phoneNumbers: ['491512'] });
    const { data } = (await call('GET', '/messages?type=contact')).body;
    assert.deepEqual(
      data.map(({ contact }: Answer['body']) => contact.name),
      ['Alan', 'Grace'],
    );

    const words = async (message: object) => (await arrived(message)).message;
    const reply = { type: 'button_reply', button_reply: { id: 'yes', title: 'Yes, please' } };
    const chosen = await arrived({ type: 'interactive', interactive: reply });
    assert.deepEqual([chosen.type, chosen.message, chosen.payload], ['text', 'Yes, please', 'yes']);
    const pressed = await arrived({ type: 'button', button: { text: 'Stop', payload: 'stop it' } });
    assert.deepEqual([pressed.message, pressed.payload], ['Stop', 'stop it']);
    const items = [{ product_retailer_id: 'tea', quantity: 2, item_price: 3.5, currency: 'EUR' }];
    assert.equal(await words({ type: 'order', order: { product_items: items } }), '2 × tea (3.5 EUR)');
    assert.match(await words({ type: 'unsupported', errors: [{ code: 131051 }] }), /unsupported/);
  });

  it('resolves the targets of replies, reactions and forwards in both directions', async () => {
    const { graph, call, send } = await connected();
    const question = (await send('Tea?')).body;
    const [sent = assert.fail()] = graph.sent;
    const text = { type: 'text', text: { body: 'Yes' }, context: { id: sent.id, from: ADA, forwarded: true } };
    const answerId = await graph.incoming(ADA, text);
    const [answer] = (await call('GET', '/messages?direction=incoming')).body.data;
    assert.deepEqual([answer.replyTo, answer.forwarded], [question.messageId, true]);
    assert.deepEqual(answer.quoted, { messageId: question.messageId, networkId: sent.id, from: ADA });
    const unknown = { type: 'text', text: { body: 'That one' }, context: { id: 'wamid.unknown', from: ADA } };
    await graph.incoming(ADA, unknown);
    const [about] = (await call('GET', '/messages?direction=incoming')).body.data;
    assert.deepEqual([about.replyTo, about.quoted], [undefined, { networkId: 'wamid.unknown', from: ADA }]);

    await graph.incoming(ADA, { type: 'reaction', reaction: { message_id: sent.id, emoji: '👍' } });
    const reacted = (await call('GET', `/messages/${question.messageId}`)).body;
    assert.deepEqual(
      reacted.reactions.map(({ from, emoji }: Answer['body']) => [from, emoji]),
      [[ADA, '👍']],
    );
    await graph.incoming(ADA, { type: 'reaction', reaction: { message_id: sent.id } });
    assert.equal((await call('GET', `/messages/${question.messageId}`)).body.reactions, undefined);

    await call('PUT', `/messages/${answer.messageId}/reaction`, { emoji: '🎉' });
    assert.deepEqual(graph.sent.at(-1)?.body.reaction, { message_id: answerId, emoji: '🎉' });
    await call('POST', '/messages/send', { to: ADA, message: 'Coming', replyTo: answer.messageId });
    assert.equal(graph.sent.at(-1)?.body.context.message_id, answerId);
    await call('POST', '/messages/send', { to: ADA, message: 'Or coffee?', replyTo: question.messageId });
    assert.equal(graph.sent.at(-1)?.body.context.message_id, sent.id);
  });

  it('a sender with a hidden phone number has a placeholder until the number is shown', async () => {
    const { graph, call, statusOf } = await connected();
    const userId = 'US.13491208655302741918';
    const wamid = await graph.incoming(userId, { type: 'text', text: { body: 'Guess who' } });
    const event = await eventOf(call, 'message.incoming');
    const placeholder = event.from;
    assert.match(placeholder, /^000\d{20}$/);
    assert.deepEqual([event.unidentified, event.chatId], [true, placeholder]);
    const [message] = (await call('GET', '/messages')).body.data;
    assert.deepEqual([message.from, message.unidentified, message.chatId], [placeholder, true, placeholder]);
    const contacts = async () =>
      (await call('GET', '/contacts')).body.data.map((one: Answer['body']) => one.phoneNumber);
    assert.deepEqual(await contacts(), [placeholder]);
    const hidden = (await call('GET', `/contacts/${placeholder}`)).body;
    assert.deepEqual([hidden.unidentified, hidden.networkIds], [true, [userId]]);
    await graph.incoming(userId, { type: 'reaction', reaction: { message_id: wamid, emoji: '👍' } });
    const { reactions } = (await call('GET', `/messages/${message.messageId}`)).body;
    assert.equal(reactions[0].from, placeholder);

    assert.equal((await call('POST', `/chats/${placeholder}/typing`, { state: 'typing' })).status, 200);
    const { status, body } = await call('POST', '/messages/send', { to: placeholder, message: 'Ada?' });
    assert.deepEqual([status, body.to, body.chatId], [201, placeholder, placeholder]);
    const sent = graph.sent.at(-1)?.body;
    assert.deepEqual([sent.recipient, sent.to], [userId, undefined]);
    await graph.settled();
    assert.equal(await statusOf(body.messageId), 'delivered');
    const delivered = await eventOf(call, 'message.delivered');
    assert.deepEqual([delivered.to, delivered.chatId], [placeholder, placeholder]);
    await graph.incoming(ADA, { type: 'text', text: { body: 'It is me' } }, { userId });
    const { data } = (await call('GET', `/messages?chatId=${ADA}`)).body;
    assert.deepEqual(
      data.map((one: Answer['body']) => [one.message, one.from, one.to]),
      [
        ['It is me', ADA, graph.phoneNumber],
        ['Ada?', graph.phoneNumber, ADA],
        ['Guess who', ADA, graph.phoneNumber],
      ],
    );
    // Meta repeats an unacknowledged callback unchanged.
    await graph.incoming(userId, { type: 'text', text: { body: 'Guess who' } }, { id: wamid });
    await graph.incoming(ADA, { type: 'text', text: { body: 'And again' } }, { userId });
    assert.equal((await call('GET', `/messages?chatId=${ADA}`)).body.data.length, 4);
    assert.equal((await call('GET', `/messages?chatId=${placeholder}`)).body.data.length, 4, 'the chat goes on');
    for (const name of [placeholder, ADA, `${ADA}@c.us`]) {
      const found = (await call('GET', `/contacts/${name}`)).body;
      assert.deepEqual([found.phoneNumber, found.unidentified, found.networkIds], [ADA, undefined, [ADA, userId]]);
    }
    assert.deepEqual(await contacts(), [ADA]);

    const parent = 'US.ENT.11815799212886844830';
    const text = { id: graph.newId(), timestamp: graph.now(), type: 'text', text: { body: 'Me too' } };
    await graph.post({ contacts: [{ user_id: parent, profile: { name: 'Grace' } }], messages: [text] });
    const other = await eventOf(call, 'message.incoming', ({ message }) => message === 'Me too');
    assert.equal(other.unidentified, true);
    assert.notEqual(other.from, placeholder);
    const unknown = await call('POST', '/messages/send', { to: '00012345678', message: 'Anybody?' });
    assert.deepEqual([unknown.status, unknown.body.code], [422, 'recipient_not_on_network']);
  });

  it('a group created at Meta appears with its first message and accepts messages', async () => {
    const { graph, call, statusOf } = await connected();
    const participants = [{ wa_id: graph.phoneNumber }, { wa_id: ADA }];
    const group = graph.groups.add({
      subject: 'Tea',
      description: 'Daily',
      creation_timestamp: 1_767_225_600,
      participants,
    });
    await Promise.all(
      ['One', 'Two'].map((text) => graph.incoming(ADA, { group_id: group, type: 'text', text: { body: text } })),
    );
    const { groupId } = await eventOf(call, 'group.created');
    assert.equal((await call('GET', '/events?events=group.created')).body.data.length, 1);
    const shown = (await call('GET', `/groups/${groupId}`)).body;
    assert.deepEqual([shown.subject, shown.description, shown.createdAt], ['Tea', 'Daily', '2026-01-01T00:00:00.000Z']);
    // The names come with the messages, which may be stored later.
    assert.deepEqual(
      shown.participants.map(({ phoneNumber, role }: Answer['body']) => [phoneNumber, role]),
      [
        [graph.phoneNumber, 'owner'],
        [ADA, 'member'],
      ],
    );
    const [message, ...more] = (await call('GET', `/messages?chatId=${groupId}`)).body.data;
    assert.deepEqual([message.from, message.chatId, more.length], [ADA, groupId, 1]);

    const { status, body } = await call('POST', '/messages/send', { to: groupId, message: 'Coming' });
    assert.equal(status, 201, JSON.stringify(body));
    const sent = graph.sent.at(-1)?.body;
    assert.deepEqual([sent.recipient_type, sent.to], ['group', group]);
    await graph.settled();
    assert.equal(await statusOf(body.messageId), 'delivered');
    assert.equal((await call('POST', `/chats/${groupId}/read`)).body.code, 'not_supported');
    assert.equal((await call('PATCH', `/groups/${groupId}`, { subject: 'Coffee' })).body.subject, 'Coffee');
  });

  it('uploads files that the network shows unchanged, converts others, and rejects damaged ones', async () => {
    const { graph, call, token } = await connected();
    const bytes = picture();
    const { mediaId } = (await upload(server, token, bytes, { query: '?fileName=a"cat.png' })).body;
    const sendMedia = (fields: object) => call('POST', '/messages/send-media', { to: ADA, ...fields });
    assert.equal((await sendMedia({ type: 'image', mediaId, caption: 'Look' })).status, 201);
    const { image } = graph.sent.at(-1)?.body ?? {};
    assert.equal(image.caption, 'Look');
    assert.deepEqual(graph.files.get(image.id)?.bytes, bytes);
    assert.equal((await sendMedia({ type: 'document', mediaId })).status, 201);
    assert.equal(graph.sent.at(-1)?.body.document.filename, 'a"cat.png');
    const damaged = (await upload(server, token, Buffer.from('GIF89a, and nothing else'))).body.mediaId;
    const wrong = await sendMedia({ type: 'sticker', mediaId: damaged });
    assert.deepEqual([wrong.status, wrong.body.code], [415, 'unsupported_media_type']);
    const large = (await upload(server, token, Buffer.concat([bytes, Buffer.alloc(5 * 1024 * 1024)]))).body.mediaId;
    const smaller = await sendMedia({ type: 'image', mediaId: large });
    assert.deepEqual([smaller.status, smaller.body.media.mimeType], [201, 'image/jpeg']);
    const sticker = await sendMedia({ type: 'sticker', mediaId });
    assert.deepEqual([sticker.status, sticker.body.media.mimeType], [201, 'image/webp']);
    const tooLong = await call('POST', '/messages/send', { to: ADA, message: 'x'.repeat(4097) });
    assert.deepEqual([tooLong.status, tooLong.body.errors[0].field], [400, 'message']);
  });

  it('sends locations and contact cards in the format of the network', async () => {
    const { graph, call } = await connected();
    await call('POST', '/messages/send-location', { to: ADA, latitude: 1.5, longitude: -2, name: 'Here' });
    assert.deepEqual(graph.sent.at(-1)?.body.location, { latitude: 1.5, longitude: -2, name: 'Here' });
    await call('POST', '/messages/send-contact', { to: ADA, name: 'Grace', phoneNumbers: ['491511234567'] });
    const [card] = graph.sent.at(-1)?.body.contacts ?? [];
    assert.deepEqual([card.name.formatted_name, card.phones[0].phone], ['Grace', '+491511234567']);
  });

  it('sends buttons, lists and links in the format of the network', async () => {
    const { graph, call } = await connected();
    const offer = async (fields: object) => {
      const { status, body } = await call('POST', '/messages/send-interactive', {
        to: ADA,
        message: 'Tea?',
        ...fields,
      });
      return { status, body, interactive: graph.sent.at(-1)?.body.interactive };
    };
    const buttons = [
      { id: 'yes', title: 'Yes, please' },
      { id: 'no', title: 'No' },
    ];
    const asked = await offer({ buttons, footer: 'Until five' });
    assert.deepEqual(
      [asked.body.type, asked.body.message, asked.body.interactive.buttons],
      ['interactive', 'Tea?', buttons],
    );
    assert.deepEqual(asked.interactive, {
      type: 'button',
      body: { text: 'Tea?' },
      footer: { text: 'Until five' },
      action: { buttons: buttons.map((reply) => ({ type: 'reply', reply })) },
    });
    const rows = [
      { id: 'green', title: 'Green', section: 'Tea' },
      { id: 'mocha', title: 'Mocha', description: 'strong', section: 'Coffee' },
      { id: 'black', title: 'Black', section: 'Tea' },
    ];
    const list = (await offer({ list: { title: 'Drinks', rows } })).interactive;
    assert.deepEqual(list.action, {
      button: 'Drinks',
      sections: [
        {
          title: 'Tea',
          rows: [
            { id: 'green', title: 'Green' },
            { id: 'black', title: 'Black' },
          ],
        },
        { title: 'Coffee', rows: [{ id: 'mocha', title: 'Mocha', description: 'strong' }] },
      ],
    });
    const link = { title: 'The menu', url: 'https://example.com/menu' };
    assert.deepEqual((await offer({ link })).interactive.action, {
      name: 'cta_url',
      parameters: { display_text: link.title, url: link.url },
    });
    const before = graph.sent.length;
    const refused = [
      {},
      { buttons, link },
      { buttons: [buttons[0], { ...buttons[1], id: 'yes' }] },
      { buttons: [{ id: 'long', title: 'one that is too long for it' }] },
      { buttons: [{ id: 'long', title: 'twenty-one characters' }] },
      { list: { title: 'Drinks', rows: [...rows, { id: 'water', title: 'Water' }] } },
    ];
    for (const fields of refused) assert.equal((await offer(fields)).status, 400, JSON.stringify(fields));
    assert.equal(graph.sent.length, before);
  });

  it('sends read receipts and typing indicators in chats with an incoming message', async () => {
    const { graph, call } = await connected();
    const typing = (state: string) => call('POST', `/chats/${ADA}/typing`, { state });
    assert.equal((await typing('typing')).body.code, 'not_supported', 'there is no incoming message yet');
    await graph.incoming(ADA, { type: 'text', text: { body: 'One' } });
    const last = await graph.incoming(ADA, { type: 'text', text: { body: 'Two' } });
    assert.equal((await typing('typing')).status, 200);
    assert.deepEqual(graph.reads.at(-1)?.typing_indicator, { type: 'text' });
    assert.equal(graph.reads.at(-1)?.message_id, last);
    assert.equal((await typing('recording')).body.code, 'not_supported');
    assert.deepEqual((await call('POST', `/chats/${ADA}/read`)).body.read, 2);
    assert.deepEqual(
      graph.reads.map(({ message_id: id }) => id),
      [last, last],
      'one read receipt for both messages',
    );
  });

  it('blocks contacts who have written, and explains why it cannot block others', async () => {
    const { graph, call } = await connected();
    const block = (number: string, blocked: boolean) => call('PUT', `/contacts/${number}/blocked`, { blocked });
    assert.equal((await block(ADA, true)).body.blocked, true);
    assert.ok(graph.blocked.has(ADA));
    await block(ADA, false);
    assert.ok(!graph.blocked.has(ADA));
    assert.equal((await block(SILENT, true)).body.code, 'not_supported');
  });
});
