import { useSyncExternalStore } from 'react';
import { sharedStrings, timeStrings } from '../../strings/shared.ts';

// English like the text around it, whatever the language of the browser.
const dateTime = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' });
const dateOnly = new Intl.DateTimeFormat('en', { dateStyle: 'medium' });
const clockTime = new Intl.DateTimeFormat('en', { timeStyle: 'medium' });
// For times that people have agreed on.
const minute = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' });
const clockMinute = new Intl.DateTimeFormat('en', { timeStyle: 'short' });
const formats = { dateTime, date: dateOnly, clock: clockTime, minute, clockMinute };

/**
 * A time in the time zone of the reader, with the exact UTC time on hover. `relative` counts on. Null reads "never".
 */
export function Time({
  at,
  as = 'dateTime',
}: {
  readonly at: string | null;
  readonly as?: keyof typeof formats | 'relative';
}) {
  if (at === null) return sharedStrings.never;
  return (
    <time dateTime={at} title={exactUtc(at)} className="whitespace-nowrap tabular-nums">
      {as === 'relative' ? <Relative at={at} /> : formats[as].format(new Date(at))}
    </time>
  );
}

function Relative({ at }: { readonly at: string }) {
  return relativeTime(Date.parse(at), useNow());
}

function exactUtc(at: string): string {
  return at.replace('T', ' ').replace('Z', ' UTC');
}

/** "4 min ago", "in 38 s". */
export function relativeTime(at: number, now: number): string {
  const distanceMs = at - now;
  // `now` is rounded down to seconds, so an event of the current second seems to be in the future.
  if (Math.abs(distanceMs) < 3000) return distanceMs >= 1000 ? timeStrings.inMoment : timeStrings.now;
  return distanceMs < 0 ? timeStrings.ago(duration(-distanceMs)) : timeStrings.ahead(duration(distanceMs));
}

/** Formats a duration in its largest unit: "38 s", "14 min", "3 days". */
export function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return timeStrings.seconds(seconds);
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return timeStrings.minutes(minutes);
  const hours = Math.round(minutes / 60);
  if (hours < 48) return timeStrings.hours(hours);
  return timeStrings.days(Math.round(hours / 24));
}

/** The current time, updated every second. */
export function useNow(): number {
  return useSyncExternalStore(eachSecond, () => Math.floor(Date.now() / 1000) * 1000);
}

function eachSecond(changed: () => void): () => void {
  const timer = setInterval(changed, 1000);
  return () => clearInterval(timer);
}
