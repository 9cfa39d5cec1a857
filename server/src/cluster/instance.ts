import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What tells a data folder from others, from its first start on. One process at a time runs on it. */
export function instanceOf(dataDir: string): string {
  const file = join(dataDir, 'instance-id');
  if (!existsSync(file)) writeFileSync(file, randomUUID(), { mode: 0o600 });
  return readFileSync(file, 'utf8').trim();
}
