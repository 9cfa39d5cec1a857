import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type Clock, systemClock } from '../../src/clock.ts';
import type { ChannelActions, NetworkChannel } from '../../src/connectors/contract/channels.ts';
import type { Connection } from '../../src/connectors/contract/connection.ts';
import type { NetworkEvent } from '../../src/connectors/contract/events.ts';
import type { ChannelTable } from '../../src/db/schema.ts';
import { AppError } from '../../src/errors.ts';
import { describeOnEachDatabase } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { createFakeClock } from '../support/fakeClock.ts';
import { picture } from '../support/media/media.ts';
import { PUPPET_NUMBER, puppet } from '../support/networks/puppet.ts';
import { startServer } from '../support/server.ts';

/* The limits of statuses, channels, presences and calls, which other people cause at will. */

const PUPPET = fileURLToPath(new URL('../support/networks/puppet.ts', import.meta.url));
const FRIEND = '491707654321';
const MAX_CHANNELS = 1000;

describeOnEachDatabase('the limits of statuses, channels and presences', (_, database) => {
  async function connected(test: TestContext, parts: Partial<Connection> = {}, clock: Clock = systemClock) {
    puppet.parts = parts;
    const server = await startServer({ database, clock, env: { CONNECTORS: PUPPET } });
    test.after(async () => {
      puppet.parts = {};
      await server.stop();
    });
    const { call, accountId } = await server.account();
    const { sessionId } = (await call('POST', '/sessions', { connector: 'puppet' })).body;
    assert.equal((await call('POST', `/sessions/${sessionId}/connect`)).status, 200);
    const report = async (event: NetworkEvent) => puppet.host?.onEvent(event);
    return { call, server, sessionId, accountId, report, stored: server.app.services.database };
  }

  type Connected = Awaited<ReturnType<typeof connected>>;

  /** Counts how often the file of a report is opened. */
  function image(content: Buffer) {
    const file = {
      opened: 0,
      mimeType: 'image/png',
      fileName: null,
      size: content.length,
      async open() {
        file.opened++;
        return Readable.from([content]);
      },
    };
    return file;
  }

  it('fetches the file of a repeated or expired status, and of a known post, never again', async (test) => {
    const { report } = await connected(test);
    const media = image(picture());
    const content = { type: 'image', text: '', media } as const;
    const timestamp = Date.now();
    const status = { type: 'status', networkId: 'S1', from: FRIEND, content, timestamp } as const;
    await report(status);
    await report(status);
    await report({ ...status, networkId: 'S2', timestamp: timestamp - 25 * 60 * 60 * 1000 });
    assert.equal(media.opened, 1);
    const post = {
      type: 'channel_post',
      channel: '1@newsletter',
      networkId: 'P1',
      serverId: '7',
      content,
      timestamp,
    } as const;
    await report(post);
    await report(post);
    await report({ ...post, networkId: 'P2' });
    assert.equal(media.opened, 2);
  });

  function channelRow({ accountId, sessionId }: Connected, n: number, role: ChannelTable['role']): ChannelTable {
    return {
      account_id: accountId,
      session_id: sessionId,
      channel_id: `chn_0${String(n).padStart(4, '0')}`,
      network_id: `${n}@old`,
      name: null,
      description: null,
      invite_link: null,
      role,
      muted: 0,
      verified: 0,
      followers: null,
      created_at: null,
    };
  }

  const describedAs = (networkId: string): NetworkChannel => ({
    networkId,
    name: networkId,
    description: null,
    inviteCode: null,
    inviteLink: null,
    role: 'follower',
    muted: false,
    verified: false,
    followers: null,
    createdAt: null,
  });

  it('lets channels that are no longer followed make room, and asks the network for none beyond the limit', async (test) => {
    const followed: string[] = [];
    const channels: Partial<ChannelActions> = {
      find: async (networkId) => describedAs(networkId),
      async follow(networkId) {
        followed.push(networkId);
        return describedAs(networkId);
      },
    };
    const setting = await connected(test, { channels: channels as ChannelActions });
    const { call, sessionId, stored } = setting;
    const rows = Array.from({ length: MAX_CHANNELS }, (_one, n) => channelRow(setting, n, n < 2 ? null : 'follower'));
    await stored.commit(async ({ kysely }) => {
      for (let from = 0; from < rows.length; from += 100)
        await kysely
          .insertInto('channels')
          .values(rows.slice(from, from + 100))
          .execute();
    });
    const follow = (channel: string) => call('POST', '/channels/follow', { sessionId, channel });
    for (const channel of ['1@new', '2@new']) assert.equal((await follow(channel)).status, 200);
    const { status, body } = await follow('3@new');
    assert.deepEqual([status, body.code], [409, 'too_many']);
    assert.equal((await follow('1@new')).status, 200);
    assert.deepEqual(followed, ['1@new', '2@new', '1@new']);
    const created = await call('POST', '/channels', { sessionId, name: 'One more' });
    assert.deepEqual([created.status, created.body.code], [409, 'too_many']);
    const present = await stored.reader.kysely.selectFrom('channels').select('network_id').execute();
    const ids = new Set(present.map(({ network_id }) => network_id));
    assert.deepEqual([ids.size, ids.has('0@old'), ids.has('1@old'), ids.has('2@old')], [1000, false, false, true]);
  });

  it('merges a post with the one that a refresh stored before the network confirmed it', async (test) => {
    let refresh = async () => {};
    const content = { type: 'text', text: 'News' } as const;
    const channels: Partial<ChannelActions> = {
      posts: async () => [{ networkId: 'other', serverId: '7', content, timestamp: 1, views: 3 }],
      async post() {
        await refresh();
        return { timestamp: 1, serverId: '7' };
      },
    };
    const setting = await connected(test, { channels: channels as ChannelActions });
    const { call, sessionId, stored } = setting;
    await stored.commit(({ kysely }) =>
      kysely
        .insertInto('channels')
        .values(channelRow(setting, 1, 'owner'))
        .execute(),
    );
    const path = `/channels/${channelRow(setting, 1, 'owner').channel_id}/messages`;
    refresh = async () => assert.equal((await call('POST', `${path}/refresh`, { sessionId })).status, 200);
    const { status, body } = await call('POST', path, { sessionId, message: 'News' });
    assert.deepEqual([status, body.state, body.views], [201, 'sent', 3]);
    const { data } = (await call('GET', `${path}?sessionId=${sessionId}`)).body;
    assert.deepEqual([data.length, data[0].postId, data[0].fromMe], [1, body.postId, true]);
  });

  it('follows no contact that the network refuses, and renews the others after a reconnect', async (test) => {
    const asked: string[] = [];
    const refused = new Set(['491700000001']);
    const { call, sessionId, report } = await connected(test, {
      async followPresence(number) {
        asked.push(number);
        if (refused.has(number)) throw new AppError('send_failed');
      },
    });
    const pathOf = (number: string) => `/contacts/${number}/presence`;
    const follow = (number: string) => call('PUT', pathOf(number), { sessionId, followed: true });
    assert.equal((await follow('491700000001')).body.code, 'send_failed');
    assert.equal((await call('GET', `${pathOf('491700000001')}?sessionId=${sessionId}`)).body.followed, false);
    for (const number of ['491700000002', '491700000003']) assert.equal((await follow(number)).status, 200);
    refused.add('491700000002');
    asked.length = 0;
    await report({ type: 'disconnected', reason: 'a fault', willReconnect: true });
    await report({ type: 'connected', phoneNumber: PUPPET_NUMBER });
    await eventually(
      async () => asked.length,
      (count) => count === 2,
    );
    assert.deepEqual(asked.toSorted(), ['491700000002', '491700000003']);
  });

  it('writes to each caller once and to 20 at most, also if all call at the same time', async (test) => {
    const rejected = new Set<string>();
    const { call, sessionId, report } = await connected(test, {
      rejectCall: async ({ callId }) => void rejected.add(callId),
    });
    const calls = { autoReject: true, message: 'Please write' };
    assert.equal((await call('PATCH', `/sessions/${sessionId}`, { options: { calls } })).status, 200);
    const ring = (n: number) => {
      const from = `4917000000${10 + (n % 30)}`;
      const chat = { type: 'direct', id: from } as const;
      return report({ type: 'call', callId: `C${n}`, chat, from, isVideo: false, timestamp: Date.now() });
    };
    await Promise.all(Array.from({ length: 60 }, (_one, n) => ring(n)));
    await eventually(
      async () => rejected.size,
      (count) => count === 60,
    );
    const told = async (): Promise<string[]> =>
      (await call('GET', `/messages?sessionId=${sessionId}&limit=100`)).body.data.map(({ to }: { to: string }) => to);
    const callers = await eventually(told, ({ length }) => length >= 20);
    assert.deepEqual([callers.length, new Set(callers).size], [20, 20]);
    assert.equal((await told()).length, 20);
  });

  it('deletes the files of statuses and posts with them, unless they were used for something else', async (test) => {
    const clock = createFakeClock(Date.UTC(2026, 0, 1));
    const { server, report, stored } = await connected(test, {}, clock);
    const post = async (networkId: string, file: Buffer) => {
      const content = { type: 'image', text: '', media: image(file) } as const;
      await report({ type: 'status', networkId, from: FRIEND, content, timestamp: clock.now() });
    };
    const kept = Buffer.concat([picture(), Buffer.from('used')]);
    const gone = Buffer.concat([picture(), Buffer.from('unused')]);
    await post('S1', kept);
    await post('S2', gone);
    const media = { type: 'image', text: '', media: image(kept) } as const;
    const chat = { type: 'direct', id: FRIEND } as const;
    await report({
      type: 'message',
      networkId: 'M1',
      chat,
      from: FRIEND,
      content: media,
      replyTo: null,
      timestamp: clock.now(),
    });
    const sizes = async () => {
      const rows = await stored.reader.kysely.selectFrom('media').select('size').execute();
      return rows.map(({ size }) => Number(size)).toSorted((one, other) => one - other);
    };
    clock.skip(2 * 60 * 60 * 1000);
    await server.app.services.removal.run();
    assert.deepEqual(await sizes(), [kept.length, gone.length]);
    clock.skip(23 * 60 * 60 * 1000);
    await server.app.retention.run();
    await server.app.services.removal.run();
    assert.deepEqual(await sizes(), [kept.length]);
  });

  it('says that the file of a status was deleted', async (test) => {
    const { call, report } = await connected(test);
    const content = { type: 'image', text: '', media: image(picture()) } as const;
    await report({ type: 'status', networkId: 'S1', from: FRIEND, content, timestamp: Date.now() });
    const fileOf = async () => (await call('GET', '/status')).body.data[0].media;
    const { mediaId, available } = await fileOf();
    assert.equal(available, undefined);
    assert.equal((await call('DELETE', `/media/${mediaId}`)).status, 200);
    assert.equal((await fileOf()).available, false);
  });
});
