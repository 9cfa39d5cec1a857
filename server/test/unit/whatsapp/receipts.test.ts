import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { BinaryNode } from 'baileys';
import { receiptOf } from '../../../src/connectors/whatsapp/inbound/receipts.ts';
import { toWireId } from '../../../src/connectors/whatsapp/outbound/messageIds.ts';

const NOW = Date.UTC(2026, 0, 1);
const OWN = '491700000000@s.whatsapp.net';
const FRIEND = '491701111111@s.whatsapp.net';
const OURS = 'msg_01JD3V0Z5W8QK4T0N9R2X7C6BA';

const read = (attrs: BinaryNode['attrs'], content?: BinaryNode['content']) =>
  receiptOf({ tag: 'receipt', attrs, ...(content !== undefined && { content }) }, (jid) => jid === OWN, NOW);

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

  it('is ignored if it names no message or comes from our own devices', () => {
    assert.equal(read({ from: FRIEND }), undefined);
    assert.equal(read({ id: 'A', from: OWN, recipient: FRIEND }), undefined);
    assert.equal(read({ id: 'A', from: '1@g.us', participant: OWN }), undefined);
    assert.ok(read({ id: 'A', from: '1@g.us', participant: FRIEND }));
  });
});
