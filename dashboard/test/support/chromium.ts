import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const INSTALLED = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const CACHE = resolve(import.meta.dirname, '../../../node_modules/.cache/chromium');

/** Finds the browser: that of `CHROMIUM_PATH`, one that is installed, or the one from npm. */
export async function findChromium(): Promise<string> {
  const named = process.env['CHROMIUM_PATH'];
  if (named) return named;
  return INSTALLED.find((path) => existsSync(path)) ?? (await unpackChromium());
}

/**
 * Unpacks `@sparticuz/chromium` to a folder of its own, then renames that. The package itself unpacks to the temporary
 * folder, where a second process would use files that the first is still writing.
 */
async function unpackChromium(): Promise<string> {
  const packed = import.meta.resolve('@sparticuz/chromium');
  const manifest = await readFile(new URL('../../package.json', packed), 'utf8');
  const { version } = JSON.parse(manifest) as { version: string };
  const folder = join(CACHE, version);
  const path = join(folder, 'chromium');
  if (existsSync(path)) return path;
  await mkdir(CACHE, { recursive: true });
  const own = await mkdtemp(`${folder}-`);
  await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '--eval', `await (await import('${packed}')).default.executablePath()`],
    { env: { ...process.env, TMPDIR: own } },
  );
  await rename(own, folder).catch(async (error) => {
    await rm(own, { recursive: true });
    if (!existsSync(path)) throw error;
  });
  return path;
}
