import { optional, time } from './fields.ts';
import { formerly } from './formerNames.ts';

/** The input fields of lists that select by time. */
export const timeRange = {
  afterTime: optional(time('Only at or after this time, such as 2026-07-01T12:00:00Z.')),
  beforeTime: optional(time('Only before this time.')),
};

/** Former names of these fields. */
export const formerTimeRange = {
  after: formerly('afterTime', timeRange.afterTime),
  before: formerly('beforeTime', timeRange.beforeTime),
};
