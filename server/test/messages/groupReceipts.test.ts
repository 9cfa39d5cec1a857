import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../src/clock.ts';
import type { NetworkEvent } from '../../src/connectors/contract/events.ts';
import { Steps } from '../../src/jobs/cleaning.ts';
import type { InboxOptions } from '../../src/messages/inboxOptions.ts';
import { prunesReceipts, RECEIPT_DAYS } from '../../src/messages/messages/groupReceipts.ts';
import { OutgoingProgress } from '../../src/messages/messages/outgoingProgress.ts';
import { CLOCKS_MS } from '../../src/messages/messages/replacement.ts';
import { describeOnEachDatabase } from '../support/databases/databases.ts';
import { PUPPET_NUMBER, puppet } from '../support/networks/puppet.ts';
import { type Answer, startServer } from '../support/server.ts';

const PUPPET = fileURLToPath(new URL('../support/networks/puppet.ts', import.meta.url));
const [BOB, CAROL, MALLORY, HIDDEN] = ['491702222222', '491703333333', '491705555555', '000491704444444'];
const DAVE = '491704444444';
const DAY_MS = 24 * 3_600_000;

const report = async (event: NetworkEvent) => puppet.host?.onEvent(event);

describeOnEachDatabase('message receipts', (newHome) => {
  async function setUp(test: TestContext) {
    const home = await newHome();
    const server = await startServer({ home, env: { CONNECTORS: PUPPET } });
    const { send: accept } = puppet;
    test.after(async () => {
      puppet.send = accept;
      await server.stop();
      await home.remove();
    });
    const { call, accountId } = await server.account();
    const { sessionId } = (await call('POST', '/sessions', { connector: 'puppet' })).body;
    await call('POST', `/sessions/${sessionId}/connect`);
    const networkId = `${randomUUID()}@g.us`;
    const group = {
      networkId,
      subject: 'Readers',
      description: null,
      createdBy: PUPPET_NUMBER,
      createdAt: Date.now(),
      participants: [PUPPET_NUMBER, BOB, CAROL, HIDDEN].map((phoneNumber) => ({
        phoneNumber,
        role: 'member' as const,
      })),
      settings: { announce: false, locked: false, joinApproval: false },
      inviteCode: null,
      picture: null,
    };
    await report({ type: 'group_created', group });
    const change = (action: 'add' | 'remove', phoneNumber: string, members: readonly string[]) =>
      report({
        type: 'group_updated',
        group: { ...group, participants: members.map((one) => ({ phoneNumber: one, role: 'member' as const })) },
        change: { type: 'participants', action, phoneNumbers: [phoneNumber] },
        timestamp: Date.now(),
      });
    const { groupId } = (await call('GET', '/groups')).body.data[0];
    const send = async (to: string) =>
      (await call('POST', '/messages/send', { sessionId, to, message: 'hi' })).body.messageId as string;
    const receive = (messageId: string, status: 'delivered' | 'read', timestamp: number, by?: string) =>
      report({ type: 'receipt', networkIds: [messageId], status, timestamp, ...(by !== undefined && { by }) });
    const list = (messageId: string, query = '') => call('GET', `/messages/${messageId}/receipts${query}`);
    return { server, call, accountId, networkId, sessionId, groupId, change, send, receive, list };
  }
  const shown = ({ body }: Answer) =>
    body.data.map((one: { phoneNumber: string; deliveredAt: string; readAt: string | null }) => [
      one.phoneNumber,
      Date.parse(one.deliveredAt),
      one.readAt && Date.parse(one.readAt),
    ]);

  it('of many members in one batch look the group up once', async (test) => {
    const { server, sessionId, accountId, networkId, groupId, send } = await setUp(test);
    const messageId = await send(groupId);
    const { database, clock } = server.app.services;
    const progress = new OutgoingProgress({ emit: () => {}, clock } as unknown as InboxOptions);
    const items = [BOB, CAROL, HIDDEN].map((by) => ({
      session: { accountId, sessionId },
      trace: null,
      event: {
        type: 'receipt' as const,
        networkIds: [messageId],
        status: 'read' as const,
        timestamp: 1000,
        chat: { type: 'group' as const, id: networkId },
        by,
      },
    }));
    let lookUps = 0;
    await database.commit(async (tx) => {
      const { connection } = tx;
      const counting: typeof connection = {
        ...connection,
        query: (text, ...rest) => {
          if (text.includes('from "groups"')) lookUps++;
          return connection.query(text, ...rest);
        },
      };
      await progress.receipts({ ...tx, connection: counting }, items);
    });
    assert.equal(lookUps, 1);
  });

  it('in a group show each member once with both times, and the events show the first one', async (test) => {
    const { call, groupId, send, receive, list } = await setUp(test);
    const messageId = await send(groupId);
    await receive(messageId, 'delivered', 1000, CAROL);
    await receive(messageId, 'read', 2000, BOB);
    await receive(messageId, 'read', 3000, CAROL);
    await receive(messageId, 'read', 4000, CAROL);
    await receive(messageId, 'delivered', 5000, BOB);
    await receive(messageId, 'read', 6000, MALLORY); // not a member
    assert.deepEqual(shown(await list(messageId)), [
      [BOB, 2000, 2000],
      [CAROL, 1000, 3000],
    ]);
    const first = await list(messageId, '?limit=1');
    assert.deepEqual(shown(first), [[BOB, 2000, 2000]]);
    assert.deepEqual(shown(await list(messageId, `?limit=1&cursor=${first.body.nextCursor}`)), [[CAROL, 1000, 3000]]);
    const events = (await call('GET', '/events?events=message.sent,message.delivered,message.read')).body.data;
    assert.deepEqual(
      events.map(({ data }: { data: { status: string; by?: string } }) => [data.status, data.by]),
      [
        ['sent', undefined],
        ['delivered', CAROL],
        ['read', BOB],
      ],
    );
  });

  it('from outside the group do not change the status and emit nothing', async (test) => {
    const { call, groupId, send, receive, list } = await setUp(test);
    const messageId = await send(groupId);
    await receive(messageId, 'read', 1000, MALLORY);
    const read = async () => (await call('GET', `/messages/${messageId}`)).body.status;
    assert.deepEqual([await read(), (await list(messageId)).body.data], ['sent', []]);
    assert.deepEqual((await call('GET', '/events?events=message.delivered,message.read')).body.data, []);
    await receive(messageId, 'delivered', 2000, BOB);
    assert.equal(await read(), 'delivered');
  });

  it('from people whose joining is reported later wait until then', async (test) => {
    const { server, call, networkId, groupId, change, send, list } = await setUp(test);
    const messageId = await send(groupId);
    const chat = { type: 'group', id: networkId } as const;
    for (const [by, timestamp] of [
      [MALLORY, 1000],
      [DAVE, 2000],
    ] as const) {
      const receipt = { type: 'receipt', networkIds: [messageId], chat, by, timestamp } as const;
      await report({ ...receipt, status: 'delivered' });
      await report({ ...receipt, status: 'read', isEarly: true });
    }
    assert.deepEqual(shown(await list(messageId)), []);
    await change('add', DAVE, [PUPPET_NUMBER, BOB, CAROL, HIDDEN, DAVE]);
    assert.deepEqual(shown(await list(messageId)), [[DAVE, 2000, 2000]]);
    assert.equal((await call('GET', `/messages/${messageId}`)).body.status, 'read');
    const { kysely } = server.app.services.database.reader;
    const waiting = await kysely.selectFrom('early_receipts').select('status').orderBy('status').execute();
    assert.deepEqual(
      waiting.map(({ status }) => status),
      [`delivered ${MALLORY}`, `read ${MALLORY}`],
    );
  });

  it('from a number wait while the member is known by a placeholder', async (test) => {
    const { networkId, groupId, send, list } = await setUp(test);
    const messageId = await send(groupId);
    const chat = { type: 'group', id: networkId } as const;
    await report({ type: 'receipt', networkIds: [messageId], chat, by: DAVE, status: 'read', timestamp: 1000 });
    assert.deepEqual(shown(await list(messageId)), []);
    await report({ type: 'identified', standIn: HIDDEN, phoneNumber: DAVE });
    assert.deepEqual(shown(await list(messageId)), [[DAVE, 1000, 1000]]);
  });

  it('from people who have left count for the messages before', async (test) => {
    const { groupId, change, send, receive, list } = await setUp(test);
    const before = await send(groupId);
    await change('remove', BOB, [PUPPET_NUMBER, CAROL, HIDDEN]);
    await change('remove', HIDDEN, [PUPPET_NUMBER, CAROL]);
    await report({ type: 'identified', standIn: HIDDEN, phoneNumber: DAVE });
    puppet.send = async () => ({ timestamp: Date.now() + CLOCKS_MS + 1000 });
    const after = await send(groupId);
    for (const messageId of [before, after]) for (const by of [BOB, DAVE]) await receive(messageId, 'read', 1000, by);
    assert.deepEqual(shown(await list(before)), [
      [BOB, 1000, 1000],
      [DAVE, 1000, 1000],
    ]);
    assert.deepEqual(shown(await list(after)), []);
  });

  it('from people who have left count when the clock of this server is slow', async (test) => {
    const { groupId, change, send, receive, list } = await setUp(test);
    puppet.send = async () => ({ timestamp: Date.now() + CLOCKS_MS / 2 });
    const messageId = await send(groupId);
    await change('remove', BOB, [PUPPET_NUMBER, CAROL]);
    await receive(messageId, 'read', 1000, BOB);
    assert.deepEqual(shown(await list(messageId)), [[BOB, 1000, 1000]]);
  });

  it('from strangers do not count in a group that everyone has left, 30 days later', async (test) => {
    const { server, groupId, change, send, receive, list } = await setUp(test);
    const { database, clock } = server.app.services;
    const messageId = await send(groupId);
    await change('remove', BOB, [PUPPET_NUMBER]);
    const later = { ...systemClock, now: () => clock.now() + (RECEIPT_DAYS + 1) * DAY_MS };
    await prunesReceipts(later, { fromWall: (ms) => ms }).run(new Steps(database));
    await receive(messageId, 'read', 1000, MALLORY);
    assert.deepEqual(shown(await list(messageId)), []);
    const former = await database.reader.kysely.selectFrom('group_former_members').select('phone_number').execute();
    assert.equal(former.length, 1, 'one is enough');
  });

  it('from people who have left do not count 30 days later', async (test) => {
    const { server, groupId, change, send, receive, list } = await setUp(test);
    const { database, clock } = server.app.services;
    const steady = { fromWall: (ms: number) => ms };
    const messageId = await send(groupId);
    await change('remove', BOB, [PUPPET_NUMBER, CAROL]);
    const clean = async (days: number) => {
      const later = { ...systemClock, now: () => clock.now() + days * DAY_MS };
      await prunesReceipts(later, steady).run(new Steps(database));
    };
    await clean(RECEIPT_DAYS - 1);
    await receive(messageId, 'read', 1000, BOB);
    assert.deepEqual(shown(await list(messageId)), [[BOB, 1000, 1000]]);
    await clean(RECEIPT_DAYS + 1);
    await receive(messageId, 'read', 1000, BOB);
    assert.deepEqual(shown(await list(messageId)), []);
  });

  it('count from everyone in a group whose members are unknown', async (test) => {
    const { call, groupId, change, send, receive, list } = await setUp(test);
    assert.equal((await call('GET', `/groups/${groupId}`)).body.participants.length, 4);
    const networkId = `${randomUUID()}@g.us`;
    const participants = [{ phoneNumber: PUPPET_NUMBER, role: 'owner' as const }];
    const settings = { announce: false, locked: false, joinApproval: false };
    const about = {
      subject: 'Hidden',
      description: null,
      createdBy: '',
      createdAt: 1,
      inviteCode: null,
      picture: null,
    };
    await report({
      type: 'group_created',
      group: { ...about, networkId, participants, settings, isPlaceholder: true },
    });
    const hidden = (await call('GET', '/groups')).body.data.find((one: { groupId: string }) => one.groupId !== groupId);
    const messageId = await send(hidden.groupId);
    await receive(messageId, 'read', 1000, MALLORY);
    assert.deepEqual(shown(await list(messageId)), [[MALLORY, 1000, 1000]]);
    // In a group that everyone has left, nobody else counts.
    const another = await send(groupId);
    await change('remove', BOB, [PUPPET_NUMBER]);
    await receive(another, 'read', 1000, MALLORY);
    assert.deepEqual(shown(await list(another)), []);
  });

  it('in a direct chat show the other person, and none for a received message', async (test) => {
    const { call, send, receive, list } = await setUp(test);
    const messageId = await send(BOB);
    assert.deepEqual((await list(messageId)).body, { data: [], nextCursor: null });
    await receive(messageId, 'read', 2000, BOB);
    assert.deepEqual(shown(await list(messageId)), [[BOB, 2000, 2000]]);
    assert.equal((await list(messageId, '?cursor=none')).status, 400);
    const events = (await call('GET', '/events?events=message.read')).body.data;
    assert.equal(events[0].data.by, undefined);
    const content = { type: 'text', text: 'hi' } as const;
    const chat = { type: 'direct', id: BOB } as const;
    await report({ type: 'message', networkId: 'A', chat, from: BOB, content, timestamp: 1000, replyTo: null });
    const { body } = await call('GET', '/messages?direction=incoming');
    assert.deepEqual((await list(body.data[0].messageId)).body.data, []);
  });

  it('follow a member whose hidden number becomes known', async (test) => {
    const { groupId, send, receive, list } = await setUp(test);
    const [one, both] = [await send(groupId), await send(groupId)];
    for (const messageId of [one, both]) await receive(messageId, 'delivered', 1000, HIDDEN);
    assert.equal((await list(one)).body.data[0].unidentified, true);
    await report({ type: 'identified', standIn: HIDDEN, phoneNumber: DAVE });
    await receive(both, 'read', 2000, DAVE);
    assert.deepEqual(shown(await list(one)), [[DAVE, 1000, null]]);
    assert.deepEqual(shown(await list(both)), [[DAVE, 1000, 2000]]);
  });

  it('are deleted with their messages, their session or after their time', async (test) => {
    const { server, call, sessionId, groupId, send, receive } = await setUp(test);
    const { database, clock } = server.app.services;
    const count = async () =>
      (await database.reader.kysely.selectFrom('message_receipts').select('message_id').execute()).length;
    const sendAndRead = async () => receive(await send(groupId), 'read', clock.now(), BOB);
    await sendAndRead();
    const steady = { fromWall: (ms: number) => ms };
    const later = (days: number) => ({ ...systemClock, now: () => clock.now() + days * DAY_MS });
    await prunesReceipts(later(RECEIPT_DAYS - 1), steady).run(new Steps(database));
    assert.equal(await count(), 1);
    await prunesReceipts(later(RECEIPT_DAYS + 1), steady).run(new Steps(database));
    assert.equal(await count(), 0);
    await sendAndRead();
    assert.equal((await call('DELETE', `/chats/${groupId}?sessionId=${sessionId}`)).status < 300, true);
    assert.equal(await count(), 0);
    await sendAndRead();
    assert.equal((await call('DELETE', `/sessions/${sessionId}`)).status < 300, true);
    assert.equal(await count(), 0);
  });
});
