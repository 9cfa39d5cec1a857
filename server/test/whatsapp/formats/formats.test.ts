import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { useWhatsapp } from '../support.ts';
import { Capture, type Sent } from './capture.ts';
import { type Difference, differencesOf } from './compare.ts';
import { KNOWN, type KnownDifference } from './differences.ts';
import { REFERENCES, Varying } from './reference.ts';

/*
 * Compares what we send with what other implementations send. `docs/decisions/0026-message-formats.md` has the result.
 */

const setting = useWhatsapp();
let sent: ReadonlyMap<string, Sent>;

describe('WhatsApp message formats, compared with other implementations', () => {
  before(async () => {
    sent = await new Capture(setting).run();
  });

  it('cover every kind', () => {
    assert.deepEqual([...sent.keys()].sort(), Object.keys(REFERENCES).sort());
  });

  for (const [kind, reference] of Object.entries(REFERENCES))
    it(`differ in known fields only: ${kind}`, () => {
      const message = sent.get(kind);
      assert.ok(message, kind);
      const unknown = differencesOf(message, reference).filter(({ path }) => !isKnown(kind, path));
      assert.deepEqual(unknown.map(describeDifference), [], reference.source);
    });

  it('have no known difference that is gone', () => {
    const all = Object.entries(REFERENCES).flatMap(([kind, reference]) => {
      const message = sent.get(kind);
      assert.ok(message, kind);
      return differencesOf(message, reference).map(({ path }) => ({ kind, path }));
    });
    const gone = KNOWN.flatMap((known) => {
      const kinds = known.kinds ?? ['any kind'];
      const isThere = (wanted: string) =>
        all.some(({ kind, path }) => isAbout(known, kind, path) && (known.kinds === undefined || kind === wanted));
      return kinds.filter((kind) => !isThere(kind)).map((kind) => `${kind}: ${known.reason}`);
    });
    assert.deepEqual(gone, []);
  });
});

const isAbout = ({ kinds, path: paths }: KnownDifference, kind: string, path: string) =>
  paths.test(path) && (kinds?.includes(kind) ?? true);

const isKnown = (kind: string, path: string) => KNOWN.some((known) => isAbout(known, kind, path));

const describeDifference = ({ path, ours, reference }: Difference) =>
  `${path}: ours ${JSON.stringify(ours)}, reference ${reference instanceof Varying ? reference.name : JSON.stringify(reference)}`;
