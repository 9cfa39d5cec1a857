import assert from 'node:assert/strict';
import { it } from 'node:test';
import * as baileys from 'baileys';
import { Self } from '../../../src/connectors/whatsapp/people/self.ts';

const linked = (me: { id: string; lid?: string }) => new Self(baileys, { ...baileys.initAuthCreds(), me });

it('the own account is recognized by number and LID, from any device', () => {
  const self = linked({ id: '15551234567:3@s.whatsapp.net', lid: '998877:3@lid' });
  assert.equal(self.phoneNumber, '15551234567');
  assert.equal(self.jid, '15551234567@s.whatsapp.net');
  for (const jid of ['15551234567@s.whatsapp.net', '15551234567:9@s.whatsapp.net', '998877@lid'])
    assert.ok(self.is(jid), jid);
  assert.equal(self.is('15557654321@s.whatsapp.net'), false);
});

it('the own account matches no missing address, even while its LID is unknown', () => {
  const self = linked({ id: '15551234567:3@s.whatsapp.net' });
  for (const jid of [undefined, null, '']) assert.equal(self.is(jid), false);
});

it('the own account has no number before the device is linked', () => {
  const self = new Self(baileys, baileys.initAuthCreds());
  assert.deepEqual([self.phoneNumber, self.jid], ['', '']);
  assert.throws(() => self.addresses, /not linked/);
});
