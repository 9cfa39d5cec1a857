import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { newFolder, output, packFolder } from '../../server/test/support/processes/packages.ts';
import { build } from '../scripts/build.ts';

const HERE = fileURLToPath(new URL('../', import.meta.url));
const manifest = JSON.parse(readFileSync(join(HERE, 'package.json'), 'utf8'));

describe('the package for n8n', () => {
  let folder: string;
  let files: readonly string[];
  before(async () => {
    folder = await newFolder();
    const source = join(folder, 'source');
    for (const file of ['package.json', 'README.md', 'LICENSE']) await cp(join(HERE, file), join(source, file));
    build(join(source, 'dist'));
    const packed = await packFolder(source, folder, ['--ignore-scripts']);
    files = packed.files;
    await output('tar', ['-xzf', packed.tarball], { cwd: folder });
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('has what n8n requires of a community package', () => {
    assert.match(manifest.name, /^n8n-nodes-/);
    assert.ok(manifest.keywords.includes('n8n-community-node-package'));
    assert.equal(manifest.n8n.n8nNodesApiVersion, 1);
    assert.equal(manifest.dependencies, undefined);
    assert.deepEqual(Object.keys(manifest.peerDependencies), ['n8n-workflow']);
    for (const path of [...manifest.n8n.nodes, ...manifest.n8n.credentials]) assert.ok(files.includes(path), path);
  });

  it('contains only what n8n loads', () => {
    for (const path of files)
      assert.match(path, /^(?:dist\/.*\.(?:js|d\.ts|json|svg)|package\.json|README\.md|LICENSE)$/);
    for (const path of files.filter((file) => file.endsWith('.js'))) {
      const code = readFileSync(join(folder, 'package', path), 'utf8');
      assert.doesNotMatch(code, /^(?:import|export) /m, `${path} is CommonJS`);
      for (const [, name = ''] of code.matchAll(/require\("([^"]+)"\)/g)) {
        assert.match(name, /^(?:\.|node:crypto$|n8n-workflow$)/, path);
      }
    }
  });

  it('has an icon and a description of each node', () => {
    for (const path of manifest.n8n.nodes) {
      const codex = JSON.parse(readFileSync(join(folder, 'package', path.replace('.js', '.json')), 'utf8'));
      assert.match(codex.node, /^n8n-nodes-switchboard\.switchboard/);
    }
    for (const icon of ['switchboard', 'switchboard.dark']) assert.ok(files.includes(`dist/icons/${icon}.svg`));
  });
});
