import assert from 'node:assert/strict';
import { it } from 'node:test';
import { deflateSync } from 'node:zlib';
import * as baileys from 'baileys';
import { HistoryError } from '../../../src/connectors/whatsapp/history/fieldStream.ts';
import { readParts } from '../../../src/connectors/whatsapp/history/historyParts.ts';

const { proto } = baileys;

async function read(content: Uint8Array, withMessages = true) {
  const parts: string[] = [];
  for await (const part of readParts(baileys, content, withMessages)) {
    if (part.kind === 'message') parts.push(`${part.chat}: ${part.info.message?.conversation?.slice(0, 20)}`);
    if (part.kind === 'chat') parts.push(`${part.chat.id}, ${part.chat.unreadCount} unread, ${part.chat.pnJid}`);
    if (part.kind === 'name') parts.push(`${part.name.id} is ${part.name.pushname}`);
    if (part.kind === 'mapping') parts.push(`${part.mapping.lidJid} has ${part.mapping.pnJid}`);
  }
  return parts;
}

const message = (text: string) => ({ message: { key: { id: 'X' }, message: { conversation: text } } });
const sync = proto.HistorySync.encode({
  syncType: proto.HistorySync.HistorySyncType.RECENT,
  conversations: [
    {
      id: '1@lid',
      messages: [message('new'), message('x'.repeat(200_000)), message('old')],
      unreadCount: 2,
      participant: [{ userJid: '9@lid' }],
      pnJid: '491@s.whatsapp.net',
      lastMsgTimestamp: 1_700_000_000,
    },
    { id: '2@g.us', messages: [] },
  ],
  pushnames: [{ id: '1@lid', pushname: 'Ada' }],
  globalSettings: { mediaVisibility: 1 },
  phoneNumberToLidMappings: [{ lidJid: '1@lid', pnJid: '491@s.whatsapp.net' }],
}).finish();

it('reads the entries of a part in their order', async () => {
  assert.deepEqual(await read(deflateSync(sync)), [
    '1@lid: new',
    '1@lid: xxxxxxxxxxxxxxxxxxxx',
    '1@lid: old',
    '1@lid, 2 unread, 491@s.whatsapp.net',
    '2@g.us, undefined unread, undefined',
    '1@lid is Ada',
    '1@lid has 491@s.whatsapp.net',
  ]);
});

it('leaves out the messages of a part', async () => {
  const parts = await read(deflateSync(sync), false);
  assert.deepEqual(parts.slice(0, 2), ['1@lid, 2 unread, 491@s.whatsapp.net', '2@g.us, undefined unread, undefined']);
});

it('rejects a part that is cut off anywhere', async () => {
  const short = proto.HistorySync.encode({
    syncType: proto.HistorySync.HistorySyncType.RECENT,
    conversations: [{ id: '1@lid', messages: [message('new')] }],
  }).finish();
  // The first field alone is a whole part without chats.
  for (let end = 3; end < short.length; end++)
    await assert.rejects(read(deflateSync(short.subarray(0, end))), HistoryError, `${end} bytes`);
});

it('rejects an entry that is too large', async () => {
  const large = proto.HistorySync.encode({
    syncType: proto.HistorySync.HistorySyncType.RECENT,
    conversations: [{ id: '1@lid', messages: [message('x'.repeat(2 * 1024 * 1024))] }],
  }).finish();
  await assert.rejects(read(deflateSync(large)), /too large/);
});
