import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import template from '../server.json' with { type: 'json' };

/*
 * node scripts/registryEntry.ts <owner>/<repository> <bundle>
 *
 * Writes the entry of the MCP Registry for a release to stdout: `server.json` with the name that the owner of the
 * repository may publish, and the bundle as an asset of the release. The bundle itself asks for the URL and the key.
 *
 * The npm package and the image are not part of the entry. A client would start them, and find a server without an
 * account or a key.
 */

export function registryEntry(repository: string, bundle: string) {
  const [owner, name, ...rest] = repository.split('/');
  if (!owner || !name || rest.length > 0) throw new Error(`The repository "${repository}" is not <owner>/<repository>`);
  const { version, remotes, ...identity } = template;
  const url = `https://github.com/${repository}`;
  return {
    ...identity,
    name: `io.github.${owner}/switchboard`,
    version,
    repository: { url, source: 'github', subfolder: 'server' },
    remotes,
    packages: [
      {
        registryType: 'mcpb',
        identifier: `${url}/releases/download/v${version}/${basename(bundle)}`,
        // No version: one published validator refuses it, and the URL has it.
        fileSha256: createHash('sha256').update(readFileSync(bundle)).digest('hex'),
        transport: { type: 'stdio' },
      },
    ],
  };
}

if (import.meta.main) {
  const [repository = '', bundle = ''] = process.argv.slice(2);
  process.stdout.write(`${JSON.stringify(registryEntry(repository, bundle), null, 2)}\n`);
}
