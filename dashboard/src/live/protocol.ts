import type { StreamedEvent } from '@switchboard/sdk';

export type LiveState = 'connecting' | 'live' | 'lost';
export type LiveEvent = StreamedEvent;

/** Messages from a page to the hub that it shares with other pages. */
export type FromPage =
  /** `after` is the cursor of a page that was connected before. */
  | { readonly type: 'join'; readonly after: string | undefined }
  | { readonly type: 'leave' }
  | { readonly type: 'pong' };

/** Messages from the hub to a page. */
export type FromHub =
  | { readonly type: 'state'; readonly state: LiveState }
  /** `cursor` resumes after this event, or shortly before it. */
  | { readonly type: 'event'; readonly event: LiveEvent; readonly cursor: string }
  /** Some events can't be delivered to this page, so it has to read its data again. */
  | { readonly type: 'missed' }
  /** The page has been sent all events up to `cursor`. It replies with `pong` once it has handled them. */
  | { readonly type: 'ping'; readonly cursor: string | undefined }
  /** The page fell behind and gets nothing more until it joins again. */
  | { readonly type: 'dropped' };

/** Interval of pings in milliseconds. A page that hears nothing for several of them joins again. */
export const PING_EVERY_MS = 15_000;

/** Name of the channel on which a login or logout in one tab is announced to the others. */
export const LOGIN_CHANNEL = 'login';

/** Announces a login, or a logout if `accountId` is null. */
export interface LoginChange {
  readonly accountId: string | null;
}

/** Returns the event's id: the part of a cursor that starts with `evt_`. After it, a cursor can have an epoch. */
export function eventIdOf({ id }: Pick<LiveEvent, 'id'>): string {
  return id.split('.').find((part) => part.startsWith('evt_')) ?? id;
}
