import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import lang from '@usebruno/lang';
import { operations } from '../../src/operations/index.ts';
import { API_PREFIX } from '../../src/version.ts';

const { bruToJsonV2, bruToEnvJsonV2, collectionBruToJson } = lang;
const root = fileURLToPath(new URL('../../../clients/bruno/', import.meta.url));
const read = (path: string) => readFileSync(root + path, 'utf8');
const files = globSync('*/*.bru', { cwd: root }).filter((path) => !/^environments|folder\.bru$/.test(path));

describe('the Bruno collection', () => {
  it('has a request for every operation, in the folder of its tag', () => {
    const idOf = (path: string) => path.replace('.bru', '').replaceAll(/[/-]/g, '_');
    assert.deepEqual(files.map(idOf).toSorted(), operations.map(({ id }) => id.replaceAll('.', '_')).toSorted());
    for (const path of files)
      assert.ok(
        operations.some(({ id }) => id.startsWith(`${dirname(path)}.`)),
        path,
      );
    assert.equal(JSON.parse(read('bruno.json')).type, 'collection');
  });

  it('requests what the operations declare', () => {
    for (const path of files) {
      const { http, params = [], body } = bruToJsonV2(read(path));
      const id = path.replace('.bru', '').replaceAll(/[/-]/g, '_');
      const operation = operations.find((one) => one.id.replaceAll('.', '_') === id);
      assert.ok(operation, path);
      const [url] = http.url.split('?');
      assert.equal(http.method, operation.method.toLowerCase(), path);
      assert.equal(url, `{{baseUrl}}${API_PREFIX}${operation.path.replaceAll(/\{(\w+)\}/g, ':$1')}`, path);
      assert.equal(http.auth, operation.credential === 'none' ? 'none' : 'inherit', path);
      const inPath = params.filter(({ type }) => type === 'path').map(({ name }) => `{${name}}`);
      assert.deepEqual(inPath, operation.path.match(/\{\w+\}/g) ?? [], path);
      for (const { name } of params) assert.ok(name in operation.input.properties, `${path} has ${name}`);
      if (http.body === 'json') assert.ok(JSON.parse(body?.json ?? ''), path);
    }
  });

  it('sends the credential of its environment', () => {
    const { auth } = collectionBruToJson(read('collection.bru'));
    assert.deepEqual([auth?.mode, auth?.bearer?.token], ['bearer', '{{credential}}']);
    const { variables } = bruToEnvJsonV2(read('environments/local.bru'));
    assert.deepEqual(
      variables.map(({ name, secret }) => [name, secret]),
      [
        ['baseUrl', false],
        ['credential', true],
      ],
    );
  });
});
