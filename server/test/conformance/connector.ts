import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Capability } from '../../src/connectors/contract/capabilities.ts';
import { mediaTypes, messageTypes } from '../../src/connectors/contract/content.ts';
import type { Deployment, Home } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { createFakeClock, type FakeClock } from '../support/fakeClock.ts';
import { samples, upload } from '../support/media/media.ts';
import { FORMS } from '../support/numberForms.ts';
import { type Answer, bearer, type Call, newNumber, startServer, type TestServer } from '../support/server.ts';

/** A network under test: the name of its connector, and a fake of its other side. */
export interface NetworkUnderTest {
  readonly connector: string;
  /**
   * The capabilities that the network lacks, each with the reason. Calls that need them must be rejected, and all
   * others must work.
   */
  readonly gaps: Readonly<Partial<Record<Feature, string>>>;
  start(): Promise<FakeNetwork>;
}

const parts = [
  'markRead',
  'setTyping',
  'react',
  'edit',
  'remove',
  'checkNumbers',
  'setBlocked',
  'groups',
  'addMembers',
  'readProfile',
  'setName',
  'setAbout',
  'setPicture',
  'removePicture',
] as const;
type Feature =
  | (typeof messageTypes)[number]
  | (typeof parts)[number]
  | 'requestPairingCode'
  /** Its other side can repeat an event. */
  | 'repeats';

/** The other side of a session, controlled by a test. */
export interface FakeNetwork {
  readonly env: Readonly<Record<string, string>>;
  /** The fields for creating the session, besides its connector. */
  readonly session: object;
  /** The digits of a person to whom the session can write. */
  readonly somebody: string;
  /** Called when the session has been created and is not connected, or when its server restarted at another URL. */
  attach?(site: Site): void | Promise<void>;
  /** Pairs the session, which is waiting for it. */
  link?(site: Site): Promise<void>;
  /** Texts that a person has received, oldest first. */
  arrived(site: Site): Promise<readonly string[]>;
  /**
   * Writes to the session.
   * @param message `answers`: the message of the session to which it replies; `from`: another person's digits
   */
  write(site: Site, message: { text: string; answers?: string; times?: number; from?: string }): Promise<void>;
  /** Reports the status of a message of the session. Resolves once the session has processed it. */
  confirm(site: Site, messageId: string, status: 'delivered' | 'read' | 'failed'): Promise<void>;
  /** Cuts the session off, and resolves once it has noticed. */
  cut(site: Site): Promise<void>;
  /** Lets the session reconnect. */
  mend(site: Site): Promise<void>;
  close(): Promise<void>;
}

export interface Site {
  readonly server: TestServer;
  readonly clock: FakeClock;
  readonly call: Call;
  readonly sessionId: string;
  /** The path of the callback URL; null if the network has no callbacks. */
  readonly callbackUrl: string | null;
}

/**
 * The guarantees of the API for a session on any network. Every connector of this repository is tested against a fake
 * of its network.
 */
export function connectorConformance(
  { connector, gaps, start }: NetworkUnderTest,
  newHome: () => Promise<Home>,
  database: Deployment,
): void {
  let home: Home;
  let network: FakeNetwork;
  let site: Site;
  let token: string;
  let to: string;
  const clock = createFakeClock(Date.now());

  before(async () => {
    network = await start();
    to = network.somebody;
    home = await newHome();
    const server = await startServer({ database, home, clock, env: network.env });
    const account = await server.account();
    token = account.token;
    const { call } = account;
    const { status, body } = await call('POST', '/sessions', { connector, ...network.session });
    assert.equal(status, 201, JSON.stringify(body));
    site = { server, clock, call, sessionId: body.sessionId, callbackUrl: body.callbackUrl };
    await network.attach?.(site);
  });
  after(async () => {
    await site.server.stop();
    await network.close();
    await home.remove();
  });

  const has = (feature: Feature) => gaps[feature] === undefined;
  const session = async () => (await site.call('GET', `/sessions/${site.sessionId}`)).body;
  const message = async (id: string) => (await site.call('GET', `/messages/${id}`)).body;
  const send = (text: string) => site.call('POST', '/messages/send', { to, message: text });
  const events = async (kind: string) => (await site.call('GET', `/events?events=${kind}&limit=200`)).body.data;
  /** Polls, because the long poll of the log waits by the clock of the server, which stands still here. */
  const waitForEvent = async (kind: string, fits: (data: Answer['body']) => boolean) => {
    const isIt = ({ data }: Answer['body']) => fits(data);
    return (
      await eventually(
        () => events(kind),
        (all) => all.some(isIt),
      )
    ).find(isIt).data;
  };
  const incoming = async (text: string) => {
    const { messageId } = await waitForEvent('message.incoming', (data) => data.message === text);
    return message(messageId);
  };
  const arrived = () => network.arrived(site);
  const statusIs = (wanted: string) => eventually(session, ({ status }) => status === wanted);

  describe('connecting', () => {
    it('connects and reports its number, and connecting again changes nothing', async () => {
      await site.call('POST', `/sessions/${site.sessionId}/connect`);
      if (network.link !== undefined) {
        await statusIs('awaiting_pairing');
        assert.equal((await site.call('GET', `/sessions/${site.sessionId}/qr`)).status, 200);
        if (has('requestPairingCode')) assert.equal((await pairingCode()).status, 200);
        await network.link(site);
      }
      const { phoneNumber, connectedAt } = await statusIs('connected');
      assert.match(phoneNumber, /^\d+$/);
      // The log adds the name and the metadata of the session.
      const { session, ...connected } = await waitForEvent('session.connected', () => true);
      assert.deepEqual(connected, { sessionId: site.sessionId, phoneNumber, connectedAt });
      assert.deepEqual(Object.keys(session), ['name', 'metadata']);
      await site.call('POST', `/sessions/${site.sessionId}/connect`);
      assert.equal((await events('session.connected')).length, 1);
    });
  });

  describe('sending', () => {
    it('delivers a text, which becomes sent when the network accepts it', async () => {
      const { status, body } = await send('Schöne Grüße ✓');
      assert.deepEqual([status, body.status], [201, 'sent']);
      await eventually(arrived, (texts) => texts.includes('Schöne Grüße ✓'));
      const sent = await waitForEvent('message.sent', ({ messageId }) => messageId === body.messageId);
      assert.deepEqual([sent.to, sent.status, sent.sessionId], [to, 'sent', site.sessionId]);
    });

    it('moves a status only forward, with one event per step', async () => {
      const { messageId } = (await send('how far?')).body;
      for (const status of ['delivered', 'read', 'delivered', 'read'] as const)
        await network.confirm(site, messageId, status);
      assert.equal((await message(messageId)).status, 'read');
      for (const kind of ['message.sent', 'message.delivered', 'message.read']) {
        await waitForEvent(kind, (data) => data.messageId === messageId);
        const all = (await events(kind)).filter(({ data }: Answer['body']) => data.messageId === messageId);
        assert.equal(all.length, 1, kind);
      }
    });

    it('marks a message as delivered when only its read receipt arrives', async () => {
      const { messageId } = (await send('at once')).body;
      await network.confirm(site, messageId, 'read');
      await waitForEvent('message.delivered', (data) => data.messageId === messageId);
      await waitForEvent('message.read', (data) => data.messageId === messageId);
    });

    for (const type of messageTypes) {
      if (has(type)) {
        it(`sends messages of type ${type}`, async () => {
          const { status, body } = await sendOf(type);
          assert.equal(status, 201, JSON.stringify(body));
          assert.deepEqual([body.type, body.status], [type, 'sent']);
        });
      } else {
        it(`refuses messages of type ${type}: ${gaps[type]}`, async () => {
          const { status, body } = await sendOf(type);
          assert.deepEqual([status, body.code], [422, 'not_supported']);
        });
      }
    }
  });

  describe('receiving', () => {
    it('stores a text once, unread, with the digits of its sender', async () => {
      await network.write(site, { text: 'Hello there', times: has('repeats') ? 3 : 1 });
      const { from, chatId, type, direction, sessionId } = await incoming('Hello there');
      assert.deepEqual([from, chatId, type, direction, sessionId], [to, to, 'text', 'incoming', site.sessionId]);
      const all = (await site.call('GET', `/messages?chatId=${to}&direction=incoming`)).body.data;
      assert.equal(all.filter(({ message: text }: Answer['body']) => text === 'Hello there').length, 1);
      const chat = (await site.call('GET', '/chats')).body.data.find((one: Answer['body']) => one.chatId === to);
      assert.equal(chat.unreadCount, 1);
    });

    it('links a reply to its original in both directions', async () => {
      const { messageId } = (await send('Tea?')).body;
      await network.write(site, { text: 'With milk', answers: messageId });
      const answer = await incoming('With milk');
      assert.equal(answer.replyTo, messageId);
      const { status } = await site.call('POST', '/messages/send', { to, message: 'OK', replyTo: answer.messageId });
      assert.equal(status, 201);
    });
  });

  describe('capabilities', () => {
    it('are listed for the network', async () => {
      const { data } = (await site.call('GET', '/connectors')).body;
      const { capabilities } = data.find(({ name }: Answer['body']) => name === connector);
      const expected: Partial<Record<Feature, Capability>> = {
        markRead: 'read_receipts',
        setTyping: 'typing',
        react: 'reactions',
        edit: 'edit',
        remove: 'delete_for_everyone',
        checkNumbers: 'check_numbers',
        setBlocked: 'block',
        groups: 'groups',
        addMembers: 'group_add_members',
        readProfile: 'profiles_of_others',
        setAbout: 'profile',
        requestPairingCode: 'pairing_code',
      };
      for (const [feature, name] of Object.entries(expected))
        assert.equal(capabilities.includes(name), gaps[feature as Feature] === undefined, name);
    });

    for (const part of parts) {
      if (has(part)) {
        it(`has ${part}`, async () => {
          const { status, body } = await use(part);
          assert.ok(status < 300, JSON.stringify(body));
        });
      } else {
        it(`has no ${part}: ${gaps[part]}`, async () => {
          const { status, body } = await use(part);
          assert.deepEqual([status, body.code], [422, 'not_supported']);
        });
      }
    }
  });

  it('accepts numbers that the network gave although no numbering plan has them', async () => {
    for (const number of ['5215512345678', '22997123456', '22507123456']) {
      assert.equal((await site.call('POST', '/messages/send', { to: number, message: 'Hi' })).status, 400);
      await network.write(site, { text: `It is ${number}`, from: number });
      const { messageId, from } = await incoming(`It is ${number}`);
      assert.equal(from, number);
      const { body: contact } = await site.call('GET', `/contacts/${number}`);
      for (const to of [number, `${number}@s.whatsapp.net`, ...contact.networkIds]) {
        const answers = [
          await site.call('POST', '/messages/send', { to, message: 'Hi', replyTo: messageId }),
          await site.call('POST', `/messages/${messageId}/forward`, { to }),
          await site.call('POST', `/chats/${encodeURIComponent(to)}/read`),
          await site.call('GET', `/contacts/${encodeURIComponent(to)}`),
        ];
        for (const { status, body } of answers) assert.ok(status < 300, `${to} ${JSON.stringify(body)}`);
      }
      if (!has('addMembers')) continue;
      const { status, body } = await site.call('POST', '/groups', { subject: 'Given', phoneNumbers: [number] });
      assert.equal(status, 201, JSON.stringify(body));
      const change = { action: 'remove', phoneNumbers: [number] };
      const { body: removed } = await site.call('POST', `/groups/${body.groupId}/participants`, change);
      assert.equal(removed.results[0].ok, true, JSON.stringify(removed));
    }
  });

  if (database === 'sqlite')
    it('serves a person whatever the form of the number in 40 countries', async () => {
      const numbers = FORMS.flatMap(([, ...forms]) => forms.flatMap((form) => form ?? []));
      for (const number of numbers) {
        // Sessions that wait between sends do so by this clock.
        await site.clock.advance(1000);
        await network.write(site, { text: `I am ${number}`, from: number });
        const { messageId, chatId } = await incoming(`I am ${number}`);
        assert.equal(chatId, number);
        const calls: [method: string, path: string, body: object][] = [
          ['POST', '/messages/send', { to: number, message: 'Hi', replyTo: messageId }],
          ['POST', `/chats/${number}/read`, {}],
        ];
        if (has('react')) calls.push(['PUT', `/messages/${messageId}/reaction`, { emoji: '👍' }]);
        if (has('setBlocked'))
          for (const blocked of [true, false]) calls.push(['PUT', `/contacts/${number}/blocked`, { blocked }]);
        for (const call of calls) {
          const { status, body } = await site.call(...call);
          assert.ok(status < 300, `${call[1]} of ${number}: ${JSON.stringify(body)}`);
        }
      }
    });

  const pairingCode = () => site.call('POST', `/sessions/${site.sessionId}/pairing-code`, { phoneNumber: newNumber() });
  it('returns no pairing code for a connected session', async () => {
    assert.equal((await pairingCode()).body.code, has('requestPairingCode') ? 'session_state' : 'not_supported');
  });

  describe('disconnecting', () => {
    it('reports the beginning and end of an outage once each, and sends nothing meanwhile', async () => {
      const before = (await events('session.connected')).length;
      await network.cut(site);
      await eventually(session, ({ status }) => status !== 'connected');
      assert.equal((await send('Anybody?')).body.code, 'session_not_connected');
      await network.mend(site);
      await statusIs('connected');
      const gone = await waitForEvent('session.disconnected', () => true);
      assert.deepEqual([gone.willReconnect, typeof gone.reason], [true, 'string']);
      assert.equal((await events('session.disconnected')).length, 1);
      await eventually(
        () => events('session.connected'),
        ({ length }) => length === before + 1,
      );
      assert.equal((await send('There you are')).status, 201);
    });

    it('stays disconnected after a disconnect by the account, and reconnects without pairing', async () => {
      const before = (await events('session.connected')).length;
      const { body } = await site.call('POST', `/sessions/${site.sessionId}/disconnect`);
      assert.equal(body.status, 'disconnected');
      assert.equal((await send('Anybody?')).body.code, 'session_not_connected');
      await site.call('POST', `/sessions/${site.sessionId}/connect`);
      await statusIs('connected');
      assert.equal((await send('Back again')).status, 201);
      await eventually(
        () => events('session.connected'),
        ({ length }) => length === before + 1,
      );
    });

    it('reconnects after a restart without an event, and keeps its messages', async () => {
      const { messageId } = (await send('Before')).body;
      const before = (await events('session.connected')).length;
      await site.server.stop();
      const server = await startServer({ database, home, clock, env: network.env });
      site = { ...site, server, call: bearer(server.url, token) };
      await network.attach?.(site);
      await statusIs('connected');
      assert.equal((await events('session.connected')).length, before);
      await network.confirm(site, messageId, 'read');
      assert.equal((await message(messageId)).status, 'read');
      assert.equal((await send('After')).status, 201);
    });

    it('sends scheduled messages on its return if their time passed while it was away', async () => {
      const sendAt = new Date(clock.now() + 60_000).toISOString();
      const { messageId } = (await site.call('POST', '/messages/send', { to, message: 'later', sendAt })).body;
      await site.call('POST', `/sessions/${site.sessionId}/disconnect`);
      await clock.advance(61_000);
      await eventually(
        () => message(messageId),
        ({ status }) => status === 'queued',
      );
      await site.call('POST', `/sessions/${site.sessionId}/connect`);
      await statusIs('connected');
      await eventually(arrived, (texts) => texts.filter((text) => text === 'later').length === 1);
    });

    it('stays logged out after a logout', async () => {
      const { body } = await site.call('POST', `/sessions/${site.sessionId}/logout`);
      assert.equal(body.status, 'logged_out');
      assert.equal((await send('Anybody?')).body.code, 'session_not_connected');
    });
  });

  async function sendOf(type: (typeof messageTypes)[number]): Promise<Answer> {
    const { call } = site;
    switch (type) {
      case 'text':
        return send('a text');
      case 'location':
        return call('POST', '/messages/send-location', { to, latitude: 52.5, longitude: 13.4, name: 'Gate' });
      case 'contact':
        return call('POST', '/messages/send-contact', { to, name: 'Grace', phoneNumbers: ['4915112345678'] });
      case 'poll':
        return call('POST', '/messages/send-poll', { to, question: 'When?', options: ['now', 'later'] });
      case 'template':
        return call('POST', '/messages/send-template', { to, name: 'hello', language: 'en_US' });
      case 'interactive':
        return call('POST', '/messages/send-interactive', {
          to,
          message: 'Tea?',
          buttons: [{ id: 'yes', title: 'Yes' }],
        });
      case 'event':
        return call('POST', '/messages/send-event', { to, name: 'Tea', startsAt: '2030-01-01T18:00:00Z' });
      default: {
        const { mediaId } = (await upload(site.server, token, samples[type])).body;
        return call('POST', '/messages/send-media', { to, type, mediaId });
      }
    }
  }

  async function use(part: (typeof parts)[number]): Promise<Answer> {
    const { call, sessionId } = site;
    const own = async () => `/messages/${(await send(`for ${part}`)).body.messageId}`;
    switch (part) {
      case 'markRead':
        await network.write(site, { text: 'read me' });
        await incoming('read me');
        return call('POST', `/chats/${to}/read`);
      case 'setTyping':
        return call('POST', `/chats/${to}/typing`, { state: 'typing' });
      case 'react':
        return call('PUT', `${await own()}/reaction`, { emoji: '👍' });
      case 'edit':
        return call('PATCH', await own(), { message: 'changed' });
      case 'remove':
        return call('DELETE', await own());
      case 'checkNumbers':
        return call('GET', `/contacts/check?phoneNumbers=${newNumber()}`);
      case 'setBlocked': {
        const blocked = await call('PUT', `/contacts/${to}/blocked`, { blocked: true });
        return blocked.status >= 300 ? blocked : call('PUT', `/contacts/${to}/blocked`, { blocked: false });
      }
      case 'readProfile':
        return call('GET', `/contacts/${to}/profile`);
      case 'setName':
        return call('PATCH', `/sessions/${sessionId}/profile`, { name: 'Tea house' });
      case 'setAbout':
        return call('PATCH', `/sessions/${sessionId}/profile`, { about: 'Closed on Mondays' });
      case 'setPicture': {
        const { mediaId } = (await upload(site.server, token, samples.image)).body;
        return call('PATCH', `/sessions/${sessionId}/profile`, { pictureMediaId: mediaId });
      }
      case 'removePicture':
        return call('PATCH', `/sessions/${sessionId}/profile`, { pictureMediaId: null });
      case 'groups':
        return call('POST', '/groups', { sessionId, subject: 'Tea', ...(has('addMembers') && { phoneNumbers: [to] }) });
      case 'addMembers':
        return call('POST', '/groups', { sessionId, subject: 'Coffee', phoneNumbers: [to] });
    }
  }

  it('declares exactly the message types that it can send', () => {
    const said = site.server.app.services.sessions.connectors.get(connector)?.messageTypes ?? [];
    assert.deepEqual([...said].sort(), messageTypes.filter(has).sort());
    assert.ok(mediaTypes.every((type) => messageTypes.includes(type)));
  });
}
