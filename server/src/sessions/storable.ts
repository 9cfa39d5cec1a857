/**
 * Whatever a network tells, without NUL or half a character in any of its texts: PostgreSQL's text has neither, and what
 * cannot be stored would be told again and again. Only plain objects and lists are looked into; what is fine is given
 * back as it is.
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
