import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readApi } from './clients/api.ts';
import { brunoFiles } from './clients/bruno.ts';
import { pythonFiles } from './clients/python.ts';
import { receiverFiles } from './clients/receivers.ts';

/*
 * Writes the committed files of the clients that derive from `openapi.json`, and those that derive from the clients.
 * With `--check` it fails if one is out of date.
 */
const root = new URL('../', import.meta.url);
const api = readApi();
const files: Readonly<Record<string, string>> = { ...pythonFiles(api), ...brunoFiles(api), ...receiverFiles() };

for (const [name, wanted] of Object.entries(files)) {
  const path = fileURLToPath(new URL(name, root));
  if (!process.argv.includes('--check')) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, wanted);
  } else if (!existsSync(path) || readFileSync(path, 'utf8') !== wanted) {
    process.stderr.write(`${name} is out of date: run \`npm run openapi\` and commit it\n`);
    process.exitCode = 1;
  }
}
