/**
 * Removes NUL and lone surrogates from all texts in a network's report. PostgreSQL stores neither, and the network
 * would repeat a report that cannot be stored forever. Only plain objects and lists are searched; unchanged values are
 * returned as they are.
 */
export function storable<T>(value: T): T;
export function storable(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('\0', '\ufffd').toWellFormed();
  if (Array.isArray(value)) {
    const cleaned = value.map((entry) => storable(entry));
    return cleaned.some((entry, index) => entry !== value[index]) ? cleaned : value;
  }
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  const entries = Object.entries(value).map(([name, member]): [string, unknown, unknown] => [
    name,
    member,
    storable(member),
  ]);
  if (entries.every(([, member, cleaned]) => member === cleaned)) return value;
  return Object.fromEntries(entries.map(([name, , cleaned]) => [name, cleaned]));
}
