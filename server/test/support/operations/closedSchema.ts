/** A schema that rejects unknown fields, so that extra ones are noticed. */
export function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const members = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closed(value)]));
  return 'properties' in members && members['additionalProperties'] !== true
    ? { ...members, additionalProperties: false }
    : members;
}
