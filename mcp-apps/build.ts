import { createHash } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'vite';

/*
 * npm run build -w mcp-apps
 *
 * Builds each app as one HTML file without any other file: a client shows it in a frame that can load nothing.
 */

const ROOT = import.meta.dirname;
const DIST = join(ROOT, 'dist');
const pages = { pairing: 'Connect a phone', delivery: 'Delivery doctor' };

rmSync(DIST, { recursive: true, force: true });
mkdirSync(DIST, { recursive: true });
for (const [name, title] of Object.entries(pages)) {
  const { script, style } = await bundle(join(ROOT, 'src', `${name}.ts`));
  writeFileSync(join(DIST, `${name}.html`), pageOf(title, script, style));
}

async function bundle(entry: string): Promise<{ script: string; style: string }> {
  const result = await build({
    root: ROOT,
    configFile: false,
    logLevel: 'warn',
    // The parts of the protocol library that an app does not use, such as its transports, have no side effects.
    build: {
      write: false,
      lib: { entry, formats: ['iife'], name: 'app', fileName: 'app', cssFileName: 'app' },
      rolldownOptions: { treeshake: { moduleSideEffects: (id) => id.includes('/mcp-apps/src/') } },
    },
  });
  if (!Array.isArray(result) || result[0] === undefined) throw new Error(`${entry} was not built`);
  const { output } = result[0];
  const script = output.find((file) => file.type === 'chunk')?.code;
  const style = output.find((file) => file.type === 'asset' && file.fileName.endsWith('.css'));
  if (script === undefined || style?.type !== 'asset') throw new Error(`${entry} has no script or no style sheet`);
  return { script: script.trim().replaceAll('</script', '<\\/script'), style: String(style.source).trim() };
}

/** The policy allows exactly this script and this style sheet, besides what the client allows. */
function pageOf(title: string, script: string, style: string): string {
  const policy = [
    "default-src 'none'",
    `script-src '${hashOf(script)}'`,
    `style-src '${hashOf(style)}'`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<meta http-equiv="Content-Security-Policy" content="${policy}">
<style>${style}</style>
</head>
<body>
<main></main>
<script>${script}</script>
</body>
</html>
`;
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
