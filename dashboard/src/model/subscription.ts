import type { EventType } from '../strings/events.ts';

/** Whether a pattern, `*` or the beginning of event types such as `message.*`, includes an event type. */
export function matchesPattern(pattern: string, type: EventType): boolean {
  return pattern === '*' || (pattern.endsWith('.*') && type.startsWith(pattern.slice(0, -1)));
}

/** Whether a webhook that subscribes to these event types and patterns receives an event type. */
export function isSubscribed(events: readonly string[], type: EventType): boolean {
  return events.some((one) => one === type || matchesPattern(one, type));
}
