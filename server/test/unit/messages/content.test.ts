import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { MessageContent } from '../../../src/connectors/contract/content.ts';
import { withinLimits } from '../../../src/messages/content.ts';

const long = (length: number) => 'x'.repeat(length);
const located = (latitude: number, longitude: number, more: object = {}): MessageContent => ({
  type: 'location',
  text: '',
  location: { latitude, longitude, ...more },
});
const polled = (options: string[], maxSelections: number): MessageContent => ({
  type: 'poll',
  text: 'Lunch?',
  poll: { options, maxSelections },
});

describe('content from a network', () => {
  it('is unchanged within the limits of the API', () => {
    const contents: MessageContent[] = [
      { type: 'text', text: 'hello', isForwarded: true },
      { type: 'text', text: 'hello', mentions: ['491701111111'], payload: long(1024) },
      located(90, -180, { name: long(200), address: long(500) }),
      located(0, 0),
      { type: 'contact', text: '', contact: { name: long(200), phoneNumbers: Array(10).fill(long(40)) } },
      polled(Array(12).fill(long(100)), 12),
      polled(['yes', 'no'], 1),
    ];
    for (const content of contents) assert.deepEqual(withinLimits(content), content);
  });

  it('keeps the known types of a quoted message', () => {
    const reply = (type: string): MessageContent => ({
      type: 'text',
      text: 'yes',
      quoted: { networkId: 'ABC', type: type as MessageContent['type'] },
    });
    assert.deepEqual(withinLimits(reply('order')).quoted, { networkId: 'ABC', type: 'order' });
    assert.deepEqual(withinLimits(reply('hologram')).quoted, { networkId: 'ABC' });
  });

  it('is truncated to the limits of the API', () => {
    const contact = { name: long(201), phoneNumbers: [long(41), ...Array.from({ length: 12 }, (_, n) => `${n}`)] };
    const cases: [content: MessageContent, expected: Partial<MessageContent>][] = [
      [{ type: 'text', text: '', payload: long(1025) }, { payload: long(1024) }],
      [{ type: 'text', text: '', mentions: Array(1025).fill('1') }, { mentions: Array(1024).fill('1') }],
      [
        located(1, 2, { name: long(201), address: long(501) }),
        { location: { latitude: 1, longitude: 2, name: long(200), address: long(500) } },
      ],
      [
        { type: 'contact', text: '', contact },
        { contact: { name: long(200), phoneNumbers: contact.phoneNumbers.slice(1, 11) } },
      ],
      [polled([long(101)], 1), { poll: { options: [long(100)], maxSelections: 1 } }],
      [polled(Array(13).fill('x'), 13), { poll: { options: Array(12).fill('x'), maxSelections: 12 } }],
      [polled(['a', 'b'], 0), { poll: { options: ['a', 'b'], maxSelections: 1 } }],
      [polled(['a', 'b'], 3), { poll: { options: ['a', 'b'], maxSelections: 2 } }],
      [polled([], 3), { poll: { options: [], maxSelections: 1 } }],
    ];
    for (const [content, expected] of cases) assert.deepEqual(withinLimits(content), { ...content, ...expected });
  });

  it('has only the parts that the API knows', () => {
    const plain = { type: 'text', text: 'hello' } as const;
    const unknown = long(1024 * 1024);
    assert.deepEqual(withinLimits({ ...plain, unknown, isForwarded: false, mentions: [] } as MessageContent), plain);
    const lost = { ...located(91, 0), text: 'here', unknown };
    assert.deepEqual(withinLimits(lost), { type: 'text', text: 'here' });
  });

  it('becomes text if its location does not exist', () => {
    for (const [latitude, longitude] of [
      [90.1, 0],
      [-91, 0],
      [0, 180.5],
      [Number.NaN, 0],
      [0, Number.POSITIVE_INFINITY],
    ] as const) {
      const named = located(latitude, longitude, { name: long(201) });
      assert.deepEqual(withinLimits(named), { type: 'text', text: long(200) });
      assert.deepEqual(withinLimits({ ...named, text: 'here' }), { type: 'text', text: 'here' });
      assert.deepEqual(withinLimits(located(latitude, longitude)), { type: 'text', text: '' });
    }
  });

  it('is never truncated within a character', () => {
    const { payload } = withinLimits({ type: 'text', text: '', payload: `${long(1023)}😀` });
    assert.equal(payload, long(1023));
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 990, maxLength: 1030 }), (text) => {
        assert.ok(withinLimits({ type: 'text', text: '', payload: text }).payload?.isWellFormed());
      }),
      { numRuns: 20 },
    );
  });

  it('is not truncated twice', () => {
    const texts = fc.array(fc.string({ maxLength: 120 }), { maxLength: 15 });
    const content = fc.record<MessageContent>({
      type: fc.constant('text'),
      text: fc.string(),
      location: fc.record({ latitude: fc.double({ noNaN: true }), longitude: fc.double({ min: -200, max: 200 }) }),
      contact: fc.record({ name: fc.string({ maxLength: 300 }), phoneNumbers: texts }),
      poll: fc.record({ options: texts, maxSelections: fc.integer() }),
    });
    fc.assert(
      fc.property(content, (received) => {
        const once = withinLimits(received);
        assert.deepEqual(withinLimits(once), once);
      }),
    );
  });
});
