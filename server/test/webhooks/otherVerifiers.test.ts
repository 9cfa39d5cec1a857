import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import vectors from '../../../clients/vectors.json' with { type: 'json' };
import { verify } from '../../../sdk/src/webhooks.ts';

/* The verifiers of all languages agree on the cases of `clients/vectors.json`. The Python client has its own test. */

const run = promisify(execFile);
const folderOf = (name: string) => fileURLToPath(new URL(`../../../clients/${name}/`, import.meta.url));
const skipWithout = (program: string, ...args: readonly string[]) =>
  spawnSync(program, args).status === 0 ? false : `this machine has no ${program}`;

describe('the webhook verifier', () => {
  for (const { title, body, headers, secrets, require, now, expected } of vectors)
    it(`in TypeScript answers ${expected} to ${title}`, async () => {
      const given = Object.entries(headers) as [string, string][]; // the type has a property for the union of all names
      const result = await verify({
        body,
        headers: given,
        secret: secrets,
        require: require === 'any' ? 'any' : 'standard',
        now: now * 1000,
      });
      assert.equal(result.ok ? result.scheme : result.reason, expected);
    });

  it('in Go passes its tests', { skip: skipWithout('go', 'version') }, async (test) => {
    const cache = mkdtempSync(join(tmpdir(), 'go-'));
    test.after(() => rmSync(cache, { recursive: true }));
    const { stdout } = await run('go', ['test', '-v', './...'], {
      cwd: folderOf('go'),
      env: { ...process.env, GOCACHE: cache },
    });
    assert.equal(stdout.match(/^ {4}--- PASS: TestSharedCases\//gm)?.length, vectors.length);
    await run('go', ['vet', './...'], { cwd: folderOf('go'), env: { ...process.env, GOCACHE: cache } });
  });

  it('in PHP passes its tests', { skip: skipWithout('php', '--version') }, async () => {
    const { stdout } = await run('php', ['test.php'], { cwd: folderOf('php') });
    assert.ok((stdout.match(/^ok /gm)?.length ?? 0) > vectors.length);
  });
});
