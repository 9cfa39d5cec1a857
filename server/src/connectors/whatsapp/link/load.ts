import { AppError } from '../../../errors.ts';
import { loadParts } from '../../../slowPackages.ts';
import { keepSignalContexts } from './signalContexts.ts';
import { silenceSignal } from './silence.ts';

export type Baileys = typeof import('baileys');

const MISSING: ReadonlySet<unknown> = new Set(['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND']);

let loading: Promise<Baileys> | undefined;

/**
 * Loads Baileys on first use, because it takes 0.4 s and some 60 MB. It is an optional dependency, because the library
 * below it has a different license from ours (see docs/whatsapp.md).
 * @throws {AppError} `not_supported` if it is not installed, with instructions to install it
 */
export function loadBaileys(): Promise<Baileys> {
  loading ??= load();
  return loading;
}

async function load(): Promise<Baileys> {
  // Both before the import, because the modules keep the functions that they find when they load.
  silenceSignal(console);
  try {
    keepSignalContexts();
    await loadParts('baileys');
    return await import('baileys');
  } catch (cause) {
    loading = undefined;
    const isMissing = cause instanceof Error && 'code' in cause && MISSING.has(cause.code);
    const message = isMissing
      ? 'This server was installed without the WhatsApp client; run "npm install --include=optional" in its folder and restart it'
      : 'The WhatsApp client cannot be loaded; the server log says why';
    throw new AppError('not_supported', message, { cause });
  }
}
