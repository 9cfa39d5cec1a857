/*
 * libsignal, the encryption below Baileys, prints whole sessions with their private keys to the console as it opens and
 * closes them, on ordinary traffic and without a switch to turn it off. Access to a server's output must not give
 * access to its messages.
 */

/** The prefixes of its lines in libsignal 6.0.0. Anything else is printed. */
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

/** Keeps libsignal's lines off a console. Calling it twice is harmless. */
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
