import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/*
 * Compiles the TypeScript SDK to ES modules, and to CommonJS in the folder `cjs`: Node 20 cannot require an ES module,
 * and TypeScript below 5.8 refuses it with `module: nodenext`.
 *
 *   node scripts/buildSdk.ts [folder]
 */

const sdk = fileURLToPath(new URL('../sdk/', import.meta.url));
const compiler = fileURLToPath(new URL('../node_modules/typescript/bin/tsc', import.meta.url));
const [, , folder = `${sdk}dist`] = process.argv;

for (const [project, out] of [
  ['tsconfig.json', folder],
  ['tsconfig.cjs.json', `${folder}/cjs`],
] as const)
  execFileSync(process.execPath, [compiler, '-p', `${sdk}${project}`, '--outDir', out], { stdio: 'inherit' });
// The package is of ES modules. This makes the files below it CommonJS, for Node and for TypeScript.
writeFileSync(`${folder}/cjs/package.json`, '{ "type": "commonjs" }\n');
