import { cut } from '../events/contentParts/limits.ts';

/*
 * Limits of the texts that a network reports. Strangers write them with modified apps, up to what the network carries.
 */

/** Largest text of a message, in characters: the limit of WhatsApp and of the API. */
export const MAX_TEXT_CHARACTERS = 65_536;

/** Limits of shorter texts, by the name of their field. */
const CHARACTERS: Readonly<Record<string, number>> = {
  senderName: 200,
  username: 200,
  name: 512, // of a template, the longest of all names
  subject: 200,
  description: 4096,
  emoji: 64,
  reason: 1000,
  error: 1000,
};

/** Returns a report with every text cut to its limit; the same object if none is longer. */
export function withTextLimits<T>(report: T): T {
  return limited(report, '') as T; // the same shape, with shorter texts
}

function limited(value: unknown, name: string): unknown {
  if (typeof value === 'string') {
    const most = CHARACTERS[name] ?? MAX_TEXT_CHARACTERS;
    return value.length > most ? cut(value, most) : value;
  }
  if (Array.isArray(value)) {
    const items = value.map((item) => limited(item, name));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  if (!isPlain(value)) return value; // such as a file
  const changed = Object.entries(value).flatMap(([key, item]) => {
    const within = limited(item, key);
    return within === item ? [] : [[key, within] as const];
  });
  return changed.length === 0 ? value : { ...value, ...Object.fromEntries(changed) };
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** Longer timers than a phone offers come from modified apps. */
const MAX_DISAPPEARING_SECONDS = 366 * 86_400;

/** Returns a timer that a network reports, within its limits; null if it is off. */
export function withinDisappearing(seconds: number | null | undefined): number | null {
  if (!Number.isSafeInteger(seconds) || !seconds || seconds < 0) return null;
  return Math.min(seconds, MAX_DISAPPEARING_SECONDS);
}
