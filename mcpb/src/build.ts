import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packExtension } from '@anthropic-ai/mcpb';
import { build } from 'rolldown';
import sharp from 'sharp';
import manifest from '../manifest.json' with { type: 'json' };

/*
 * npm run build -w @switchboard/mcpb
 *
 * Packs the bundle as `dist/switchboard-<version>.mcpb`. The bundle contains everything that it runs.
 */

const HERE = fileURLToPath(new URL('../', import.meta.url));
const ICON_PIXELS = 512;

/** Returns the path of the bundle. */
export async function packBundle(dist = join(HERE, 'dist')): Promise<string> {
  const content = join(dist, 'content');
  rmSync(content, { recursive: true, force: true });
  mkdirSync(join(content, 'server'), { recursive: true });
  writeFileSync(join(content, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  // Node reads the program as a module only if a package says so.
  writeFileSync(join(content, 'server/package.json'), '{ "type": "module" }\n');
  copyFileSync(join(HERE, '../LICENSE'), join(content, 'LICENSE'));
  await sharp(join(HERE, '../dashboard/public/static/icon.svg'), { density: 72 * (ICON_PIXELS / 32) })
    .resize(ICON_PIXELS, ICON_PIXELS)
    .png()
    .toFile(join(content, manifest.icon));
  const modules = await bundleProgram(join(content, manifest.server.entry_point));
  writeFileSync(join(content, 'THIRD-PARTY-LICENSES'), licensesOf(modules));

  const bundle = join(dist, `${manifest.name}-${manifest.version}.mcpb`);
  rmSync(bundle, { force: true });
  // Prints what is wrong with the manifest.
  const isPacked = await packExtension({ extensionPath: content, outputPath: bundle, silent: true });
  if (!isPacked) throw new Error('The bundle cannot be packed: see above');
  return bundle;
}

/** Returns the paths of all modules in the program. */
async function bundleProgram(file: string): Promise<string[]> {
  const { output } = await build({
    input: join(HERE, 'src/main.ts'),
    platform: 'node',
    output: { file, format: 'esm', minify: true, codeSplitting: false },
    logLevel: 'warn',
  });
  return output.flatMap((part) => (part.type === 'chunk' ? part.moduleIds : []));
}

/** The licenses of the packages in the program, which require that they come along. */
function licensesOf(modules: readonly string[]): string {
  const packages = new Set(modules.map((path) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0]));
  return [...packages]
    .flatMap((folder) => {
      if (folder === undefined) return [];
      const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      const text = ['LICENSE', 'LICENSE.md', 'license']
        .map((file) => join(folder, file))
        .find((file) => existsSync(file));
      if (text === undefined) throw new Error(`${name} has no license file`);
      return [`${name} ${version} (${license})\n\n${readFileSync(text, 'utf8').trim()}\n`];
    })
    .toSorted()
    .join(`\n${'-'.repeat(80)}\n\n`);
}

if (import.meta.main) {
  const bundle = await packBundle();
  process.stdout.write(`${dirname(bundle)}/${manifest.name}-${manifest.version}.mcpb\n`);
}
