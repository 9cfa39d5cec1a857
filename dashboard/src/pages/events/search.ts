import { type EventType, eventTypes } from '../../strings/events.ts';

/** The search parameters of the events. */
export interface EventSearch {
  /** The default is `live`. */
  readonly view?: 'live' | 'log' | undefined;
  readonly kind?: EventType | undefined;
}

export function eventSearch({ view, kind }: Readonly<Record<string, unknown>>): EventSearch {
  return {
    view: view === 'log' || view === 'live' ? view : undefined,
    kind: eventTypes.find((one) => one === kind),
  };
}
