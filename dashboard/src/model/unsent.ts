import { useSyncExternalStore } from 'react';
import { useAccount } from '../shell/account.ts';

/** A message that the reader submitted and that is not known to be sent. */
export interface Unsent {
  /** Idempotency key, so that sending it again cannot double it. */
  readonly key: string;
  readonly text: string;
  /** Name of its file, which only this page has. */
  readonly fileName?: string;
  /** Id of the message that it replies to. */
  readonly replyTo?: string;
}

/** Kept for this tab only, like drafts, so that no text is lost if the page is reloaded while a message is sent. */
const PREFIX = 'unsent:';
const NONE: readonly Unsent[] = [];

const watchers = new Set<() => void>();
/** The last parsed value of each place, because React compares snapshots by identity. */
const parsed = new Map<string, { readonly json: string; readonly entries: readonly Unsent[] }>();

function read(place: string): readonly Unsent[] {
  const json = sessionStorage.getItem(place);
  if (json === null) return NONE;
  const known = parsed.get(place);
  if (known?.json === json) return known.entries;
  // Only `write` below stores here.
  const entries = JSON.parse(json) as readonly Unsent[];
  parsed.set(place, { json, entries });
  return entries;
}

function write(place: string, entries: readonly Unsent[]): void {
  if (entries.length === 0) sessionStorage.removeItem(place);
  else sessionStorage.setItem(place, JSON.stringify(entries));
  for (const changed of watchers) changed();
}

function watch(changed: () => void): () => void {
  watchers.add(changed);
  return () => watchers.delete(changed);
}

/** The unsent messages by key, with the files and quoted messages that only this page has. */
const whole = new Map<string, Unsent>();

/**
 * The unsent messages of a chat, oldest first.
 * @typeParam Whole a message with everything that belongs to it
 */
export function useUnsent<Whole extends Unsent>(chat: string) {
  const place = `${PREFIX}${useAccount().accountId}:${chat}`;
  return {
    entries: useSyncExternalStore(watch, () => read(place)),
    add: (entry: Unsent, message: Whole) => {
      whole.set(entry.key, message);
      write(place, [...read(place).filter(({ key }) => key !== entry.key), entry]);
    },
    remove: (key: string) => {
      whole.delete(key);
      write(
        place,
        read(place).filter((entry) => entry.key !== key),
      );
    },
    /** Undefined after the page was loaded again. Only `add` stores here. */
    wholeOf: (key: string) => whole.get(key) as Whole | undefined,
  };
}

/** Deletes the unsent messages of all accounts except this one. */
export function clearUnsent(exceptAccountId: string | null): void {
  for (const place of Object.keys(sessionStorage)) {
    if (!place.startsWith(PREFIX) || place.startsWith(`${PREFIX}${exceptAccountId}:`)) continue;
    for (const { key } of read(place)) whole.delete(key);
    write(place, NONE);
  }
}

/** Returns a new idempotency key. Pages served over plain HTTP lack `randomUUID`. */
export function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
