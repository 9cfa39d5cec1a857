import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import tailwind from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig, minifySync, type Plugin } from 'vite';

export default defineConfig({
  plugins: [react(), tailwind(), compressed()],
  // Everything is a file of its own: the policy of the page allows no fonts or scripts from data URLs.
  build: { manifest: true, assetsInlineLimit: 0, reportCompressedSize: false, chunkSizeWarningLimit: 700 },
  // The server puts a fresh one into each answer.
  html: { cspNonce: '__CSP_NONCE__' },
  // `npm run dev -w dashboard` beside a server that runs.
  server: {
    proxy: Object.fromEntries(
      ['/api', '/openapi.json', '/docs'].map((path) => [
        path,
        process.env['SWITCHBOARD_URL'] ?? 'http://127.0.0.1:8080',
      ]),
    ),
  },
});

/** Compressed once, here, and not by the server for every answer. Vite copies `static` as it is: that is minified too. */
function compressed(): Plugin {
  return {
    name: 'compressed',
    apply: 'build',
    writeBundle({ dir = 'dist' }) {
      for (const folder of ['assets', 'static']) {
        for (const name of readdirSync(join(dir, folder)).filter((file) => /\.(js|css|svg)$/.test(file))) {
          const path = join(dir, folder, name);
          if (folder === 'static' && name.endsWith('.js')) {
            writeFileSync(path, minifySync(name, readFileSync(path, 'utf8')).code);
          }
          const content = readFileSync(path);
          writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }));
          writeFileSync(`${path}.br`, brotliCompressSync(content));
        }
      }
    },
  };
}
