import { AppError } from '../../../errors.ts';
import { keepSignalContexts } from './signalContexts.ts';
import { silenceSignal } from './silence.ts';

export type Baileys = typeof import('baileys');

const MISSING: ReadonlySet<unknown> = new Set(['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND']);

let loading: Promise<Baileys> | undefined;

/**
 * Loads Baileys on first use: it takes 0.4 s and some 60 MB, which a server without a WhatsApp session is spared. It is
 * an optional dependency, because the library below it has another license than ours (see docs/whatsapp.md).
 * @throws {AppError} `not_supported` if it is not installed, saying how to install it
 */
export function loadBaileys(): Promise<Baileys> {
  loading ??= load();
  return loading;
}

async function load(): Promise<Baileys> {
  // Both before the import, whose modules keep the functions that they find then.
  silenceSignal(console);
  try {
    keepSignalContexts();
    return await import('baileys');
  } catch (cause) {
    loading = undefined;
    const isMissing = cause instanceof Error && 'code' in cause && MISSING.has(cause.code);
    throw isMissing
      ? new AppError(
          'not_supported',
          'This server was installed without the WhatsApp client; run "npm install --include=optional" in its folder and restart it',
          { cause },
        )
      : new AppError('not_supported', 'The WhatsApp client cannot be loaded; the server log says why', {
          cause,
        });
  }
}
