import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/*
 * npm run build -w n8n-nodes-switchboard
 *
 * Compiles the nodes to CommonJS, because n8n loads them with `require`, and copies the icons.
 */

const HERE = fileURLToPath(new URL('../', import.meta.url));
const TSC = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url));

/** Builds the package into a folder. */
export function build(dist = join(HERE, 'dist')): void {
  rmSync(dist, { recursive: true, force: true });
  execFileSync(process.execPath, [TSC, '-p', HERE, '--outDir', dist], { stdio: ['ignore', 'inherit', 'inherit'] });
  for (const file of globSync(['icons/*.svg', 'nodes/*/*.node.json'], { cwd: HERE })) {
    mkdirSync(dirname(join(dist, file)), { recursive: true });
    cpSync(join(HERE, file), join(dist, file));
  }
  // The package itself is a module, so that its sources are.
  writeFileSync(join(dist, 'package.json'), '{ "type": "commonjs" }\n');
}

if (import.meta.main) build();
