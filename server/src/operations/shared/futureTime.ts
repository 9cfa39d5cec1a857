import { isoTime } from '../../clock.ts';
import { invalidField } from '../../errors.ts';
import { parseTime } from '../../invoke/input/validate.ts';
import type { Context } from '../../invoke/operation.ts';

export const MAX_DAYS_AHEAD = 366;

/**
 * Returns a time of the input, in milliseconds.
 * @throws {AppError} `validation_failed` if it has passed, or is more than 366 days ahead
 */
export function futureTime({ clock }: Context, field: string, text: string): number {
  const at = parseTime(field, text);
  const now = clock.now();
  if (at <= now) {
    const read = `${isoTime(at)}, and it is now ${isoTime(now)}`;
    throw invalidField(field, `has passed: it is ${read}. Check its offset, such as Z or +02:00`, 'past');
  }
  const last = now + MAX_DAYS_AHEAD * 24 * 3600 * 1000;
  if (at > last)
    throw invalidField(
      field,
      `must be at most ${MAX_DAYS_AHEAD} days ahead, which is ${isoTime(last)}; it is ${isoTime(at)}`,
    );
  return at;
}
