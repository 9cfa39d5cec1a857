import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { it } from 'node:test';
import * as baileys from 'baileys';
import type { NetworkEvent } from '../../../src/connectors/contract/events.ts';
import { AddressBook } from '../../../src/connectors/whatsapp/people/addressBook.ts';
import type { Addresses } from '../../../src/connectors/whatsapp/people/addresses.ts';
import type { Session } from '../../../src/connectors/whatsapp/session.ts';
import { createLog } from '../../support/fakeWhatsapp/log.ts';

it('reports the first address book like history, and later changes one by one', async () => {
  const link = new EventEmitter();
  const ev = new EventEmitter();
  const creds = { accountSyncCounter: 0 };
  const events = createLog<NetworkEvent>('reported events', ({ type }) => type);
  const reporter = { report: async (event: NetworkEvent) => void events.add(event) };
  const self = { is: (jid: string) => jid === '1@s.whatsapp.net' };
  const host = { log: { warn: (fields: object) => assert.fail(JSON.stringify(fields)) } };
  const addresses = { digitsOf: async (jid: string, pn?: string) => (pn ?? jid).split('@')[0] };
  // Only these parts are used.
  new AddressBook(
    { link, creds, reporter, self, host, baileys } as unknown as Session,
    addresses as unknown as Addresses,
  );
  link.emit('socket', { ev });
  ev.emit('contacts.upsert', [
    { id: '491701111111@s.whatsapp.net', name: 'Ada' },
    { id: '77@lid', phoneNumber: '491702222222@s.whatsapp.net', name: 'Ben' },
    { id: '1@s.whatsapp.net', name: 'Myself' },
    { id: '5@g.us', name: 'A group' },
    { id: '491703333333@s.whatsapp.net' },
  ]);
  const first = await events.waitFor(({ type }) => type === 'history');
  assert.deepEqual(first.type === 'history' && first.contacts, [
    { phoneNumber: '491701111111', savedName: 'Ada' },
    { phoneNumber: '491702222222', savedName: 'Ben' },
  ]);
  creds.accountSyncCounter = 1;
  ev.emit('contacts.upsert', [{ id: '491701111111@s.whatsapp.net', name: 'Ada L.' }]);
  const later = await events.waitFor(({ type }) => type === 'contact_saved');
  assert.deepEqual(later, { type: 'contact_saved', phoneNumber: '491701111111', name: 'Ada L.' });
});
