import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { samples } from '../../support/media/media.ts';
import { type Call, connectSession, newNumber, startServer, type TestServer } from '../../support/server.ts';
import { newPerson, type Person } from '../support.ts';
import { type Compat, callWaha, startCompat } from './compatProcess.ts';

/*
 * Forms of a chat id, by WAHA's source: `toJID` and `ensureSuffix` (`session.noweb.core.ts` of 2024.10) accept `@c.us`,
 * `@s.whatsapp.net` and bare numbers, and keep `@g.us`, `@newsletter` and `status@broadcast`. Later versions report
 * `@lid` (devlikeapro/waha#2230).
 */

describe('chat ids of WAHA', () => {
  let server: TestServer;
  let person: Person;
  let call: Call;
  let compat: Compat;
  let sessionId: string;
  let group: { groupId: string; networkGroupId: string };
  /** LID of someone who hides their number. */
  let lid: string;
  const friend = newNumber();

  before(async () => {
    server = await startServer();
    person = newPerson();
    ({ call } = await server.account());
    const { key } = (await call('POST', '/api-keys/create', { name: 'compat' })).body;
    sessionId = await connectSession(call, newNumber(), { name: 'sales' });
    group = (await call('POST', '/groups', { sessionId, subject: 'Team', phoneNumbers: [friend] })).body;
    lid = `${newNumber()}@lid`;
    compat = await startCompat(person, { url: server.url, key });
  });
  after(async () => {
    await compat?.running.end('SIGKILL');
    await server?.stop();
    person?.remove();
  });

  const waha = (method: 'GET' | 'POST' | 'PUT', path: string, body?: object) =>
    callWaha(compat.url, { method, path, ...(body && { body: { session: 'sales', ...body } }) });

  async function simulateFrom(from: string, message: string) {
    const { status, body } = await call('POST', `/sessions/${sessionId}/simulate`, {
      action: 'incoming',
      from,
      message,
    });
    assert.ok(status < 300, JSON.stringify(body));
  }

  /** The routes that take a chat. */
  const routes = [
    'sendText',
    'sendImage',
    'sendFile',
    'sendVoice',
    'sendVideo',
    'sendSeen',
    'startTyping',
    'stopTyping',
  ];
  const files: Readonly<Record<string, Buffer>> = {
    sendImage: samples.image,
    sendFile: samples.image,
    sendVoice: samples.voice,
    sendVideo: samples.video,
  };
  const bodyOf = (route: string, chatId: string) => ({
    chatId,
    ...(route === 'sendText' && { text: 'Hello' }),
    ...(files[route] && { file: { data: files[route].toString('base64'), filename: 'file' } }),
  });

  it('accepts a person and a group in every form on every route', async () => {
    await simulateFrom(friend, 'Hello');
    const people = [friend, `+${friend}`, `${friend}@c.us`, `${friend}@s.whatsapp.net`];
    for (const chatId of [...people, group.networkGroupId, group.groupId])
      for (const route of routes) {
        const { status, body } = await waha('POST', `/api/${route}`, bodyOf(route, chatId));
        assert.equal(status, 201, `${route} ${chatId}: ${JSON.stringify(body)}`);
      }
    const sentTo = async (chatId: string) =>
      (await call('GET', `/messages?chatId=${chatId}&limit=200`)).body.data.length;
    assert.deepEqual([await sentTo(friend), await sentTo(group.groupId)], [people.length * 5 + 1, 2 * 5]);
  });

  it('refuses a status, a channel and what is no chat, and points to the API that has them', async () => {
    for (const route of routes) {
      const answers = await Promise.all(
        ['status@broadcast', '1234567890@broadcast', '120363000000000000@newsletter', 'a b@c.us'].map((chatId) =>
          waha('POST', `/api/${route}`, bodyOf(route, chatId)),
        ),
      );
      assert.deepEqual(
        answers.map(({ status }) => status),
        [422, 422, 422, 400],
      );
      assert.match(answers[0]?.body.message, /\/status of Switchboard/);
      assert.match(answers[2]?.body.message, /\/channels of Switchboard/);
    }
    const reaction = { messageId: 'false_status@broadcast_3A6CB612D8516FF6461D_5511965203124@c.us', reaction: '👍' };
    assert.equal((await waha('PUT', '/api/reaction', reaction)).status, 422);
  });

  it('mentions people by number or LID, and everyone', async () => {
    const lastOf = async () => (await call('GET', `/messages?chatId=${group.groupId}&limit=1`)).body.data[0];
    const send = async (more: object) => {
      const { status, body } = await waha('POST', '/api/sendText', { chatId: group.networkGroupId, ...more });
      assert.equal(status, 201, JSON.stringify(body));
      return lastOf();
    };
    const mentioned = await send({ text: `@${friend}`, mentions: [`${friend}@c.us`, `+${friend}`] });
    assert.deepEqual([mentioned.mentions, mentioned.mentionsAll], [[friend], undefined]);
    const everyone = await send({ text: 'All', mentions: ['all'] });
    assert.deepEqual([everyone.mentions, everyone.mentionsAll], [undefined, true]);
    const hidden = await send({ text: `@${lid.split('@')[0]}`, mentions: [lid] });
    assert.notDeepEqual(hidden.mentions, [lid.split('@')[0]], 'the digits of a LID are no phone number');
    const file = { chatId: group.networkGroupId, file: { data: samples.image.toString('base64') }, mentions: ['all'] };
    assert.equal((await waha('POST', '/api/sendImage', file)).status, 201);
    assert.equal((await lastOf()).mentionsAll, true);
    assert.equal((await waha('POST', '/api/sendText', { chatId: friend, text: 'x', mentions: ['all'] })).status, 400);
  });

  it('answers group messages when the address is unknown', async () => {
    await simulateFrom(friend, 'In person');
    const { data } = (await call('GET', `/messages?chatId=${friend}&direction=incoming&limit=1`)).body;
    const bare = data[0].messageId.slice(4);
    const reaction = { messageId: `false_${group.groupId}_${bare}`, reaction: '👍' };
    const { status, body } = await waha('PUT', '/api/reaction', reaction);
    assert.equal(status, 200, JSON.stringify(body));
    assert.equal((await call('GET', `/messages/${data[0].messageId}`)).body.reactions[0].emoji, '👍');
  });

  it('checks a number in every form, and a LID among the contacts', async () => {
    const check = (phone: string) =>
      waha('GET', `/api/contacts/check-exists?session=sales&phone=${encodeURIComponent(phone)}`);
    for (const phone of [friend, `+${friend}`, `${friend}@c.us`, `${friend}@s.whatsapp.net`])
      assert.deepEqual((await check(phone)).body, { numberExists: true, chatId: `${friend}@c.us` }, phone);
    assert.deepEqual((await check(lid)).body, { numberExists: false });
    assert.equal((await check('@c.us')).status, 400);
  });
});
