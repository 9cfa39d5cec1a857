import { optional, time } from './input/fields.ts';

/** The input fields of lists that select by time. */
export const timeRange = {
  afterTime: optional(time('Only at or after this time, such as 2026-07-01T12:00:00Z.')),
  beforeTime: optional(time('Only before this time.')),
};
