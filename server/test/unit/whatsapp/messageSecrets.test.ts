import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { WAMessageKey } from 'baileys';
import * as baileys from 'baileys';
import { findSecret, secretEntryOf } from '../../../src/connectors/whatsapp/sealed/messageSecrets.ts';
import type { Session } from '../../../src/connectors/whatsapp/session.ts';
import { createTestStore } from '../../whatsapp/host.ts';

const NUMBER = '15551111111@s.whatsapp.net';
const LID = '77@lid';
const OTHER = '15553333333@s.whatsapp.net';
const IN_GROUP = { id: 'ID', remoteJid: '100@g.us', participant: LID, participantAlt: NUMBER };
const DIRECT = { id: 'ID', remoteJid: LID, remoteJidAlt: NUMBER };

function begin() {
  const store = createTestStore();
  const addresses = { id: '15550000000@s.whatsapp.net', lid: '99@lid' };
  const session = { baileys, store, self: { is: () => false, addresses } } as unknown as Session;
  return {
    async keep(key: WAMessageKey, fill: number) {
      const layers = [{ messageContextInfo: { messageSecret: Buffer.alloc(32, fill) } }];
      const entry = await secretEntryOf(session, key, layers);
      if (entry !== undefined) await store.set(entry.key, entry.value);
    },
    find: async (key: WAMessageKey) => (await findSecret(session, key, key.id ?? ''))?.secret[0],
  };
}

describe('stored secrets of messages', () => {
  for (const [chat, key, theirs] of [
    ['a group', IN_GROUP, { ...IN_GROUP, participant: OTHER, participantAlt: undefined }],
    ['a direct chat', DIRECT, { ...DIRECT, remoteJid: OTHER, remoteJidAlt: undefined }],
  ] as const)
    it(`are not replaced by a message of another person with the same id in ${chat}`, async () => {
      const { keep, find } = begin();
      await keep(key, 1);
      await keep(theirs, 2);
      assert.equal(await find(key), 1);
    });

  it('are not replaced if the session sent the message', async () => {
    const { keep, find } = begin();
    await keep({ ...IN_GROUP, fromMe: true }, 1);
    await keep(IN_GROUP, 2);
    assert.equal(await find(IN_GROUP), 1);
    await keep({ ...IN_GROUP, fromMe: true }, 3);
    assert.equal(await find(IN_GROUP), 3);
  });

  it('are replaced by the same person under either address', async () => {
    const { keep, find } = begin();
    await keep(IN_GROUP, 1);
    await keep({ ...IN_GROUP, participant: NUMBER, participantAlt: undefined }, 2);
    assert.equal(await find(IN_GROUP), 2);
  });

  it('differ between a group and a direct chat', async () => {
    const { keep, find } = begin();
    await keep(IN_GROUP, 1);
    await keep(DIRECT, 2);
    assert.deepEqual([await find(IN_GROUP), await find(DIRECT)], [1, 2]);
  });
});
