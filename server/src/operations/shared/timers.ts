import { DISAPPEARING_SECONDS } from '../../connectors/contract/content.ts';
import { invalidField } from '../../errors.ts';

/**
 * Phones offer only some timers of disappearing messages, on every network.
 * @param off the value that turns them off
 * @throws {AppError} `validation_failed`
 */
export function requireTimer<Off extends number | null>(field: string, seconds: number | Off, off: Off): void {
  if (seconds === off || DISAPPEARING_SECONDS.includes(Number(seconds))) return;
  const message = `must be ${DISAPPEARING_SECONDS.join(', ')}, or ${off} to turn it off; not ${seconds}`;
  throw invalidField(field, message, 'enum');
}
