/* JavaScript can throw any value, and libraries add a code to their errors. */

export const thrownError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)));

export const thrownMessage = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));

/** Code of an error of Node, PostgreSQL or another library, such as `ECONNREFUSED`; empty if it has none. */
export const thrownCode = (thrown: unknown): string =>
  thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : '';
