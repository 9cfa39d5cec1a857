import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as baileys from 'baileys';
import { pino } from 'pino';
import { Retries } from '../../../src/connectors/whatsapp/outbound/retries.ts';
import { keepSent, withdrawSent } from '../../../src/connectors/whatsapp/outbound/sentMessages.ts';
import { Addresses } from '../../../src/connectors/whatsapp/people/addresses.ts';
import type { Groups } from '../../../src/connectors/whatsapp/people/groups.ts';
import type { Session } from '../../../src/connectors/whatsapp/session.ts';

const OWN = '15550000000@s.whatsapp.net';
const GROUP = '100@g.us';
const STATUS = 'status@broadcast';
const BOB = { number: '15551111111@s.whatsapp.net', lid: '1111@lid' };
const MALLORY = { number: '15552222222@s.whatsapp.net', lid: '2222@lid' };

/** A session that knows both addresses of Bob and Mallory, and Bob as the only member of the group. */
function begin() {
  const stored = new Map<string, string>();
  const pairs = [BOB, MALLORY];
  const lids = new Map(pairs.map(({ number, lid }) => [number.split('@')[0], lid.split('@')[0]]));
  const newest = {
    authState: { keys: { get: async (_: string, [number = '']: string[]) => ({ [number]: lids.get(number) }) } },
    signalRepository: {
      lidMapping: { getPNForLID: async (jid: string) => pairs.find(({ lid }) => lid === jid)?.number ?? null },
    },
  };
  // Only these fields are read.
  const session = {
    baileys,
    self: { is: (jid: string) => baileys.areJidsSameUser(jid, OWN) },
    link: { newest, on: () => {} },
    host: { log: pino({ level: 'silent' }) },
    store: {
      get: async (key: string) => stored.get(key),
      set: async (key: string, value: string) => void stored.set(key, value),
      write: async (changes: ReadonlyMap<string, string>) => {
        for (const [key, value] of changes) stored.set(key, value);
      },
    },
  } as unknown as Session;
  const groups = {
    hasMember: async (_: string, addresses: string[]) => addresses.includes(BOB.lid),
  } as unknown as Groups;
  const retries = new Retries(session, new Addresses(session), groups);
  const find = async (remoteJid: string, participant?: string) =>
    (await retries.find({ id: 'ID', remoteJid, ...(participant && { participant }) }))?.conversation;
  return { session, stored, find };
}

const TEXT = { conversation: 'secret' };

describe('a requested message', () => {
  it('is found under both addresses of its person, from each device', async () => {
    const { session, find } = begin();
    await keepSent(session, 'ID', TEXT, [BOB.number]);
    for (const jid of [BOB.number, BOB.lid, '1111:7@lid', '15551111111:7@s.whatsapp.net'])
      assert.equal(await find(jid, jid), 'secret', jid);
    for (const jid of [MALLORY.number, MALLORY.lid, GROUP, STATUS, '', 'x'])
      assert.equal(await find(jid, jid), undefined, jid);
  });

  it('is found by our devices, in each chat', async () => {
    const { session, find } = begin();
    await keepSent(session, 'ID', TEXT, [BOB.lid]);
    assert.equal(await find(BOB.lid, '15550000000:3@s.whatsapp.net'), 'secret');
  });

  it('is found by group members alone', async () => {
    const { session, find } = begin();
    await keepSent(session, 'ID', TEXT, [GROUP]);
    assert.equal(await find(GROUP, '1111:2@lid'), 'secret');
    for (const [chat, person] of [
      [GROUP, MALLORY.lid],
      ['200@g.us', BOB.lid],
      [BOB.lid, BOB.lid],
    ] as const)
      assert.equal(await find(chat, person), undefined, `${chat} ${person}`);
  });

  it('is found by the audience of a status alone', async () => {
    const { session, find } = begin();
    await keepSent(session, 'ID', TEXT, [STATUS], [BOB.lid]);
    assert.equal(await find(STATUS, BOB.number), 'secret');
    assert.equal(await find(STATUS, MALLORY.number), undefined);
  });

  it('is not found without its chat, which earlier versions did not keep', async () => {
    const { session, stored, find } = begin();
    await keepSent(session, 'ID', TEXT, [BOB.lid]);
    for (const [key, value] of stored) stored.set(key, JSON.stringify(JSON.parse(value).slice(0, 2)));
    assert.equal(await find(BOB.lid), undefined);
  });

  it('is found again after its deletion was refused', async () => {
    const { session, find } = begin();
    await keepSent(session, 'ID', TEXT, [BOB.lid]);
    const restore = await withdrawSent(session, 'ID');
    assert.equal(await find(BOB.lid), undefined);
    await restore();
    assert.equal(await find(BOB.number), 'secret');
  });
});
