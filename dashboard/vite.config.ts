import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import tailwind from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig, minifySync, type Plugin } from 'vite';

export default defineConfig({
  plugins: [react(), tailwind(), compressed()],
  // Assets are separate files, because the policy of the page forbids fonts and scripts in data URLs.
  build: {
    manifest: true,
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 700,
    rolldownOptions: { input: ['index.html', 'reference.html'] },
  },
  worker: { format: 'es' },
  // The server inserts a fresh nonce into each response.
  html: { cspNonce: '__CSP_NONCE__' },
  // For `npm run dev -w dashboard` next to a running server.
  server: {
    proxy: Object.fromEntries(
      ['/api', '/openapi.json', '/docs/errors', '/docs/guides'].map((path) => [
        path,
        process.env['SWITCHBOARD_URL'] ?? 'http://127.0.0.1:8080',
      ]),
    ),
  },
});

/**
 * Compresses assets at build time instead of in every response. Vite copies `static` unchanged, so it is minified here.
 */
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
