/*
 * libsignal, the encryption below Baileys, prints whole sessions to the console as it opens and closes them: with their
 * private keys, on ordinary traffic. It has no switch for that, and whoever reads a server's output must not be able to
 * read its messages.
 */

/** How its lines begin, in libsignal 6.0.0. Anything else is printed. */
const SENTENCES = [
  'Closing session:',
  'Closing open session',
  'Opening session:',
  'Removing old closed session',
  'Session already closed',
  'Session already open',
  'Migrating session to',
  'Decrypted message with closed session',
  'Failed to decrypt message with any known session',
  'Session error:',
  'Unhandled bucket type',
  'V1 session storage migration error',
];

/** Keeps libsignal's lines off a console. Doing it twice does no harm. */
export function silenceSignal(target: Pick<Console, 'log' | 'info' | 'warn' | 'error'>): void {
  for (const level of ['log', 'info', 'warn', 'error'] as const) {
    const print = target[level];
    if (silenced.has(print)) continue;
    const filtered = (...parts: unknown[]) => {
      if (!isOfSignal(parts[0])) print.apply(target, parts);
    };
    silenced.add(filtered);
    target[level] = filtered;
  }
}
const silenced = new WeakSet<object>();

function isOfSignal(first: unknown): boolean {
  return typeof first === 'string' && SENTENCES.some((sentence) => first.startsWith(sentence));
}
