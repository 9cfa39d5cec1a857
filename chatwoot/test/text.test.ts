import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { toMarkdown, withoutLinks } from '../src/text/markdown.ts';
import { phoneForms } from '../src/text/phoneForms.ts';
import { parseVcard, toVcard } from '../src/text/vcard.ts';
import { toWhatsappText } from '../src/text/whatsappText.ts';

describe('formatting of agents', () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ['converts bold', '**Hello** you', '*Hello* you'],
    ['converts bold with underscores', '__Hello__', '*Hello*'],
    ['converts italics', '*Hello* and _you_', '_Hello_ and _you_'],
    ['converts strikethrough', '~~old~~', '~old~'],
    ['converts bold italics', '***both***', '*_both_*'],
    ['nests italics in bold', '**a *b* c**', '*a _b_ c*'],
    ['marks each line of bold text', '**one\\\ntwo**', '*one*\n*two*'],
    ['keeps spaces at line ends outside the marks', '**one \ntwo**', '*one* \n*two*'],
    ['keeps underscores inside words', 'snake_case_name', 'snake_case_name'],
    ['keeps a product of numbers', '2 * 3 * 4', '2 * 3 * 4'],
    ['keeps products without spaces', 'Price: 5*3=15 and 6*2=12', 'Price: 5*3=15 and 6*2=12'],
    ['leaves out marks inside words', 'a**b**c', 'abc'],
    ['keeps a heading with a closing sequence', '## Title ##  ', '*Title*'],
    ['keeps underscores in addresses', 'https://example.com/a_b_c', 'https://example.com/a_b_c'],
    ['keeps marks in addresses', 'https://x.y/a_b_c?q=*z*', 'https://x.y/a_b_c?q=*z*'],
    ['keeps tildes in addresses', 'https://x.y/~a~b/__c__', 'https://x.y/~a~b/__c__'],
    ['resolves escapes in addresses', 'https://x.y/\\_a?q=\\*z\\*', 'https://x.y/_a?q=*z*'],
    ['ends bold after an address', '**https://x.y** and **b**', '*https://x.y* and *b*'],
    ['keeps an address with marks in italics', '*see https://x.y/?q=*z now*', '_see https://x.y/?q=*z now_'],
    ['keeps escaped marks at the end of an address', '*see https://x.y/\\*z\\* now*', '_see https://x.y/*z* now_'],
    ['writes links with their address', '[Docs](https://example.com/a_b)', 'Docs (https://example.com/a_b)'],
    ['writes bare links once', '[https://example.com](https://example.com)', 'https://example.com'],
    ['unwraps automatic links', '<https://example.com>', 'https://example.com'],
    ['keeps code', '`**x**` and\n```js\n**y**\n```', '`**x**` and\n```\n**y**\n```'],
    ['resolves escapes', '1\\. \\*x\\* a\\_b', '1. *x* a_b'],
    ['converts lists', '* one\n* two\n1. three', '- one\n- two\n1. three'],
    ['converts headings', '# Title\ntext', '*Title*\ntext'],
    ['keeps an unclosed mark', '**open', '**open'],
    ['removes the break at the end of a line', 'a\\\nb', 'a\nb'],
  ];
  for (const [title, markdown, expected] of cases) it(title, () => assert.equal(toWhatsappText(markdown), expected));

  it('converts 150,000 unclosed marks in linear time', () => {
    const startedAt = process.cpuUsage().user;
    assert.equal(toWhatsappText('*a '.repeat(50_000)).length, 149_999);
    assert.ok(process.cpuUsage().user - startedAt < 5_000_000);
  });
});

describe('formatting of contacts', () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ['converts bold', '*Hello* you', '**Hello** you'],
    ['converts italics', '_Hello_', '*Hello*'],
    ['converts strikethrough', '~old~', '~~old~~'],
    ['nests', '*_both_*', '***both***'],
    ['escapes a product', '2*3*4', '2\\*3\\*4'],
    ['keeps underscores inside words', 'a_b_c', 'a_b_c'],
    ['keeps addresses', 'https://example.com/_a_*b*', 'https://example.com/_a_*b*'],
    ['escapes headings', '# 5', '\\# 5'],
    ['keeps brackets', '[a] (b)', '[a] (b)'],
    ['keeps code', '`*a*`', '`*a*`'],
    ['puts fences on separate lines', '```a\nb```', '```\na\nb\n```'],
    ['ends marks with their line', '*one\ntwo*', '\\*one\ntwo\\*'],
  ];
  for (const [title, text, expected] of cases) it(title, () => assert.equal(toMarkdown(text), expected));

  it('leaves no links with another text, and no definitions of links', () => {
    for (const text of [
      '[a](b)',
      '[a[b]](c)',
      `[${'a'.repeat(400)}](b)`,
      '[https://a.com](https://b.com)',
      '[a][b]\n[b]: c',
      // A backslash before the bracket.
      '[a\\](b)',
      '[https://a.com\\](https://b.com)',
      // Backticks that WhatsApp and Markdown pair differently.
      '[a``](b)`',
      '[a ` b\n`](c)`',
      '[a```b`](c)```',
      'a ```\n\n[b](c)\n```',
      // A character that is removed before the text is sent.
      '[a]\0(b)',
    ]) {
      const sent = withoutLinks(toMarkdown(text)).replaceAll('\0', '');
      assert.doesNotMatch(sent, /\][([:]/, text);
    }
    assert.equal(withoutLinks('[a] (b), [c]'), '[a] (b), [c]');
  });
});

describe('phone numbers', () => {
  it('returns both forms of Brazilian, Mexican and Argentine numbers', () => {
    assert.deepEqual(phoneForms('5511987654321'), ['5511987654321', '551187654321']);
    assert.deepEqual(phoneForms('551187654321'), ['551187654321', '5511987654321']);
    assert.deepEqual(phoneForms('5215512345678'), ['5215512345678', '525512345678']);
    assert.deepEqual(phoneForms('541112345678'), ['541112345678', '5491112345678']);
    assert.deepEqual(phoneForms('491701234567'), ['491701234567']);
  });
});

describe('contact cards', () => {
  it('reads what it writes', () => {
    const card = { name: 'Ada, née Byron; Countess', phoneNumbers: ['491701234567', '4930123456'] };
    assert.deepEqual(parseVcard(toVcard(card)), card);
  });

  it('reads cards of other programs', () => {
    const text = 'BEGIN:VCARD\nVERSION:2.1\nN:Lovelace;Ada\nitem1.TEL;waid=491701234567:+49 170\n  1234567\nEND:VCARD';
    assert.deepEqual(parseVcard(text), { name: 'Ada Lovelace', phoneNumbers: ['491701234567'] });
    assert.equal(parseVcard('BEGIN:VCARD\nFN:Ada\nEND:VCARD'), undefined);
  });
});
