import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkUrl, createLookup, createTargetPolicy, type Lookup } from '../../../src/egress/target.ts';

const strict = createTargetPolicy({ host: '0.0.0.0', allowedCidrs: [] });
const local = createTargetPolicy({ host: '127.0.0.1', allowedCidrs: [] });
const resolvesTo =
  (...addresses: string[]): Lookup =>
  (_, __, callback) =>
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );

describe('a URL', () => {
  it('is rejected with the rule it breaks', () => {
    const rules: [url: string, rule: string][] = [
      ['', 'not_absolute'],
      ['example.com/hook', 'not_absolute'],
      ['/hook', 'not_absolute'],
      ['//example.com', 'not_absolute'],
      ['http:example.com', 'not_absolute'],
      ['http:/example.com', 'not_absolute'],
      ['http:\\\\example.com', 'not_absolute'],
      ['http://example.com\\@127.0.0.1/', 'not_absolute'],
      ['http://exa\nmple.com/', 'not_absolute'],
      ['http://exa mple.com/', 'not_absolute'],
      ['http://[::1', 'not_absolute'],
      ['http://1.2.3.4.5.6.7.8/', 'not_absolute'],
      ['ftp://example.com/', 'scheme'],
      ['file:///etc/passwd', 'not_absolute'],
      ['javascript://example.com/', 'scheme'],
      ['https://user@example.com/', 'credentials'],
      ['https://user:pass@example.com/', 'credentials'],
      [`https://example.com/${'x'.repeat(2100)}`, 'too_long'],
    ];
    for (const [url, rule] of rules) {
      const verdict = checkUrl(url, strict);
      assert.equal(verdict.ok ? 'allowed' : verdict.rule, rule, url);
    }
    const ftp = checkUrl('ftp://example.com/', strict);
    assert.equal(ftp.ok ? '' : ftp.message, 'The URL must use http or https, not ftp');
  });

  it('with a private literal address is rejected in every spelling', () => {
    const hosts = [
      '127.0.0.1',
      '127.1',
      '0x7f000001',
      '0x7f.1',
      '017700000001',
      '2130706433',
      '0177.0.0.1',
      '127.0.0.1.',
      '１２７.０.０.１',
      'localhost',
      'LOCALHOST',
      'foo.localhost',
      'localhost.',
      'ⓛocalhost',
      '%6c%6fcalhost',
      '%31%32%37.0.0.1',
      '0.0.0.0',
      '0',
      '10.1.2.3',
      '172.16.0.1',
      '172.31.255.255',
      '192.168.1.1',
      '169.254.169.254',
      '100.64.0.1',
      '100.127.255.255',
      '192.0.0.8',
      '192.0.2.1',
      '198.18.0.1',
      '198.19.255.255',
      '198.51.100.7',
      '203.0.113.9',
      '192.88.99.1',
      '224.0.0.1',
      '239.255.255.255',
      '240.0.0.1',
      '255.255.255.255',
      '[::]',
      '[::1]',
      '[0:0:0:0:0:0:0:1]',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '[::ffff:8.8.8.8]',
      '[::7f00:1]',
      '[::127.0.0.1]',
      '[::8.8.8.8]',
      '[64:ff9b::7f00:1]',
      '[64:ff9b::808:808]',
      '[64:ff9b:1::1]',
      '[2002:7f00:1::]',
      '[2002:808:808::1]',
      '[2001::1]',
      '[2001:0:7f00:1::]',
      '[2001:db8::1]',
      '[3fff::1]',
      '[2001:2::1]',
      '[2001:10::1]',
      '[2001:20::1]',
      '[fc00::1]',
      '[fd00:ec2::254]',
      '[fe80::1]',
      '[fec0::1]',
      '[ff02::1]',
      '[100::1]',
      '[5f00::1]',
      '[2606:4700::5efe:7f00:1]',
      '[2606:4700::200:5efe:a00:1]',
      '[4000::1]',
      '[::ffff:0:127.0.0.1]',
      // Cloud metadata services, whatever type of address they have.
      '168.63.129.16',
      '2822734096',
      '100.100.100.200',
      '192.0.0.192',
      '169.254.170.2',
      '169.254.0.23',
      '[fd20:ce::254]',
      '[fd00:c1::a9fe:a9fe]',
      '[fe80::a9fe:a9fe]',
    ];
    for (const host of hosts) {
      const verdict = checkUrl(`http://${host}/hook`, strict);
      assert.equal(verdict.ok ? 'allowed' : verdict.rule, 'address', host);
    }
  });

  it('with a public address is accepted', () => {
    for (const url of [
      'https://example.com/hook?x=1',
      'HTTPS://EXAMPLE.COM',
      'http://8.8.8.8:8080/',
      'http://[2606:4700:4700::1111]/',
      'http://172.32.0.1/',
      'http://100.128.0.1/',
      'http://192.169.0.1/',
      'http://168.63.129.15/',
      'http://168.63.129.17/',
      'https://localhost.example.com/',
      'https://münchen.example/',
    ]) {
      assert.equal(checkUrl(url, strict).ok, true, url);
    }
  });
});

describe('the target policy', () => {
  it('lets a loopback-only server reach its own machine in plain forms', () => {
    for (const host of ['127.0.0.1', '127.8.9.10', '[::1]', 'localhost', 'app.localhost']) {
      assert.equal(checkUrl(`http://${host}:3000/`, local).ok, true, host);
    }
    for (const host of ['[::ffff:127.0.0.1]', '10.0.0.1', '0.0.0.0', '169.254.169.254']) {
      assert.equal(checkUrl(`http://${host}/`, local).ok, false, host);
    }
    for (const host of ['localhost', '::1', '127.0.0.2'])
      assert.equal(createTargetPolicy({ host, allowedCidrs: [] }).allowLoopback, true);
    for (const host of ['0.0.0.0', '::', '192.168.1.5', 'example.com']) {
      assert.equal(createTargetPolicy({ host, allowedCidrs: [] }).allowLoopback, false, host);
    }
  });

  it('forbids its own machine if a proxy or another host name leads to it', () => {
    const isAllowed = (more: Partial<Parameters<typeof createTargetPolicy>[0]>) =>
      createTargetPolicy({ host: '127.0.0.1', allowedCidrs: [], ...more }).allowLoopback;
    assert.equal(isAllowed({ otherHosts: ['localhost', '[::1]'] }), true);
    assert.equal(isAllowed({ otherHosts: ['localhost', 'chat.example.com'] }), false);
    assert.equal(isAllowed({ otherHosts: ['*'] }), false);
    assert.equal(isAllowed({ isBehindProxy: true }), false);
  });

  it('allows exactly the configured ranges', () => {
    const policy = createTargetPolicy({ host: '0.0.0.0', allowedCidrs: ['10.1.0.0/16', 'fd00::/8'] });
    assert.equal(checkUrl('http://10.1.2.3/', policy).ok, true);
    assert.equal(checkUrl('http://[fd12::1]/', policy).ok, true);
    assert.equal(checkUrl('http://10.2.0.1/', policy).ok, false);
    assert.equal(checkUrl('http://[::ffff:10.1.2.3]/', policy).ok, false);
  });

  it('allows a cloud metadata address only by its exact address, not as part of a range', () => {
    const hosts = ['169.254.169.254', '100.100.100.200', '168.63.129.16', '[fd00:ec2::254]'];
    const wide = createTargetPolicy({
      host: '0.0.0.0',
      allowedCidrs: ['0.0.0.0/0', '::/0', '100.64.0.0/10', 'fd00::/8'],
    });
    for (const host of hosts) assert.equal(checkUrl(`http://${host}/`, wide).ok, false, host);
    assert.equal(checkUrl('http://100.100.100.201/', wide).ok, true);
    const allowedCidrs = ['100.100.100.200/32', 'fd00:ec2::254/128'];
    const named = createTargetPolicy({ host: '0.0.0.0', allowedCidrs });
    assert.deepEqual(
      hosts.map((host) => checkUrl(`http://${host}/`, named).ok),
      [false, true, false, true],
    );
  });
});

describe('a host name', () => {
  const refusalOf = (lookup: Lookup, reasons: string[] = []) =>
    new Promise<Error | null>((resolve) => {
      const onRefused = ({ reason }: { reason: string }) => void reasons.push(reason);
      const policy = createTargetPolicy({ host: '0.0.0.0', allowedCidrs: [], onRefused });
      createLookup(policy, lookup)('crm.internal', { all: true }, (error) => resolve(error));
    });
  const failsWith =
    (code: string): Lookup =>
    (_, __, callback) =>
      callback(Object.assign(new Error(code), { code }), []);

  it('is rejected if any of its addresses is private', async () => {
    assert.ok(await refusalOf(resolvesTo('93.184.216.34', '10.0.0.1')));
    assert.equal(await refusalOf(resolvesTo('93.184.216.34', '93.184.216.35')), null);
  });

  it('is rejected with a message that reveals neither its existence nor its address, which is logged instead', async () => {
    const reasons: string[] = [];
    const lookups = [
      resolvesTo('10.0.0.1'),
      resolvesTo('127.0.0.1'),
      resolvesTo('93.184.216.34', 'fd00::1'),
      failsWith('ENOTFOUND'),
      failsWith('EAI_AGAIN'),
    ];
    const messages = new Set<string>();
    for (const lookup of lookups) {
      const error = await refusalOf(lookup, reasons);
      assert.equal((error as NodeJS.ErrnoException).code, 'ERR_TARGET_REFUSED');
      messages.add(error?.message ?? '');
    }
    assert.equal(messages.size, 1);
    assert.doesNotMatch([...messages].join(), /10\.0\.0|127\.0|fd00|ENOTFOUND/);
    assert.match(
      reasons.join('; '),
      /^The address 10\.0\.0\.1 is not allowed because it is a private address.*; ENOTFOUND; EAI_AGAIN$/,
    );
  });

  it('is accepted if this machine cannot resolve it', async () => {
    assert.equal(((await refusalOf(failsWith('EMFILE'))) as NodeJS.ErrnoException).code, 'EMFILE');
  });

  it('is connected to at the vetted address, in the form the caller requested', () => {
    const lookup = createLookup(strict, resolvesTo('93.184.216.34', '2606:4700::1'));
    lookup('example.com', { all: true }, (_, addresses) => assert.equal(addresses.length, 2));
    lookup('example.com', {}, (_, address, family) => assert.deepEqual([address, family], ['93.184.216.34', 4]));
  });
});
