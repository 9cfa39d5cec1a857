import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { notPhoneNumber, readNumber } from '../../../src/invoke/input/phoneNumbers.ts';

const NUMBER = '491701234567';
const meaningOf = (text: string) => {
  const reading = readNumber(text);
  if (!('digits' in reading)) return undefined;
  return reading.doubt === undefined ? (reading.meant ?? reading.digits) : undefined;
};

describe('a typed phone number', () => {
  it('is read in every spelling that people and programs use', () => {
    const spellings = [
      '+49 170 1234567',
      '0049 170 1234567',
      '+49 (0)170 1234567',
      '+49 (0) 170 / 123 45 67',
      '0049(0)170-1234567',
      '49 (0)170 1234567',
      '+49 0170 1234567',
      '+49 00170 1234567',
      '+49(0)(0)170 1234567',
      '+49 (00)170 1234567',
      '+49 (0)0170 1234567',
      '+49.170.123.45.67',
      '(+49) 170 1234567',
      '+49\u2011170\u20131234567',
      '\u202a+49 170 1234567\u202c',
      '\u200e+49\u00a0170\u202f1234567\u200f',
      '\ufeff+49\u2060170\u200b1234567',
      '+４９ １７０ １２３４５６７',
      '＋49 170 1234567',
      '+٤٩ ١٧٠ ١٢٣٤٥٦٧',
      '+۴۹ ۱۷۰ ۱۲۳۴۵۶۷',
      '+४९ १७० १२३४५६७',
      'tel:+49-170-1234567',
      'TEL:+491701234567;isub=1',
      'whatsapp:+491701234567',
      'WhatsApp: +49 170 1234567',
      'sms:+491701234567',
      'callto:+491701234567',
      '491701234567.0',
      '+491701234567.0',
      'https://wa.me/491701234567',
      'wa.me/491701234567?text=Hello%202',
      'https://api.whatsapp.com/send?phone=491701234567&text=1',
      'https://api.whatsapp.com/send/?text=5&phone=%2B491701234567',
      'whatsapp://send?phone=+491701234567',
      '491701234567@s.whatsapp.net',
      '491701234567:12@s.whatsapp.net',
      '491701234567_1:0@hosted',
      '491701234567@c.us',
    ];
    for (const text of spellings) assert.equal(meaningOf(text), NUMBER, text);
  });

  it('keeps or drops "(0)" by the rules of its country', () => {
    const meant: Readonly<Record<string, string>> = {
      '+44 (0)20 7946 0958': '442079460958',
      '+39 (0)6 1234 5678': '390612345678',
      '+39 (0)333 123 4567': '393331234567',
      '+33 (0)6 12 34 56 78': '33612345678',
      '+225 (0)7 12 34 56 78': '2250712345678',
      '+7 (8) 912 345-67-89': '79123456789',
      '+36 (06) 20 123 4567': '36201234567',
      '+81 (0)90-1234-5678': '819012345678',
      '+61 (0)412 345 678': '61412345678',
    };
    for (const [text, digits] of Object.entries(meant)) assert.equal(meaningOf(text), digits, text);
  });

  it('is rejected with the reason', () => {
    const reasons: readonly (readonly [string, RegExp])[] = [
      ['0170 1234567', /replace the leading 0 with the country code/],
      ['+1 202 555 0123 ext. 5', /extension/],
      ['+1 202 555 0123 x5', /extension/],
      ['tel:+12025550123;ext=5', /extension/],
      ['1-800-FLOWERS', /letters/],
      ['+49 170 1234567 (Anna)', /letters/],
      ['+49 170*1234567', /other characters/],
      ['+12', /2 digits/],
      ['+999 (0)170 1234567', /"\(0\)"/],
      ['011 49 170 1234567', /write \+ or 00 instead of 011/],
      ['(011) 49-170-1234567', /write \+ or 00 instead of 011/],
      ['0011 49 170 1234567', /write \+ or 00 instead of 0011/],
      ['001 49 170 1234567', /write \+ or 00 instead of 001 /],
      ['8~10 49 170 1234567', /write \+ or 00 instead of 8~10/],
      ['011 555 0100', /replace the leading 0 with the country code/],
      ['8 (912) 345-67-89', /write \+7 instead of the leading 8/],
      ['+55 (0xx11) 91234-5678', /leave out "0xx"/],
      ['55 0XX 11 91234-5678', /leave out "0xx"/],
      ['(0xx11) 91234-5678', /leave out "0xx"/],
      ['+55 (0**11) 91234-5678', /leave out "0xx"/],
      ['491701234567, 491711234567', /more than one number/],
      ['+49 170 1234567; +49 171 1234567', /more than one number/],
      ['4.91701E+11', /spreadsheet/],
      ['de.999888', /a user id begins with two capital letters/],
      [`DE.${'9'.repeat(129)}`, /it contains letters/],
      // A pattern that backtracks takes minutes for it.
      ['9'.repeat(200), /it has 200 digits/],
      ['+5215512345678', /5215512345678@s\.whatsapp\.net/],
    ];
    for (const [text, reason] of reasons) {
      assert.equal(meaningOf(text), undefined, text);
      assert.match(notPhoneNumber(text), reason, text);
    }
  });
});

describe('a user id', () => {
  it('is read as its placeholder, and keeps the case of its letters', () => {
    const read = ['DE.999888', ' DE.999888\n', 'DE.ENT.999888', 'DE.abC', 'DE.abc', `DE.ENT.${'z'.repeat(128)}`].map(
      meaningOf,
    );
    for (const digits of read) assert.match(digits ?? '', /^000\d{20}$/);
    assert.equal(new Set(read).size, 5);
    assert.equal(read[0], read[1]);
  });
});
