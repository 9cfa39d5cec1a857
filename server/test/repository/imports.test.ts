import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../src/', import.meta.url));

/** The imports that each part may have beside its own files, after the layers in `architecture`. */
const arrows: Readonly<Record<string, readonly string[]>> = {
  main: ['app'],
  cli: ['main', 'backup', 'restore', 'conversion', 'auth', 'messages', 'connectors', 'webhooks', 'media', 'db', '..'], // the SDK is outside
  restore: ['backup', 'media', 'db'],
  conversion: ['messages', 'media', 'db'],
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
    'sandbox',
    'webhooks',
    'media',
    'cluster',
    'jobs',
    'db',
  ],
  tracing: ['invoke', 'messages', 'webhooks', 'cluster', 'db'],
  http: ['invoke', 'operations', 'auth', 'oauth', 'sessions', 'messages', 'connectors', 'webhooks', 'media', 'cluster'],
  'sandbox/simulator': ['operations', 'invoke', 'messages', 'connectors', 'sandbox', 'db'],
  operations: [
    'sandbox/simulator',
    'invoke',
    'auth',
    'oauth',
    'sessions',
    'messages',
    'connectors',
    'webhooks',
    'media',
    'cluster',
    'jobs',
    'db',
  ],
  invoke: [
    'auth',
    'oauth',
    'sending',
    'sessions',
    'messages',
    'connectors',
    'webhooks',
    'media',
    'cluster',
    'jobs',
    'db',
  ],
  sending: ['sessions', 'messages', 'connectors', 'media', 'cluster', 'db'],
  sessions: ['messages', 'connectors', 'media', 'cluster', 'jobs', 'db'],
  messages: ['connectors', 'webhooks', 'media', 'jobs', 'db'],
  webhooks: ['cluster', 'jobs', 'db'],
  media: ['connectors', 'db'],
  oauth: ['auth', 'jobs', 'db'],
  auth: ['jobs', 'db'],
  jobs: ['db'],
  cluster: ['db'],
  sandbox: ['messages', 'connectors', 'media', 'db'],
  connectors: ['sandbox'],
  db: [],
};
/** Small parts that import only each other, and are open to all others. */
const ground = [
  'errors',
  'startErrors',
  'objects',
  'thrown',
  'events',
  'config',
  'settingKinds',
  'log',
  'async',
  'cache',
  'ids',
  'clock',
  'steadyClock',
  'version',
  'egress',
  'slowPackages',
  'childHealth',
  'threadPool',
  'possibleNumbers',
  'metrics',
  'seal',
];
/** Exceptions that allow only these files of a folder, or those of a room in it. */
const onlyFiles: Readonly<Record<string, readonly string[]>> = {
  'cli → messages': ['messages/status.ts'],
  'cli → connectors': ['connectors/contract/'],
  'cli → media': ['media/openStore.ts', 'media/qrCode.ts'],
  'restore → media': ['media/store.ts'],
  'conversion → messages': ['messages/content.ts', 'messages/search.ts'],
  'media → connectors': ['connectors/contract/media.ts'],
  'messages → webhooks': ['webhooks/log/emit.ts', 'webhooks/log/renamedConversations.ts'],
  'messages → connectors': ['connectors/contract/'],
  'sending → connectors': ['connectors/contract/'],
  'invoke → connectors': ['connectors/contract/'],
  'invoke → messages': ['messages/store.ts', 'messages/people/networkNumbers.ts'],
  'http → messages': ['messages/store.ts'],
  'operations → sandbox/simulator': ['sandbox/simulator/simulator.ts'],
  'connectors → sandbox': ['sandbox/sandbox.ts'],
  'sandbox → messages': ['messages/content.ts'],
  'sandbox → media': ['media/media.ts'],
  'operations → connectors': ['connectors/contract/'],
  'http → connectors': ['connectors/contract/', 'connectors/capabilityTable.ts'],
};

/** Implements the store of the sandbox on the database. */
const SANDBOX_STORE = 'sandbox/databaseStore.ts';

interface Import {
  readonly from: string;
  readonly to: string;
}

const files = globSync('**/*.ts', { cwd: root });
const imports = importsOf(root, files);
const dashboard = fileURLToPath(new URL('../../../dashboard/src/', import.meta.url));
const dashboardFiles = globSync('**/*.{ts,tsx}', { cwd: dashboard });

function importsOf(folder: string, names: readonly string[]): Import[] {
  return names.flatMap((file) => {
    const text = readFileSync(join(folder, file), 'utf8');
    const found = [
      ...text.matchAll(/^(?:import|export)\s[^;]*?from '(\.[^']+)'/gm),
      ...text.matchAll(/\bimport\('(\.[^']+)'\)/g),
    ];
    return found.map(([, path]) => ({ from: file, to: relative(folder, join(folder, dirname(file), path ?? '')) }));
  });
}

/** The simulator derives from the operations, above the network that it plays. */
const parts = ['sandbox/simulator'];
const partOf = (file: string) =>
  parts.find((part) => file.startsWith(`${part}/`)) ?? file.split('/')[0]?.replace(/\.ts$/, '') ?? file;

/** The table of content parts describes the content of the published connector interface. */
const isContentPart = (from: string, to: string) =>
  from.startsWith('events/contentParts/') && /^connectors\/contract\/content(Parts)?\.ts$/.test(to);

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
    if (isContentPart(from, to)) return false;
    if (!(arrows[part] ?? []).includes(target) && !(part === 'main' && ground.includes(target))) {
      // The entry point explains the errors that prevent startup.
      return !(part === 'main' && ['cluster', 'db'].includes(target));
    }
    const narrowed = onlyFiles[`${part} → ${target}`];
    return narrowed !== undefined && !narrowed.some((path) => (path.endsWith('/') ? to.startsWith(path) : to === path));
  });
  assert.deepEqual(wrong, []);
});

it('the lowest layer imports only itself, except for content parts', () => {
  const isLowest = (file: string) => ground.includes(partOf(file)) || file.endsWith('.json');
  const wrong = imports.filter(
    ({ from, to }) => ground.includes(partOf(from)) && !isLowest(to) && !isContentPart(from, to),
  );
  assert.deepEqual(wrong, []);
});

it('no file exports what another one declares, because readers would not find it', () => {
  const text = (file: string) => readFileSync(join(root, file), 'utf8');
  assert.deepEqual(
    files.filter((file) => /^export\b[^;=(]*?\bfrom '/m.test(text(file))),
    [],
  );
});

it('the connector interface imports only itself and the lowest layer', () => {
  const isOfInterface = (file: string) => file.startsWith('connectors/contract/');
  const wrong = imports.filter(
    ({ from, to }) => isOfInterface(from) && !isOfInterface(to) && !ground.includes(partOf(to)),
  );
  assert.deepEqual(wrong, []);
});

it('a connector imports only the connector interface and its own folder', () => {
  const wrong = imports.filter(({ from, to }) => {
    const folder = /^(?:connectors\/[^/]+|sandbox)\//.exec(from)?.[0];
    if (folder === undefined || ground.includes(partOf(to))) return false;
    if (from === SANDBOX_STORE || partOf(from) === 'sandbox/simulator') return false;
    return !/^connectors\/(?:contract\/)?[^/]+\.ts$/.test(to) && !to.startsWith(folder);
  });
  assert.deepEqual(wrong, []);
});

it('the parsers of WhatsApp content do not import the code that receives messages', () => {
  const folder = 'connectors/whatsapp';
  const wrong = imports.filter(
    ({ from, to }) => from.startsWith(`${folder}/content/`) && to.startsWith(`${folder}/inbound/`),
  );
  assert.deepEqual(wrong, []);
});

/** The rooms of a folder, each of which may import those before it. Only `joins` beside the rooms may import rooms. */
const rooms: Readonly<Record<string, { readonly order: readonly string[]; readonly joins: readonly string[] }>> = {
  operations: {
    order: ['shared', 'files', 'accounts', 'webhooks', 'sessions', 'messages', 'bulk', 'groups', 'broadcasts'],
    joins: ['index.ts'],
  },
  webhooks: { order: ['queue', 'log', 'delivery', 'lanes', 'endpoints', 'retention'], joins: [] },
  messages: {
    order: ['standing', 'people', 'messages', 'chats', 'groups', 'broadcasts', 'history', 'identities'],
    joins: ['inbox.ts', 'sessionInbox.ts'],
  },
};

for (const [folder, { order, joins }] of Object.entries(rooms))
  it(`the rooms of ${folder}/ import only those below them`, () => {
    const roomOf = (file: string) => new RegExp(`^${folder}/([^/]+)/`).exec(file)?.[1];
    const known = new Set(files.map(roomOf).filter((room) => room !== undefined));
    assert.deepEqual(known, new Set(order));
    const heightOf = (file: string) => {
      if (joins.some((join) => file === `${folder}/${join}`)) return order.length;
      const room = roomOf(file);
      return room === undefined ? -1 : order.indexOf(room); // the files beside the rooms are below them
    };
    const within = imports.filter(({ from, to }) => from.startsWith(`${folder}/`) && to.startsWith(`${folder}/`));
    assert.ok(within.length > 0);
    assert.deepEqual(
      within.filter(({ from, to }) => heightOf(to) > heightOf(from)),
      [],
    );
  });

/** Files that a reader can survey beside each other. */
const MAX_FILES = 25;

it(`no folder has more than ${MAX_FILES} files`, () => {
  const tests = globSync('**/*.ts', { cwd: join(root, '../test') }).map((file) => `test/${file}`);
  const pages = dashboardFiles.map((file) => `dashboard/${file}`);
  const folders = Map.groupBy([...files, ...tests, ...pages], (file) => dirname(file));
  folders.delete('db/migrations'); // a list in the order of time
  const large = [...folders].filter(([, found]) => found.length > MAX_FILES).map(([folder]) => folder);
  assert.deepEqual(large, []);
});

it('no file is part of an import cycle', () => {
  refuseCycles(files, imports);
  refuseCycles(dashboardFiles, importsOf(dashboard, dashboardFiles));
});

function refuseCycles(names: readonly string[], edges: readonly Import[]): void {
  const next = Map.groupBy(edges, ({ from }) => from);
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    assert.ok(!path.includes(file), `a cycle: ${[...path.slice(path.indexOf(file)), file].join(' → ')}`);
    if (done.has(file)) return;
    for (const { to } of next.get(file) ?? []) visit(to, [...path, file]);
    done.add(file);
  };
  for (const file of names) visit(file, []);
}

it('the pages of the dashboard import no parts of other pages', () => {
  const pageOf = (file: string) => /^pages\/([^/]+)\//.exec(file)?.[1];
  const wrong = importsOf(dashboard, dashboardFiles).filter(({ from, to }) => {
    const page = pageOf(to);
    return page !== undefined && page !== pageOf(from) && from !== 'routes.tsx' && from !== 'reference.tsx';
  });
  assert.deepEqual(wrong, []);
});

it('no file is a barrel', () => {
  const barrels = files.filter((file) => /^export (\*|\{[^}]*\}) from/m.test(readFileSync(join(root, file), 'utf8')));
  assert.deepEqual(barrels, []);
});
