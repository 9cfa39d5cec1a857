import { type EventKind, eventKinds } from '../../strings/events.ts';

/** What stands behind the `?` of the events. */
export interface EventSearch {
  /** Without it, `live`. */
  readonly view?: 'live' | 'log' | undefined;
  readonly kind?: EventKind | undefined;
}

export function eventSearch({ view, kind }: Readonly<Record<string, unknown>>): EventSearch {
  return {
    view: view === 'log' || view === 'live' ? view : undefined,
    kind: eventKinds.find((one) => one === kind),
  };
}
