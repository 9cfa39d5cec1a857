import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SwitchboardApi } from '../../credentials/SwitchboardApi.credentials.ts';
import type * as action from '../../nodes/Switchboard/Switchboard.node.ts';
import type { SwitchboardTrigger } from '../../nodes/SwitchboardTrigger/SwitchboardTrigger.node.ts';
import { build } from '../../scripts/build.ts';

/*
 * The nodes as n8n loads them: compiled, and with `require`. The other entry of `n8n-workflow` only works for bundlers.
 * The folder is inside the workspace, where `n8n-workflow` is found.
 */

const cache = fileURLToPath(new URL('../../node_modules/.cache/', import.meta.url));
mkdirSync(cache, { recursive: true });
const folder = mkdtempSync(join(cache, 'nodes-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
build(folder);

const load = createRequire(join(folder, 'index.js'));

const nodes: typeof action = load('./nodes/Switchboard/Switchboard.node.js');
const { SwitchboardTrigger: Trigger }: { SwitchboardTrigger: typeof SwitchboardTrigger } = load(
  './nodes/SwitchboardTrigger/SwitchboardTrigger.node.js',
);
const credentials: { SwitchboardApi: typeof SwitchboardApi } = load('./credentials/SwitchboardApi.credentials.js');

export const { operations } = nodes;
export const switchboard = new nodes.Switchboard();
export const trigger = new Trigger();
export const credentialType = new credentials.SwitchboardApi();
export const loadNodeModule = load;
