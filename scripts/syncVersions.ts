import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/*
 * Writes the version that Changesets gave the packages into the other files that have it: the packages that are not
 * published, the template of connectors, the bundle for desktop clients, the entry of the MCP Registry, the Python
 * client, the Helm chart and CHANGELOG.md. `npm run release:version` runs it.
 */

const root = fileURLToPath(new URL('../', import.meta.url));
const read = (path: string) => readFileSync(root + path, 'utf8');
const { version } = JSON.parse(read('sdk/package.json')) as { version: string };

const replacements = [
  ...globSync('{package.json,*/package.json}', { cwd: root, exclude: ['node_modules'] }).map((path) => ({
    path,
    // The first one: those of dependencies follow.
    pattern: /(?<="version":\s*")[^"]+/,
  })),
  { path: 'connector-kit/template/package.json', pattern: /(?<="@switchboard\/connector-kit":\s*"\^)[^"]+/ },
  { path: 'mcpb/manifest.json', pattern: /(?<="version": ")[^"]+/ },
  { path: 'server.json', pattern: /(?<="version": ")[^"]+/ },
  { path: 'clients/python/src/switchboard_client/_version.py', pattern: /(?<=VERSION = ")[^"]+/ },
  { path: 'deploy/helm/switchboard/Chart.yaml', pattern: /(?<=^(?:version|appVersion): ).+$/gm },
  { path: 'deploy/helm/switchboard/README.md', pattern: /(?<=registry\.example\.com\/switchboard:)\S+/g },
];
for (const { path, pattern } of replacements) {
  const text = read(path);
  if (text.search(pattern) === -1) throw new Error(`${path} has no version`);
  writeFileSync(root + path, text.replace(pattern, version));
}

const changes = read('CHANGELOG.md');
if (!changes.includes(`\n## ${version} `)) {
  const today = new Date().toISOString().slice(0, 10);
  writeFileSync(
    `${root}CHANGELOG.md`,
    changes.replace('\n## Unreleased\n', `\n## Unreleased\n\n## ${version} (${today})\n`),
  );
}
