/**
 * Removes NUL and lone surrogates from all texts in a network's report. PostgreSQL stores neither, and the network
 * would repeat a report that cannot be stored forever. Only plain objects and lists are searched; unchanged values are
 * returned as they are.
 */
export function storable<T>(told: T): T;
export function storable(told: unknown): unknown {
  if (typeof told === 'string') return told.replaceAll('\0', '\ufffd').toWellFormed();
  if (Array.isArray(told)) {
    const cleaned = told.map((entry) => storable(entry));
    return cleaned.some((entry, index) => entry !== told[index]) ? cleaned : told;
  }
  if (typeof told !== 'object' || told === null || Object.getPrototypeOf(told) !== Object.prototype) return told;
  const entries = Object.entries(told).map(([name, value]): [string, unknown, unknown] => [
    name,
    value,
    storable(value),
  ]);
  if (entries.every(([, value, cleaned]) => value === cleaned)) return told;
  return Object.fromEntries(entries.map(([name, , cleaned]) => [name, cleaned]));
}
