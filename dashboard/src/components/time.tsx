import { useSyncExternalStore } from 'react';
import { timeWords, words } from '../strings/shared.ts';

// As the words around it, whatever the language of the browser.
const dateTime = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' });
const dateOnly = new Intl.DateTimeFormat('en', { dateStyle: 'medium' });
const clockTime = new Intl.DateTimeFormat('en', { timeStyle: 'medium' });
const formats = { dateTime, date: dateOnly, clock: clockTime };

/** A time in the reader's zone; on hover the exact one, in UTC. `relative` says how long ago, and keeps counting. */
export function Time({
  at,
  as = 'dateTime',
}: {
  readonly at: string | null;
  readonly as?: keyof typeof formats | 'relative';
}) {
  if (at === null) return words.never;
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
  // `now` is of whole seconds: what has happened in this one is not to come.
  if (Math.abs(distanceMs) < 3000) return distanceMs >= 1000 ? timeWords.inMoment : timeWords.now;
  return distanceMs < 0 ? timeWords.ago(duration(-distanceMs)) : timeWords.ahead(duration(distanceMs));
}

/** A length of time in its largest unit: "38 s", "14 min", "3 days". */
export function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return timeWords.seconds(seconds);
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return timeWords.minutes(minutes);
  const hours = Math.round(minutes / 60);
  if (hours < 48) return timeWords.hours(hours);
  return timeWords.days(Math.round(hours / 24));
}

/** The time, each second: for what counts. */
export function useNow(): number {
  return useSyncExternalStore(eachSecond, () => Math.floor(Date.now() / 1000) * 1000);
}

function eachSecond(changed: () => void): () => void {
  const timer = setInterval(changed, 1000);
  return () => clearInterval(timer);
}
