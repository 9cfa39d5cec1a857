import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { ChannelActions, Connection, NetworkChannel, NetworkEvent } from '../src/connectors/connector.ts';
import type { ChannelTable } from '../src/db/schema.ts';
import { describeOnEachDatabase } from './support/databases.ts';
import { picture } from './support/media.ts';
import { puppet } from './support/networks/puppet.ts';
import { startServer } from './support/server.ts';

/* What a session keeps of statuses, channels and presences that other people cause. */

const PUPPET = fileURLToPath(new URL('./support/networks/puppet.ts', import.meta.url));
const FRIEND = '491707654321';
const MAX_CHANNELS = 1000;

describeOnEachDatabase('the limits of statuses, channels and presences', (_, database) => {
  async function connected(test: TestContext, parts: Partial<Connection> = {}) {
    puppet.parts = parts;
    const server = await startServer({ database, env: { CONNECTORS: PUPPET } });
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
});
