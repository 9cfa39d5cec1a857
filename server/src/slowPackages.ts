import { setImmediate } from 'node:timers/promises';

/**
 * Packages that are loaded on their first use, and would block the process for some tenths of a second: their modules
 * compile schemas, or define thousands of classes. The parts are files relative to the entry, the slowest ones that
 * depend on few others.
 */
export const slowPackages = {
  '@platformatic/kafka': [
    'protocol/records.js',
    'apis/consumer/index.js',
    'apis/admin/index.js',
    'protocol/index.js',
    'clients/base/options.js',
    'clients/admin/options.js',
    'clients/consumer/options.js',
    'clients/producer/options.js',
  ],
  baileys: ['../WAProto/index.js', 'WAM/constants.js', 'Utils/crypto.js'],
} as const;

/**
 * Loads the slow parts of a package, one per turn of the event loop, so that other work goes on between them. Import
 * the package afterwards: it reports what is missing.
 */
export async function loadParts(name: keyof typeof slowPackages): Promise<void> {
  try {
    const entry = import.meta.resolve(name);
    for (const part of slowPackages[name]) {
      await import(new URL(part, entry).href);
      await setImmediate();
    }
  } catch {} // not installed, or changed: the import loads the rest
}
