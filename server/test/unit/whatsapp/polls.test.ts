import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as baileys from 'baileys';
import { findPoll, keepPoll } from '../../../src/connectors/whatsapp/sealed/polls.ts';
import type { Session } from '../../../src/connectors/whatsapp/session.ts';

const IN_GROUP = { id: 'POLL', remoteJid: '100@g.us', participant: '15551111111@s.whatsapp.net' };
const DIRECT = { id: 'POLL', remoteJid: '15552222222@s.whatsapp.net' };

function begin() {
  const stored = new Map<string, string>();
  const session = {
    baileys,
    self: { is: () => false, addresses: { id: '15550000000@s.whatsapp.net', lid: '' } },
    store: {
      get: async (key: string) => stored.get(key),
      set: async (key: string, value: string) => void stored.set(key, value),
    },
  } as unknown as Session;
  return { session, stored };
}

const pollOf = (fill: number, options = ['Yes', 'No'], bytes = 32) => ({
  messageContextInfo: { messageSecret: Buffer.alloc(bytes, fill) },
  pollCreationMessage: { name: 'When?', options: options.map((optionName) => ({ optionName })) },
});

describe('stored polls', () => {
  it('are found by their chat and id', async () => {
    const { session } = begin();
    await keepPoll(session, IN_GROUP, pollOf(1));
    await keepPoll(session, DIRECT, pollOf(2));
    const [inGroup, direct] = [await findPoll(session, IN_GROUP, 'POLL'), await findPoll(session, DIRECT, 'POLL')];
    assert.deepEqual([inGroup?.secret[0], direct?.secret[0]], [1, 2]);
    assert.deepEqual([inGroup?.authors, inGroup?.options], [[IN_GROUP.participant], ['Yes', 'No']]);
    const byLid = await findPoll(session, { remoteJid: '77@lid' }, 'POLL');
    assert.equal(byLid?.secret[0], 2, 'the other address of the same person');
  });

  it('are not replaced by others with their id', async () => {
    const { session } = begin();
    await keepPoll(session, IN_GROUP, pollOf(1));
    await keepPoll(session, { ...IN_GROUP, participant: '15553333333@s.whatsapp.net' }, pollOf(3));
    assert.equal((await findPoll(session, IN_GROUP, 'POLL'))?.secret[0], 1);
  });

  it('have a bounded size, and a secret of the right length', async () => {
    const { session, stored } = begin();
    const options = ['x'.repeat(100_000), ...Array.from({ length: 5000 }, (_, n) => `option ${n}`)];
    await keepPoll(session, IN_GROUP, { ...pollOf(1, options), conversation: 'y'.repeat(100_000) });
    assert.deepEqual((await findPoll(session, IN_GROUP, 'POLL'))?.options.length, 11);
    assert.ok([...stored.values()].join('').length < 1000);
    await keepPoll(session, { ...IN_GROUP, id: 'OTHER' }, pollOf(1, ['Yes'], 100_000));
    assert.equal(await findPoll(session, IN_GROUP, 'OTHER'), undefined);
  });
});
