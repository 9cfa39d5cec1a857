/** The fields of an object that was not checked yet. */
export type Fields = Readonly<Record<string, unknown>>;

/** Whether a value is an object with fields, and not a list. */
export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Returns the names of an object's fields as their type lists them. For objects of the server's own, which have no
 * other fields: `Object.keys` returns any text, because an object can have more fields than its type.
 */
export const namesOf = <T extends object>(fields: T) => Object.keys(fields) as (keyof T & string)[];
