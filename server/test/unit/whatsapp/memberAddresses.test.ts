import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { GroupMetadata } from 'baileys';
import * as baileys from 'baileys';
import type { Addresses } from '../../../src/connectors/whatsapp/people/addresses.ts';
import { MemberAddresses } from '../../../src/connectors/whatsapp/people/memberAddresses.ts';
import type { Session } from '../../../src/connectors/whatsapp/session.ts';
import { createFakeClock } from '../../support/fakeClock.ts';
import { createTestStore } from '../../whatsapp/host.ts';

const GROUP = '100@g.us';
const OWN = '15550000000';
const [BY_LID, BY_NUMBER] = ['77@lid', `${OWN}@s.whatsapp.net`];
const DAY_MS = 24 * 60 * 60_000;

function begin() {
  const clock = createFakeClock();
  const store = createTestStore();
  const self = { phoneNumber: OWN, lidJid: BY_LID, jid: BY_NUMBER };
  const session = { baileys, self, store, link: { on() {} }, host: { clock } } as unknown as Session;
  /** Begins again, like the next process. */
  const open = () => new MemberAddresses(session, {} as unknown as Addresses);
  const list = (members: MemberAddresses, id: string) =>
    members.noteGroup(undefined, { id: GROUP, participants: [{ id }] } as unknown as GroupMetadata);
  return { clock, store, open, list };
}

describe('addresses in a group', () => {
  it('stay LIDs after a backlog from before the migration, which keeps its numbers', async () => {
    const { clock, open, list } = begin();
    const members = open();
    const now = clock.now();
    await list(members, '88@lid');
    await members.noteMessage(GROUP, '15551111111@s.whatsapp.net', now - 2 * DAY_MS);
    await members.noteMessage(GROUP, '15551111111@s.whatsapp.net', now - DAY_MS);
    for (const one of [members, open()]) {
      assert.equal(await one.addressOf(GROUP, OWN), BY_LID);
      assert.equal(await one.addressOf(GROUP, OWN, now - 1), BY_LID);
      assert.equal(await one.addressOf(GROUP, OWN, now - DAY_MS), BY_NUMBER);
    }
  });

  it('become numbers with a later message, and LIDs with the next list', async () => {
    const { clock, open, list } = begin();
    const members = open();
    await list(members, '88@lid');
    clock.skip(DAY_MS);
    await members.noteMessage(GROUP, '15551111111@s.whatsapp.net', clock.now());
    assert.equal(await members.addressOf(GROUP, OWN), BY_NUMBER);
    assert.equal(await members.addressOf(GROUP, OWN, clock.now() - 1), BY_LID);
    await list(members, '15551111111@s.whatsapp.net');
    assert.equal(await members.addressOf(GROUP, OWN), BY_NUMBER);
    clock.skip(DAY_MS);
    await list(members, '88@lid');
    assert.equal(await members.addressOf(GROUP, OWN), BY_LID);
    assert.equal(await members.addressOf(GROUP, OWN, clock.now() - 1), BY_NUMBER);
    assert.equal(await members.addressOf(GROUP, OWN, clock.now() - 2 * DAY_MS), BY_LID);
  });

  it('are stored once for a group that is listed with each connection', async () => {
    const { clock, store, open, list } = begin();
    await list(open(), '88@lid');
    store.refuses = () => true;
    clock.skip(DAY_MS);
    await list(open(), '88@lid');
    assert.equal(await open().addressOf(GROUP, OWN), BY_LID);
  });
});
