import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isInRanges, parseAddressRange } from '../../../src/egress/addressRanges.ts';

describe('a range of addresses', () => {
  const cases: readonly [range: string, inside: readonly string[], outside: readonly string[]][] = [
    ['10.1.0.0/16', ['10.1.0.0', '10.1.255.255', '::ffff:10.1.2.3'], ['10.2.0.0', '::1', '::a01:203']],
    ['10.1.2.3/16', ['10.1.9.9'], ['10.2.2.3']],
    ['203.0.113.7', ['203.0.113.7', '::ffff:203.0.113.7', '::ffff:cb00:7107'], ['203.0.113.8']],
    ['203.0.113.7/32', ['203.0.113.7'], ['203.0.113.6']],
    ['0.0.0.0/0', ['1.2.3.4', '::ffff:1.2.3.4'], ['::1', '2001:db8::1']],
    ['::/0', ['::1', '2001:db8::1'], ['1.2.3.4', '::ffff:1.2.3.4']],
    ['2001:db8::/33', ['2001:db8:7fff::1', '2001:0DB8::1'], ['2001:db8:8000::1', '10.0.0.1']],
    ['fe80::1', ['fe80::1', 'fe80::1%eth0'], ['fe80::2']],
    ['::ffff:10.0.0.0/104', ['10.9.9.9', '::ffff:10.0.0.1'], ['11.0.0.0', '::1']],
    ['::ffff:10.0.0.1', ['10.0.0.1'], ['10.0.0.2']],
  ];

  it('has the addresses of its network, in every form', () => {
    for (const [text, inside, outside] of cases) {
      const range = parseAddressRange(text);
      assert.ok(range, text);
      for (const address of inside) assert.ok(isInRanges([range], address), `${address} in ${text}`);
      for (const address of outside) assert.ok(!isInRanges([range], address), `${address} not in ${text}`);
    }
  });

  it('has no address that cannot be read', () => {
    const ranges = ['0.0.0.0/0', '::/0'].map(parseAddressRange).filter((range) => range !== undefined);
    for (const address of ['', 'unknown', '1.2.3', '1.2.3.4.5', '10.0.0.1, 10.0.0.2'])
      assert.equal(isInRanges(ranges, address), false, address);
  });

  it('is refused unless it is an address or a network in full', () => {
    const wrong = [
      '',
      '10',
      '10.1/16',
      '10.0.0.0/',
      '10.0.0.0/33',
      '10.0.0.0/-1',
      '10.0.0.0/8/8',
      '10.0.0.0/ 8',
      '::/129',
    ];
    for (const text of [...wrong, 'fe80::1%eth0', 'localhost', '0x0a000001', '010.0.0.1', ' 10.0.0.1', '*'])
      assert.equal(parseAddressRange(text), undefined, text);
  });
});
