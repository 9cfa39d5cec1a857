import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../src/', import.meta.url));

/** The imports that each part may have beside its own files, after the layers in `architecture`. */
const arrows: Readonly<Record<string, readonly string[]>> = {
  main: ['app'],
  cli: ['main', 'backup', 'restore', 'auth', 'messages', 'connectors', 'webhooks', 'db', '..'], // the SDK is outside
  restore: ['backup', 'media', 'db'],
  compile: ['db', 'http', 'auth', 'connectors', 'media', 'cli'],
  app: [
    'tracing',
    'http',
    'invoke',
    'operations',
    'auth',
    'oauth',
    'sending',
    'sessions',
    'messages',
    'connectors',
    'webhooks',
    'media',
    'cluster',
    'db',
  ],
  tracing: ['invoke', 'messages', 'webhooks', 'cluster', 'db'],
  http: ['invoke', 'operations', 'auth', 'oauth', 'sessions', 'messages', 'connectors', 'webhooks', 'media', 'cluster'],
  operations: ['invoke', 'auth', 'oauth', 'sessions', 'messages', 'connectors', 'webhooks', 'media', 'cluster', 'db'],
  invoke: ['auth', 'oauth', 'sending', 'sessions', 'messages', 'connectors', 'webhooks', 'media', 'cluster', 'db'],
  sending: ['sessions', 'messages', 'connectors', 'media', 'cluster', 'db'],
  sessions: ['messages', 'connectors', 'media', 'cluster', 'db'],
  messages: ['connectors', 'webhooks', 'media', 'db'],
  webhooks: ['cluster', 'db'],
  media: ['connectors', 'db'],
  oauth: ['auth', 'db'],
  auth: ['db'],
  cluster: ['db'],
  connectors: [],
  db: [],
};
/** Small parts that import nothing else, open to all others. */
const ground = [
  'errors',
  'startErrors',
  'events',
  'config',
  'settingKinds',
  'addressRanges',
  'log',
  'async',
  'cache',
  'ids',
  'clock',
  'steadyClock',
  'version',
  'target',
  'pinnedHosts',
  'outgoing',
  'metrics',
  'seal',
];
/** Exceptions that allow only these files of a folder. */
const onlyFiles: Readonly<Record<string, readonly string[]>> = {
  'cli → messages': ['messages/status.ts'],
  'cli → connectors': ['connectors/connector.ts'],
  'restore → media': ['media/store.ts'],
  'media → connectors': ['connectors/media.ts'],
  'messages → webhooks': ['webhooks/emit.ts', 'webhooks/renamedChats.ts'],
  'messages → connectors': ['connectors/connector.ts', 'connectors/media.ts'],
  'sending → connectors': ['connectors/connector.ts'],
  'invoke → connectors': ['connectors/connector.ts'],
  'invoke → messages': ['messages/store.ts'],
  'http → messages': ['messages/store.ts'],
  'operations → connectors': ['connectors/connector.ts', 'connectors/capabilities.ts', 'connectors/media.ts'],
  'http → connectors': ['connectors/connector.ts', 'connectors/capabilityTable.ts'],
};

interface Import {
  readonly from: string;
  readonly to: string;
}

const files = globSync('**/*.ts', { cwd: root });
const imports: Import[] = files.flatMap((file) => {
  const text = readFileSync(join(root, file), 'utf8');
  const found = [
    ...text.matchAll(/^(?:import|export)\s[^;]*?from '(\.[^']+)'/gm),
    ...text.matchAll(/\bimport\('(\.[^']+)'\)/g),
  ];
  return found.map(([, path]) => ({ from: file, to: relative(root, join(root, dirname(file), path ?? '')) }));
});
const partOf = (file: string) => file.split('/')[0]?.replace(/\.ts$/, '') ?? file;

it('reads the imports of every file', () => {
  assert.ok(files.length > 30);
  assert.ok(imports.some(({ from, to }) => from === 'main.ts' && to === 'app.ts'));
});

it('imports nothing but types from node:http, because its namespace loads a second fetch that takes 16 MB', () => {
  const wrong = files.filter((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    return /^import (?!type )[^;]*?from 'node:https?'/m.test(text);
  });
  assert.deepEqual(wrong, []);
});

it('imports follow the order of the layers', () => {
  const wrong = imports.filter(({ from, to }) => {
    const [part, target] = [partOf(from), partOf(to)];
    if (part === target || ground.includes(target)) return false;
    if (to.endsWith('.json')) return false;
    if (!(arrows[part] ?? []).includes(target) && !(part === 'main' && ground.includes(target))) {
      // The entry point explains the errors that prevent startup.
      return !(part === 'main' && ['cluster', 'db'].includes(target));
    }
    const narrowed = onlyFiles[`${part} → ${target}`];
    return narrowed !== undefined && !narrowed.includes(to);
  });
  assert.deepEqual(wrong, []);
});

it('the lowest layer imports only itself', () => {
  const wrong = imports.filter(
    ({ from, to }) => ground.includes(partOf(from)) && !ground.includes(partOf(to)) && !to.endsWith('.json'),
  );
  assert.deepEqual(wrong, []);
});

it('a connector imports only the connector interface and its own folder', () => {
  const wrong = imports.filter(({ from, to }) => {
    const folder = /^connectors\/[^/]+\//.exec(from)?.[0];
    if (folder === undefined || ground.includes(partOf(to))) return false;
    return !/^connectors\/[^/]+\.ts$/.test(to) && !to.startsWith(folder);
  });
  assert.deepEqual(wrong, []);
});

it('no file is part of an import cycle', () => {
  const next = Map.groupBy(imports, ({ from }) => from);
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    assert.ok(!path.includes(file), `a cycle: ${[...path.slice(path.indexOf(file)), file].join(' → ')}`);
    if (done.has(file)) return;
    for (const { to } of next.get(file) ?? []) visit(to, [...path, file]);
    done.add(file);
  };
  for (const file of files) visit(file, []);
});

it('no file is a barrel', () => {
  const barrels = files.filter((file) => /^export (\*|\{[^}]*\}) from/m.test(readFileSync(join(root, file), 'utf8')));
  assert.deepEqual(barrels, []);
});
