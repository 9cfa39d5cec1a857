import { AppError } from '../../../errors.ts';
import { keepSignalContexts } from './signalContexts.ts';
import { silenceSignal } from './silence.ts';

export type Baileys = typeof import('baileys');

const MISSING: ReadonlySet<unknown> = new Set(['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND']);

let loading: Promise<Baileys> | undefined;

/**
 * Baileys, on first use: it costs 0.4 s and some 60 MB, which a server without a WhatsApp session is spared. It is an
 * optional dependency, for the library below it is under another licence than ours (see docs/whatsapp.md).
 * @throws {AppError} `not_supported` when it is not installed, saying how to install it
 */
export function loadBaileys(): Promise<Baileys> {
  loading ??= load();
  return loading;
}

async function load(): Promise<Baileys> {
  // Both before the import, which keeps the functions that it finds then.
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
