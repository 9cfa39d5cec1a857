import { resolve } from 'node:path';
import { backUp, type Copied } from '../../backup.ts';
import { readSettings } from '../../config.ts';
import { restore } from '../../restore.ts';
import type { Context } from '../context.ts';
import { readDataSettings } from '../dataOwner.ts';

/** Copies the data of the server on this machine, which may be running. */
export async function backUpData({ io, out }: Context, folder: string): Promise<void> {
  const target = resolve(folder);
  const copied = await backUp(readSettings(io.env), target);
  out.result({ folder: target, ...copied }, () => out.line(`Backup complete: ${target} (${partsOf(copied)})`));
}

export async function restoreData({ io, out }: Context, folder: string, { replace = false }: { replace?: boolean }) {
  const settings = readDataSettings(io);
  const { previous, ...copied } = await restore(settings, resolve(folder), { replace, now: new Date() });
  out.result({ dataDir: settings.dataDir, ...copied, previous: previous ?? null }, () => {
    out.line(`Restored ${resolve(folder)} to ${settings.dataDir} (${partsOf(copied)}).`);
    if (!copied.hasLoginSecret && settings.jwtSecret === '')
      out.note('The backup has no login secret, so everybody has to log in again.');
    if (previous !== undefined) out.note(`The previous data is in ${previous}. Delete it once you do not need it.`);
    out.note('Start the server. Never run two servers from one backup.');
  });
}

const partsOf = ({ files, hasLoginSecret }: Copied) =>
  `database, ${hasLoginSecret ? 'login secret and' : 'no login secret,'} ${files} files`;
