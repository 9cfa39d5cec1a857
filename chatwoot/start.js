#!/usr/bin/env node
/*
 * Starts the bridge: this is `switchboard-chatwoot`, which `switchboard chatwoot` runs. The file is JavaScript, because
 * Node runs no TypeScript below `node_modules`. A checkout runs its sources.
 */
import { existsSync } from 'node:fs';

const isPackage = !existsSync(new URL('src/main.ts', import.meta.url));
const { main } = await (isPackage ? import('./dist/main.js') : import('./src/main.ts'));
process.exitCode = await main(process.argv.slice(2), process.env);
