import { execFileSync } from 'node:child_process';

/** The files that a process has loaded after loading a module of the server. */
export function loadedBy(file: string): string {
  const path = new URL(`../../../src/${file}`, import.meta.url).href;
  const script = `
    const { registerHooks } = await import('node:module');
    registerHooks({ load: (url, context, next) => (console.log(url), next(url, context)) });
    await import(${JSON.stringify(path)});
    process.exit();`;
  return execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
}
