import { statSync } from 'node:fs';
import { readSettings, type Settings } from '../config.ts';
import type { Io } from './io.ts';

/**
 * Reads the settings of a command on the data of this machine. A command that root runs continues as the owner of the
 * data folder: the server, which runs as that user, could not open the files that root creates.
 */
export function readDataSettings({ env }: Pick<Io, 'env'>): Settings {
  const settings = readSettings(env);
  if (process.geteuid?.() === 0) becomeOwnerOf(settings.dataDir);
  return settings;
}

function becomeOwnerOf(folder: string): void {
  const owner = statSync(folder, { throwIfNoEntry: false });
  if (owner === undefined || owner.uid === 0) return;
  process.setgroups?.([owner.gid]);
  process.setgid?.(owner.gid);
  process.setuid?.(owner.uid); // last, because only root may do the others
}
