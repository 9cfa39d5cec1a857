import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readVcard } from '../../../../src/connectors/whatsapp/content/vcard.ts';

const card = (...lines: string[]) => ['BEGIN:VCARD', 'VERSION:2.1', ...lines, 'END:VCARD'].join('\r\n');
const nameOf = (...lines: string[]) => readVcard(card(...lines)).name;

describe('a contact card', () => {
  it('has its quoted-printable name decoded', () => {
    // Written like that by Android's address book (kcd #38, tutanota #1513).
    assert.equal(nameOf('FN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:=4A=6F=73=C3=A9'), 'José');
    assert.equal(nameOf('FN;ENCODING=QUOTED-PRINTABLE:=4A=6F=73=C3=A9'), 'José');
    assert.equal(nameOf('FN;QUOTED-PRINTABLE;CHARSET="iso-8859-1":Jos=E9'), 'José');
    assert.equal(nameOf('FN;ENCODING=QUOTED-PRINTABLE;CHARSET=Shift_JIS:=8E=52=93=63'), '山田');
    assert.equal(nameOf('fn;encoding=quoted-printable:=c3=89va'), 'Éva');
  });

  it('joins the soft line breaks of a quoted-printable line, and folded lines', () => {
    const soft = ['FN;ENCODING=QUOTED-PRINTABLE:=4D=61=72=', '=C3=', '=AD=61', 'TEL;CELL:+34 600 111 222'];
    assert.deepEqual(readVcard(card(...soft)), { name: 'María', phoneNumbers: ['34600111222'] });
    assert.equal(nameOf('FN:Ada', ' Lovelace'), 'AdaLovelace');
    // Only quoted-printable lines continue after the sign.
    assert.deepEqual(readVcard(card('FN:1+1=', 'TEL:+49 30 1')), { name: '1+1=', phoneNumbers: ['49301'] });
  });

  it('keeps what is not encoded, and reads an unknown charset as UTF-8', () => {
    assert.equal(nameOf('FN;ENCODING=QUOTED-PRINTABLE:100=25 =ZZ é'), '100% =ZZ é');
    assert.equal(nameOf('FN;CHARSET=x-none;ENCODING=QUOTED-PRINTABLE:=C3=A9'), 'é');
    assert.equal(nameOf('FN:=4A=6F'), '=4A=6F');
  });

  it('is named by the parts of its name, its organization or its number if it has no full name', () => {
    assert.equal(nameOf('N:Lovelace;Ada;King;Countess;'), 'Countess Ada King Lovelace');
    assert.equal(nameOf('N;ENCODING=QUOTED-PRINTABLE:=C3=89vora;Jo\\;e;;;', 'FN: '), 'Jo;e Évora');
    assert.equal(nameOf('N:;;;;', 'ORG:Acme\\, Inc.;Sales'), 'Acme, Inc., Sales');
    assert.equal(nameOf('TEL:+49 30 1'), '49301');
    assert.equal(nameOf(), '');
  });

  it('is read in bounded time, regardless of its size', () => {
    const name = 'FN;ENCODING=QUOTED-PRINTABLE:';
    for (const part of ['=\r\n', '=41', ' \r\n', ';', '\\', ':', 'TEL:1\r\n', 'a.'])
      assert.ok(readVcard(name + part.repeat(500_000)).name.length <= 65_536);
    assert.ok(readVcard('A'.repeat(65_000) + '\r\n '.repeat(100_000)).phoneNumbers.length === 0);
  });
});
