import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { after, before, beforeEach, it, type TestContext } from 'node:test';
import { proto } from 'baileys';
import { type FileServer, startFileServer } from '../support/connections/fileServer.ts';
import { portOf } from '../support/connections/listening.ts';
import { type FakeWhatsapp, type Phone, startFakeWhatsapp } from '../support/fakeWhatsapp/index.ts';
import { linkAsHost } from './host.ts';
import { nextPhone } from './support.ts';

/*
 * A message names the URL of its file, and anyone may have written it. Here the URL is a service of the server's own
 * network, which must not receive a request.
 */

let whatsapp: FakeWhatsapp;
let bob: Phone;
/** Services that no message may reach. */
let secure: FileServer;
let plainUrl: string;
let closePlain: () => void;
const visits: string[] = [];

before(async () => {
  whatsapp = await startFakeWhatsapp();
  whatsapp.trustMedia();
  bob = nextPhone(whatsapp, 'Bob');
  secure = await startFileServer(({ url = '' }, response) => {
    visits.push(`https ${url}`);
    response.end(randomBytes(58));
  });
  const plain = createServer(({ url = '' }, response) => {
    visits.push(`http ${url}`);
    response.end(randomBytes(58));
  });
  await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
  plainUrl = `http://127.0.0.1:${portOf(plain)}`;
  closePlain = () => plain.close();
});
beforeEach(() => {
  visits.length = 0;
});
after(async () => {
  closePlain();
  await secure.close();
  await whatsapp.close();
});

const random = () => new Uint8Array(randomBytes(32));
const secureHost = () => new URL(secure.url).host;

/** Links a session whose host reads the file of each message. @returns also the results by caption */
async function linkReader(test: TestContext, options: { maxFileBytes?: number } = {}) {
  const read = new Map<string, string>();
  const session = await linkAsHost(test, whatsapp, {
    ...options,
    async onEvent(event) {
      if (event.type !== 'message') return;
      const { media, text: caption } = event.content;
      if (media === undefined) return void read.set(caption, 'no file');
      // Resolves in both cases, because the connector retries after a failure.
      read.set(
        caption,
        await media
          .open()
          .then(text)
          .catch(({ message }: Error) => message),
      );
    },
  });
  const resultOf = async (caption: string) => {
    await session.waitForEvent('message', ({ content }) => content.text === caption);
    return read.get(caption);
  };
  return { ...session, resultOf };
}

const keys = () => ({ mediaKey: random(), fileSha256: random(), fileEncSha256: random(), fileLength: 58 });

for (const [what, reference] of [
  ['a plain http URL and no path', () => ({ url: `${plainUrl}/url` })],
  ['a path that makes the host a user name', () => ({ directPath: `@${secureHost()}/path` })],
  ['a path that goes on with the host', () => ({ directPath: `.example.com/path` })],
  ['a path with a backslash', () => ({ directPath: `/\\${secureHost()}/path` })],
] as const) {
  it(`contacts only the media host if a message gives its file ${what}`, async (test) => {
    const { me, resultOf } = await linkReader(test);
    for (const kind of ['imageMessage', 'videoMessage', 'documentMessage'] as const)
      await bob.send(me.number, { [kind]: { ...keys(), ...reference(), caption: kind } });
    for (const kind of ['audioMessage', 'stickerMessage'] as const)
      await bob.send(me.number, { [kind]: { ...keys(), ...reference() } });
    for (const caption of ['imageMessage', 'videoMessage', 'documentMessage', ''])
      assert.equal(await resultOf(caption), 'no file', caption);
    assert.deepEqual(visits, []);
  });
}

it('downloads a file from the media host, whichever host its message names', async (test) => {
  const { me, resultOf } = await linkReader(test);
  const details = { caption: 'elsewhere', url: `${secure.url}/url` };
  await bob.sendFile(me.number, 'image', Buffer.from('a picture'), details);
  assert.equal(await resultOf('elsewhere'), 'a picture');
  assert.deepEqual(visits, []);
});

it('does not follow redirects of the media host', async (test) => {
  whatsapp.faults.redirectDownloads(`${plainUrl}/redirected`);
  test.after(() => whatsapp.faults.redirectDownloads(undefined));
  const { me, resultOf } = await linkReader(test);
  await bob.sendFile(me.number, 'image', Buffer.from('a picture'), { caption: 'redirected' });
  assert.equal(await resultOf('redirected'), 'the host redirects (302)');
  assert.deepEqual(visits, []);
});

it('does not download a file without hashes, key or path', async (test) => {
  const { me, resultOf } = await linkReader(test);
  const { downloads } = whatsapp.counters;
  for (const missing of ['fileSha256', 'fileEncSha256', 'mediaKey', 'directPath']) {
    await bob.sendFile(me.number, 'image', Buffer.from('a picture'), { caption: missing, [missing]: null });
    assert.equal(await resultOf(missing), 'no file');
  }
  assert.equal(whatsapp.counters.downloads, downloads);
});

it('rejects a file that does not match its message', async (test) => {
  const { me, resultOf } = await linkReader(test);
  await bob.sendFile(me.number, 'image', Buffer.from('the right file'), { caption: 'right' });
  assert.equal(await resultOf('right'), 'the right file');
  for (const wrong of ['fileSha256', 'fileEncSha256', 'mediaKey']) {
    await bob.sendFile(me.number, 'image', Buffer.from('a picture'), { caption: wrong, [wrong]: random() });
    assert.match((await resultOf(wrong)) ?? '', /is corrupt or does not match its hash$/);
  }
});

it('stops reading a file at the size limit', async (test) => {
  const { me, resultOf } = await linkReader(test, { maxFileBytes: 1000 });
  const largest = 'x'.repeat(1000);
  await bob.sendFile(me.number, 'document', Buffer.from(largest), { caption: 'largest' });
  assert.equal(await resultOf('largest'), largest);
  await bob.sendFile(me.number, 'document', randomBytes(2000), { caption: 'too large' });
  assert.equal(await resultOf('too large'), 'the file is larger than 1026 bytes');
});

it('does not download a history from a URL that the phone names', async (test) => {
  const { me, resultOf, logged } = await linkReader(test);
  const { Message, HistorySync } = proto;
  const historySyncNotification = {
    ...keys(),
    syncType: HistorySync.HistorySyncType.RECENT,
    directPath: `@${secureHost()}/history`,
  };
  await me.send(me.number, {
    protocolMessage: {
      type: Message.ProtocolMessage.Type.HISTORY_SYNC_NOTIFICATION,
      // The enums of the two messages are different types with the same values.
      historySyncNotification: historySyncNotification as proto.Message.IHistorySyncNotification,
    },
  });
  await logged.waitFor((line) => line.includes('announced a part of the history incompletely'));
  await bob.sendText(me.number, 'after');
  assert.equal(await resultOf('after'), 'no file');
  assert.deepEqual(visits, []);
});
