import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../src/clock.ts';
import type { MessageContent } from '../../src/connectors/contract/content.ts';
import type { NetworkEvent } from '../../src/connectors/contract/events.ts';
import { Steps } from '../../src/jobs/cleaning.ts';
import { prunesEarlyChanges } from '../../src/messages/messages/earlyChanges.ts';
import { describeOnEachDatabase } from '../support/databases/databases.ts';
import { PUPPET_NUMBER, puppet } from '../support/networks/puppet.ts';
import { type Answer, bearer, startServer, type TestServer } from '../support/server.ts';

const PUPPET = fileURLToPath(new URL('../support/networks/puppet.ts', import.meta.url));
const [BOB, MALLORY, HIDDEN] = ['491702222222', '491703333333', '000491704444444'];
const [CAROL, DAVE, ADMIN] = ['491706666666', '491707777777', '491708888888'];
const KINDS = [
  'message.incoming',
  'message.edited',
  'message.deleted',
  'message.reaction',
  'message.pinned',
  'poll.vote',
];

const text = (body: string): MessageContent => ({ type: 'text', text: body });
const report = async (event: NetworkEvent) => puppet.host?.onEvent(event);
const at = (from: string, networkId: string) => ({ networkId, from, timestamp: Date.now() });
const message = (networkId: string, from: string, content: MessageContent): NetworkEvent => ({
  type: 'message',
  ...at(from, networkId),
  chat: { type: 'direct', id: from },
  content,
  replyTo: null,
});
const fileOf = (content: string) => ({
  mimeType: 'image/png',
  size: content.length,
  fileName: null,
  open: async () => Readable.from([Buffer.from(content)]),
});
const chat = { type: 'direct', id: BOB } as const;
const DAY_MS = 24 * 3_600_000;

/** A new group with the session and Bob. @returns its chat */
async function createGroup() {
  const group = {
    networkId: `${randomUUID()}@g.us`,
    subject: 'Club',
    description: null,
    createdBy: PUPPET_NUMBER,
    createdAt: Date.now(),
    participants: [PUPPET_NUMBER, BOB, ADMIN].map((phoneNumber) => ({
      phoneNumber,
      role: phoneNumber === ADMIN ? ('admin' as const) : ('member' as const),
    })),
    settings: { announce: false, locked: false, joinApproval: false },
    inviteCode: null,
    picture: null,
  };
  await report({ type: 'group_created', group });
  return { type: 'group', id: group.networkId } as const;
}

describeOnEachDatabase('a change that arrives before its message', (newHome) => {
  async function setUp(test: TestContext) {
    const home = await newHome();
    const start = () => startServer({ home, env: { CONNECTORS: PUPPET } });
    let server: TestServer = await start();
    test.after(async () => {
      await server.stop();
      await home.remove();
    });
    const { call: first, token } = await server.account();
    const { sessionId } = (await first('POST', '/sessions', { connector: 'puppet' })).body;
    await first('POST', `/sessions/${sessionId}/connect`);
    const call: typeof first = (...given) => bearer(server.url, token)(...given);
    return {
      call,
      sessionId,
      clean: async (days: number) => {
        const { database, clock } = server.app.services;
        const later = { ...systemClock, now: () => clock.now() + days * DAY_MS };
        await prunesEarlyChanges(later).run(new Steps(database));
      },
      restart: async () => {
        await server.stop();
        server = await start();
      },
      events: async () => (await call('GET', `/events?events=${KINDS.join(',')}&limit=200`)).body.data,
      /** The message with a network id, as the API shows it. */
      read: async (networkId: string) =>
        (await call('GET', '/messages?limit=200')).body.data.find(
          (one: { networkId?: string }) => one.networkId === networkId,
        ),
      files: async () =>
        (await server.app.services.database.reader.kysely.selectFrom('added_files').select('network_id').execute())
          .length,
      waiting: async () =>
        Number(
          (
            await server.app.services.database.reader.kysely
              .selectFrom('early_changes')
              .select(({ fn }) => fn.countAll().as('count'))
              .executeTakeFirstOrThrow()
          ).count,
        ),
    };
  }

  it('takes effect in the order of its kinds when the message comes, even after a restart', async (test) => {
    const { call, read, events, restart, waiting } = await setUp(test);
    const [edited, poll, revoked] = [randomUUID(), randomUUID(), randomUUID()];
    await report({ type: 'reaction', ...at(BOB, edited), chat, emoji: '👍' });
    await report({ type: 'edited', ...at(BOB, edited), text: 'price 11' });
    await report({ type: 'edited', ...at(BOB, edited), text: 'price 12' });
    await report({ type: 'message_pinned', ...at(BOB, edited), chat, until: Date.now() + 3_600_000 });
    await report({ type: 'vote', ...at(BOB, poll), chat, options: ['b'] });
    await report({ type: 'deleted', ...at(BOB, revoked) });
    await report({ type: 'edited', ...at(BOB, revoked), text: 'also edited' });
    assert.deepEqual(await events(), []);
    await restart();
    await report(message(edited, BOB, text('price 10')));
    await report(message(poll, BOB, { type: 'poll', text: 'Which?', poll: { options: ['a', 'b'], maxSelections: 1 } }));
    await report(message(revoked, BOB, text('withdrawn')));
    const changed = await read(edited);
    assert.deepEqual([changed.message, changed.edited, changed.reactions[0].emoji], ['price 12', true, '👍']);
    assert.ok(Date.parse(changed.pinnedUntil) > Date.now());
    assert.deepEqual((await read(poll)).votes, [{ from: BOB, options: ['b'] }]);
    const deleted = await read(revoked);
    assert.deepEqual([deleted.message, deleted.deleted], ['', true]);
    const found = async (words: string) => (await call('GET', `/messages?q=${words}`)).body.data.length;
    assert.deepEqual([await found('12'), await found('10'), await found('withdrawn')], [1, 0, 0]);
    assert.deepEqual(
      (await events()).map(({ event, data }: { event: string; data: { message?: string } }) => [event, data.message]),
      [
        ['message.incoming', 'price 10'],
        ['message.edited', 'price 12'],
        ['message.reaction', undefined],
        ['message.pinned', undefined],
        ['message.incoming', 'Which?'],
        ['poll.vote', undefined],
        ['message.incoming', 'withdrawn'],
        ['message.edited', 'also edited'],
        ['message.deleted', undefined],
      ],
    );
    assert.equal(await waiting(), 0);
  });

  it('adds a file that was stored before a restart, and none to a message of another type or person', async (test) => {
    const { call, read, restart, waiting } = await setUp(test);
    const [image, other, note] = [randomUUID(), randomUUID(), randomUUID()];
    await report({ type: 'better_media', ...at(BOB, image), chat, kind: 'image', media: fileOf('better') });
    await report({ type: 'live_photo', ...at(BOB, image), chat, media: fileOf('moving') });
    await report({ type: 'better_media', ...at(MALLORY, other), chat, kind: 'image', media: fileOf('forged') });
    await report({ type: 'live_photo', ...at(BOB, note), chat, media: fileOf('moving') });
    await restart();
    const standard = { type: 'image', text: '', media: fileOf('standard') } as const;
    await report(message(image, BOB, standard));
    await report(message(other, BOB, standard));
    await report(message(note, BOB, text('no image')));
    const { media, livePhoto } = await read(image);
    assert.deepEqual([media.size, livePhoto.size], ['better'.length, 'moving'.length]);
    const incoming = (await call('GET', '/events?events=message.incoming,message.media')).body.data;
    assert.deepEqual(
      incoming.map(({ event, data }: Answer['body']) => [event, data.media?.size, data.livePhoto?.size]),
      [
        ['message.incoming', 'standard'.length, undefined],
        ['message.media', 'better'.length, undefined],
        ['message.media', undefined, 'moving'.length],
        ['message.incoming', 'standard'.length, undefined],
        ['message.incoming', undefined, undefined],
      ],
    );
    assert.equal(await waiting(), 2);
  });

  it('finds its message by the id of an added file, before and after the file', async (test) => {
    const { call, read } = await setUp(test);
    const [image, hd, clip] = [randomUUID(), randomUUID(), randomUUID()];
    const added = { chat, media: fileOf('better') };
    await report({ type: 'reaction', ...at(BOB, hd), chat, emoji: '👍' });
    await report({ type: 'better_media', ...at(BOB, image), ...added, kind: 'image', fileId: hd });
    await report(message(image, BOB, { type: 'image', text: 'sea', media: fileOf('standard') }));
    assert.equal((await read(image)).reactions[0].emoji, '👍');
    await report({ type: 'live_photo', ...at(BOB, image), ...added, fileId: clip });
    await report({ type: 'edited', ...at(BOB, clip), text: 'the sea' });
    assert.equal((await read(image)).message, 'the sea');
    await report({ type: 'edited', ...at(MALLORY, clip), text: 'forged' });
    await report({ ...message('reply', BOB, text('nice')), replyTo: hd } as NetworkEvent);
    const { messageId, message: caption } = await read(image);
    const reply = await read('reply');
    assert.deepEqual([caption, reply.replyTo], ['the sea', messageId]);
    await report({ type: 'deleted', ...at(BOB, hd) });
    assert.equal((await read(image)).deleted, true);
    await report({ type: 'message_removed', networkId: hd, chat });
    assert.equal((await call('GET', `/messages/${messageId}`)).status, 404);
    await report({ type: 'message_removed', networkId: clip, chat });
    assert.equal((await read('reply')).message, 'nice');
  });

  it('does not find the message of another group member by the id of an added file', async (test) => {
    const { read } = await setUp(test);
    const group = await createGroup();
    const [forged, missing, hd] = [randomUUID(), randomUUID(), randomUUID()];
    const image = (content: string) => ({ type: 'image', text: '', media: fileOf(content) }) as const;
    await report({ ...message(forged, MALLORY, image('standard')), chat: group } as NetworkEvent);
    const better = { type: 'better_media', chat: group, kind: 'image' } as const;
    await report({ ...better, ...at(MALLORY, forged), media: fileOf('better'), fileId: missing });
    await report({ ...better, ...at(MALLORY, forged), media: fileOf('the best'), fileId: hd });
    const of = { chat: group, author: BOB };
    await report({ type: 'reaction', ...at(CAROL, missing), ...of, emoji: '👍' });
    await report({ type: 'reaction', ...at(DAVE, missing), chat: group, emoji: '👍' });
    await report({ type: 'message_pinned', ...at(CAROL, missing), ...of, until: Date.now() + 3_600_000 });
    await report({ type: 'deleted', ...at(ADMIN, missing), author: BOB });
    const reply = (networkId: string, of: string, from: string) =>
      report({
        ...message(networkId, CAROL, { ...text('nice'), quoted: { networkId: of, from } }),
        ...{ chat: group, replyTo: of },
      } as NetworkEvent);
    await reply('to the missing one', missing, BOB);
    await reply('to the file', hd, MALLORY);
    await report({ type: 'reaction', ...at(CAROL, hd), chat: group, author: MALLORY, emoji: '🌊' });
    const found = await read(forged);
    assert.deepEqual([found.reactions.length, found.reactions[0].emoji], [1, '🌊']);
    assert.deepEqual([found.pinnedUntil, found.deleted], [undefined, undefined]);
    assert.equal((await read('to the missing one')).replyTo, undefined);
    assert.equal((await read('to the file')).replyTo, found.messageId);
    await report({ ...message(missing, BOB, image('mine')), chat: group } as NetworkEvent);
    assert.equal((await read(missing)).deleted, true);
    await report({ type: 'deleted', ...at(ADMIN, hd), author: MALLORY });
    assert.equal((await read(forged)).deleted, true);
  });

  it('finds an imported message by the id of its HD file', async (test) => {
    const { read } = await setUp(test);
    const imported = { chat, from: BOB, timestamp: Date.now() - 1000, replyTo: null, content: text('old sea') };
    const messages = [{ ...imported, networkId: 'old', fileId: 'old-hd' }];
    await report({ type: 'history', chats: [], contacts: [], messages });
    await report({ type: 'reaction', ...at(BOB, 'old-hd'), chat, emoji: '👍' });
    assert.equal((await read('old')).reactions[0].emoji, '👍');
  });

  it('replaces no newer HD file', async (test) => {
    const { call, read } = await setUp(test);
    const image = randomUUID();
    const better = (seconds: number, content: string) =>
      report({
        type: 'better_media',
        ...{ networkId: image, from: BOB, chat, kind: 'image', timestamp: Date.now() + seconds * 1000 },
        ...{ media: fileOf(content), fileId: randomUUID() },
      });
    await report(message(image, BOB, { type: 'image', text: 'sea', media: fileOf('standard') }));
    const sizes = async () => [
      (await read(image)).media.size,
      (await call('GET', '/events?events=message.media')).body.data.length,
    ];
    await better(-10, 'newer one');
    await better(-20, 'older');
    assert.deepEqual(await sizes(), ['newer one'.length, 1]);
    await better(-5, 'newest');
    assert.deepEqual(await sizes(), ['newest'.length, 2]);
  });

  it('replaces no newer HD file when its message has the maximum of file ids', async (test) => {
    const { call, read, files } = await setUp(test);
    const image = randomUUID();
    const better = (seconds: number, content: string, fileId: string) =>
      report({
        type: 'better_media',
        ...{ networkId: image, from: BOB, chat, kind: 'image', timestamp: Date.now() + seconds * 1000 },
        ...{ media: fileOf(content), fileId },
      });
    const messages = [{ networkId: image, chat, from: BOB, timestamp: Date.now() - 60_000, replyTo: null }];
    const content = { type: 'image', text: 'sea', media: fileOf('standard') } as const;
    // Its HD file in the history has an id, and no time.
    const imported = messages.map((one) => ({ ...one, content, fileId: 'hd' }));
    await report({ type: 'history', chats: [], contacts: [], messages: imported });
    for (let nth = 1; nth < 25; nth++) await better(-50 + nth, `file ${nth}`, `other ${nth}`);
    assert.equal(await files(), 20);
    await better(-10, 'newest', 'hd');
    await better(-20, 'older', 'late');
    assert.equal((await read(image)).media.size, 'newest'.length);
    assert.equal((await call('GET', '/events?events=message.media')).body.data.length, 25);
  });

  it('adds no file that is not wanted: of a deleted message, or of too many unknown ones', async (test) => {
    const { read, waiting } = await setUp(test);
    let opened = 0;
    const media = {
      mimeType: 'image/png',
      size: 6,
      fileName: null,
      async open() {
        opened++;
        return Readable.from([Buffer.from('better')]);
      },
    };
    const add = (from: string, networkId: string) =>
      report({
        type: 'better_media',
        ...at(from, networkId),
        chat: { type: 'direct', id: from },
        kind: 'image',
        media,
      });
    const [deleted, image] = [randomUUID(), randomUUID()];
    await report(message(deleted, BOB, { type: 'image', text: '' }));
    await report({ type: 'deleted', ...at(BOB, deleted) });
    await add(BOB, deleted);
    assert.deepEqual([opened, await waiting()], [0, 0]);
    for (let n = 0; n < 52; n++) await add(MALLORY, `none-${n}`);
    assert.deepEqual([opened, await waiting()], [50, 50]);
    await report(message(image, MALLORY, { type: 'image', text: '' }));
    for (const from of [MALLORY, BOB]) await add(from, image);
    assert.deepEqual([opened, await waiting()], [52, 51]);
    assert.equal((await read(image)).media.size, 6);
    await report(message('none-0', MALLORY, { type: 'image', text: '' }));
    assert.equal((await read('none-0')).media.size, 6);
  });

  it('of a person who may not make it is ignored, and stays for a message of that person with the id', async (test) => {
    const { call, read, events } = await setUp(test);
    const networkId = randomUUID();
    await report({ type: 'deleted', ...at(MALLORY, networkId) });
    await report({ type: 'edited', ...at(MALLORY, networkId), text: 'forged' });
    await report({ type: 'reaction', ...at(MALLORY, networkId), emoji: '👎' });
    await report({ type: 'deleted', ...at(BOB, networkId) });
    await report(message(networkId, MALLORY, text('another with the id')));
    assert.deepEqual((await read(networkId)).deleted, true);
    await report(message(networkId, BOB, text('the real one')));
    const { body } = await call('GET', `/messages?chatId=${BOB}`);
    assert.deepEqual([body.data[0].deleted, body.data[0].reactions], [true, undefined]);
    const kinds = (await events()).map(({ event, data }: { event: string; data: { from: string } }) => [
      event,
      data.from,
    ]);
    assert.deepEqual(kinds, [
      ['message.incoming', MALLORY],
      ['message.edited', MALLORY],
      ['message.reaction', MALLORY],
      ['message.deleted', MALLORY],
      ['message.incoming', BOB],
      ['message.deleted', BOB],
    ]);
  });

  it('of a group message takes effect only if it comes through the group', async (test) => {
    const { call, read } = await setUp(test);
    const group = await createGroup();
    const [networkId, poll] = [randomUUID(), randomUUID()];
    const direct = { type: 'direct', id: MALLORY } as const;
    await report({ type: 'reaction', ...at(MALLORY, networkId), chat: direct, emoji: '👎' });
    await report({ type: 'message_pinned', ...at(MALLORY, networkId), chat: direct, until: Date.now() + 3_600_000 });
    await report({ type: 'reaction', ...at(BOB, networkId), chat: group, emoji: '👍' });
    await report({ type: 'vote', ...at(MALLORY, poll), chat: direct, options: ['b'] });
    await report({ type: 'vote', ...at(BOB, poll), chat: group, options: ['a'] });
    const content = { type: 'poll', text: 'Which?', poll: { options: ['a', 'b'], maxSelections: 1 } } as const;
    await report({ ...message(networkId, BOB, text('to the group')), chat: group } as NetworkEvent);
    await report({ ...message(poll, BOB, content), chat: group } as NetworkEvent);
    const { messageId, groupId } = await read(networkId);
    assert.match(groupId, /^grp_/);
    const { body } = await call('GET', `/messages/${messageId}`);
    assert.deepEqual(
      body.reactions.map(({ from, emoji }: { from: string; emoji: string }) => [from, emoji]),
      [[BOB, '👍']],
    );
    assert.equal(body.pinnedUntil, undefined);
    assert.deepEqual((await read(poll)).votes, [{ from: BOB, options: ['a'] }]);
  });

  it('is not replaced by an older one that comes later', async (test) => {
    const { read, events } = await setUp(test);
    const networkId = randomUUID();
    const now = Date.now();
    const edit = (body: string, timestamp: number) =>
      report({ type: 'edited', networkId, from: BOB, timestamp, text: body });
    await edit('second', now + 2000);
    await edit('first', now + 1000);
    await edit('corrected in the same moment', now + 2000);
    await report(message(networkId, BOB, text('original')));
    assert.equal((await read(networkId)).message, 'corrected in the same moment');
    const edited = (await events()).find(({ event }: { event: string }) => event === 'message.edited');
    assert.equal(Date.parse(edited.data.timestamp), now + 2000);
  });

  it('is deleted after seven days, even if the session gets no other', async (test) => {
    const { clean, waiting } = await setUp(test);
    await report({ type: 'deleted', ...at(BOB, randomUUID()) });
    await clean(6);
    assert.equal(await waiting(), 1);
    await clean(8);
    assert.equal(await waiting(), 0);
  });

  it('of a person who hides the number follows the number', async (test) => {
    const { call } = await setUp(test);
    const networkId = randomUUID();
    await report({ type: 'deleted', ...at(HIDDEN, networkId) });
    await report({ type: 'identified', standIn: HIDDEN, phoneNumber: BOB });
    await report(message(networkId, BOB, text('withdrawn')));
    const { body } = await call('GET', `/messages?chatId=${BOB}`);
    assert.equal(body.data[0].deleted, true);
  });

  it('waits in a bounded number, so that one person cannot displace the others', async (test) => {
    const { read, waiting } = await setUp(test);
    const networkId = randomUUID();
    await report({ type: 'deleted', ...at(BOB, networkId) });
    for (let n = 0; n < 60; n++) await report({ type: 'deleted', ...at(MALLORY, `none-${n}`) });
    await report({ type: 'deleted', ...at(MALLORY, 'x'.repeat(301)) });
    assert.equal(await waiting(), 51);
    await report(message(networkId, BOB, text('withdrawn')));
    assert.equal((await read(networkId)).deleted, true);
    await report(message('none-59', MALLORY, text('withdrawn')));
    assert.equal((await read('none-59')).deleted, true);
    await report(message('none-0', MALLORY, text('too many came after its deletion')));
    assert.equal((await read('none-0')).deleted, undefined);
  });

  it('of a message that the session sends waits for the id that the network gives it', async (test) => {
    const { call, sessionId, read } = await setUp(test);
    const { send } = puppet;
    test.after(() => Object.assign(puppet, { send }));
    puppet.send = async () => {
      await report({ type: 'reaction', ...at(BOB, 'wamid.early'), chat, emoji: '🎉' });
      return { timestamp: Date.now(), networkId: 'wamid.early' };
    };
    const { status } = await call('POST', '/messages/send', { sessionId, to: BOB, message: 'hi' });
    assert.equal(status, 201);
    assert.equal((await read('wamid.early')).reactions[0].emoji, '🎉');
  });
});
