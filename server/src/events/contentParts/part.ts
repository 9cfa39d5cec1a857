import type { Static, TSchema } from 'typebox';

/** A part of a message. Everything that the server knows of it, apart from how networks send it. */
export interface Part<T, N extends string, S extends TSchema> {
  /** Its field in the API and in events. */
  readonly field: N;
  readonly schema: S;
  /** Returns what is kept of a value from a network; undefined for nothing. */
  readonly limit: (value: T) => NoInfer<T> | undefined;
  /** Returns the texts that the search finds. */
  readonly texts?: (value: NoInfer<T>) => readonly (string | undefined)[];
  /** Returns its form in the API and in events; undefined for none. */
  readonly show: (value: NoInfer<T>) => Static<S> | undefined;
}

export const definePart = <T, N extends string, S extends TSchema>(part: Part<T, N, S>) => part;
