import { resolve } from 'node:path';
import { backUp } from '../../backup.ts';
import { readSettings } from '../../config.ts';
import { restore } from '../../restore.ts';
import type { Context } from '../context.ts';

/** Copies the data of the server on this machine, which may be running. */
export async function backUpData({ io, out }: Context, folder: string): Promise<void> {
  const target = resolve(folder);
  const { files } = await backUp(readSettings(io.env), target);
  out.result({ folder: target, files }, () =>
    out.line(`Backup complete: ${target} (database, login secret and ${files} files)`),
  );
}

export async function restoreData({ io, out }: Context, folder: string, { replace = false }: { replace?: boolean }) {
  const settings = readSettings(io.env);
  const { files, previous } = await restore(settings, resolve(folder), { replace, now: new Date() });
  out.result({ dataDir: settings.dataDir, files, previous: previous ?? null }, () => {
    out.line(`Restored ${resolve(folder)} to ${settings.dataDir} (database, login secret and ${files} files).`);
    if (previous !== undefined) out.note(`The previous data is in ${previous}. Delete it once you do not need it.`);
    out.note('Start the server. Never run two servers from one backup.');
  });
}
