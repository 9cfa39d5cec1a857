import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { BinaryNode } from 'baileys';
import { receiptsOf } from '../../../src/connectors/whatsapp/inbound/receipts.ts';
import { toWireId } from '../../../src/connectors/whatsapp/outbound/messageIds.ts';

const NOW = Date.UTC(2026, 0, 1);
const OWN = '491700000000@s.whatsapp.net';
const FRIEND = '491701111111@s.whatsapp.net';
const OURS = 'msg_01JD3V0Z5W8QK4T0N9R2X7C6BA';

const readAll = (attrs: BinaryNode['attrs'], content?: BinaryNode['content']) =>
  receiptsOf({ tag: 'receipt', attrs, ...(content !== undefined && { content }) }, (jid) => jid === OWN, NOW);
const read = (...given: Parameters<typeof readAll>) => readAll(...given)?.[0]?.receipt;

describe('a WhatsApp receipt', () => {
  it('derives the status from its type', () => {
    const cases: [type: string | undefined, status: 'delivered' | 'read' | undefined][] = [
      [undefined, 'delivered'],
      ['', 'delivered'],
      ['inactive', 'delivered'],
      ['read', 'read'],
      ['played', 'read'],
      ['retry', undefined],
      ['sender', undefined],
      ['read-self', undefined],
      ['server-error', undefined],
      ['constructor', undefined],
    ];
    for (const [type, status] of cases) {
      const receipt = read({ id: 'A', from: FRIEND, ...(type !== undefined && { type }) });
      assert.equal(receipt?.status, status, `${type}`);
    }
  });

  it('names all messages that it covers, with the ids of Switchboard', () => {
    const list = (tag: string, ids: string[]): BinaryNode[] => [
      { tag, attrs: {}, content: ids.map((id) => ({ tag: 'item', attrs: { id } })) },
    ];
    assert.deepEqual(read({ id: toWireId(OURS) })?.networkIds, [OURS]);
    assert.deepEqual(read({ id: 'A' }, list('list', ['B', toWireId(OURS)]))?.networkIds, ['A', 'B', OURS]);
    assert.deepEqual(read({ id: 'A' }, list('participants', ['B']))?.networkIds, ['A']);
    assert.deepEqual(read({ id: 'A' }, [{ tag: 'list', attrs: {} }])?.networkIds, ['A']);
    assert.deepEqual(
      read({ id: 'A' }, [{ tag: 'list', attrs: {}, content: [{ tag: 'item', attrs: {} }] }])?.networkIds,
      ['A'],
    );
    assert.deepEqual(read({ id: 'A' }, new Uint8Array([1]))?.networkIds, ['A']);
  });

  it('has its own time, or the current one if missing', () => {
    assert.equal(read({ id: 'A', t: '1767225600' })?.timestamp, 1767225600000);
    assert.equal(read({ id: 'A' })?.timestamp, NOW);
  });

  it('reports the member of a group, each member if the server joins their receipts, and the other address', () => {
    const member = '15550001@lid';
    const receipts = readAll({ id: 'A', from: '1@g.us', participant: member, participant_pn: FRIEND });
    assert.deepEqual(
      receipts?.map(({ member, alternative }) => [member, alternative]),
      [[member, FRIEND]],
    );
    assert.equal(readAll({ id: 'A', from: FRIEND })?.[0]?.member, undefined);
    assert.equal(readAll({ id: 'A', from: member, sender_pn: FRIEND })?.[0]?.alternative, FRIEND);
    assert.equal(
      readAll({ id: 'A', from: '1@g.us', participant: member, sender_pn: FRIEND })?.[0]?.alternative,
      undefined,
    );
    const user = (jid: string, t?: string) => ({ tag: 'user', attrs: { jid, ...(t !== undefined && { t }) } });
    const joined = readAll({ id: 'A', from: '1@g.us', type: 'read', t: '1' }, [
      { tag: 'participants', attrs: { key: toWireId(OURS) }, content: [user(member, '2'), user(OWN, '2')] },
      { tag: 'participants', attrs: { key: 'B' }, content: [user(FRIEND), { tag: 'user', attrs: {} }] },
      { tag: 'participants', attrs: {}, content: [user(FRIEND)] },
    ]);
    assert.deepEqual(
      joined?.map(({ receipt: { networkIds, status, timestamp }, member }) => [networkIds, status, timestamp, member]),
      [
        [[OURS], 'read', 2000, member],
        [['B'], 'read', 1000, FRIEND],
      ],
    );
  });

  it('is ignored if it names no message or comes from our own devices', () => {
    assert.equal(read({ from: FRIEND }), undefined);
    assert.equal(read({ id: 'A', from: OWN, recipient: FRIEND }), undefined);
    assert.equal(read({ id: 'A', from: '1@g.us', participant: OWN }), undefined);
    assert.ok(read({ id: 'A', from: '1@g.us', participant: FRIEND }));
  });
});
