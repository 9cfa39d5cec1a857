/*
 * The calls and deliveries of a deployment as its callers and receivers saw them, and the guarantees that must hold
 * whatever failed. Knows neither the server nor its database.
 */

/** A send, repeated under one idempotency key until a node acknowledged it. */
export interface Call {
  /** Session and chat. Each call within one begins after the previous one was acknowledged. */
  readonly conversation: string;
  /** The text of the message, unique per call. */
  readonly text: string;
  readonly askedAt: number;
  /** Undefined without an acknowledgement: the message may or may not have been sent. */
  readonly acknowledgement: { readonly messageId: string; readonly at: number } | undefined;
}

/** A request that a receiver got. */
export interface Arrival {
  /** The same on every attempt. */
  readonly eventId: string;
  readonly event: string;
  readonly messageId: string;
  readonly text: string;
  readonly attempt: number;
  /** Whether the receiver took it. A refused delivery has to come again. */
  readonly isAccepted: boolean;
  readonly at: number;
}

export interface History {
  readonly calls: readonly Call[];
  /** In order of arrival. */
  readonly arrivals: readonly Arrival[];
}

export interface Expectations {
  /** The events that follow each acknowledged message of a conversation. */
  readonly eventsOf: (conversation: string) => readonly string[];
  /** How long a call may take including its retries, in ms. */
  readonly acknowledgedWithinMs: number;
  /** Time limit for each event from the acknowledgement until a receiver accepts it, in ms. */
  readonly deliveredWithinMs: number;
}

export interface Violation {
  readonly kind: 'lost' | 'duplicated' | 'reordered' | 'late';
  readonly what: string;
}

export function checkHistory(history: History, expectations: Expectations): Violation[] {
  return [
    ...findLost(history, expectations),
    ...findDuplicated(history),
    ...findReordered(history),
    ...findLate(history, expectations),
  ];
}

/** The events of acknowledged messages that no receiver accepted. */
export function findLost({ calls, arrivals }: History, { eventsOf }: Pick<Expectations, 'eventsOf'>): Violation[] {
  const accepted = arrivals.filter(({ isAccepted }) => isAccepted);
  const came = new Set(accepted.map(({ event, text }) => `${event} ${text}`));
  return calls.flatMap(({ conversation, text, acknowledgement }) =>
    acknowledgement === undefined
      ? []
      : eventsOf(conversation)
          .filter((event) => !came.has(`${event} ${text}`))
          .map((event) => ({ kind: 'lost', what: `${event} of ${acknowledgement.messageId} (${text})` }) as const),
  );
}

/** A redelivery repeats the event id. Another id, or another message for one send, is a duplicate. */
function findDuplicated({ calls, arrivals }: History): Violation[] {
  const events = Map.groupBy(arrivals, ({ event, text }) => `${event} of ${text}`);
  const messages = Map.groupBy(
    calls.filter(({ acknowledgement }) => acknowledgement !== undefined),
    ({ acknowledgement }) => acknowledgement?.messageId,
  );
  return [
    ...several(events, ({ eventId }) => eventId, 'events'),
    ...several(messages, ({ text }) => text, 'texts under one id'),
  ];
}

function several<T>(groups: Map<string | undefined, T[]>, idOf: (one: T) => string, noun: string): Violation[] {
  return [...groups].flatMap(([name, all]) => {
    const ids = new Set(all.map(idOf));
    return ids.size < 2 ? [] : [{ kind: 'duplicated', what: `${name}: ${ids.size} ${noun}: ${[...ids].join(', ')}` }];
  });
}

/**
 * First attempts of a conversation arrive in the order of its sends. A retry may arrive at any time, because a failed
 * first attempt does not block later messages.
 */
function findReordered({ calls, arrivals }: History): Violation[] {
  const first = new Map<string, { place: number; attempt: number }>();
  arrivals.forEach(({ event, text, attempt }, place) => {
    const key = `${event} ${text}`;
    if (!first.has(key)) first.set(key, { place, attempt });
  });
  const violations: Violation[] = [];
  for (const [conversation, sent] of Map.groupBy(calls, (call) => call.conversation)) {
    for (const event of new Set(arrivals.map((arrival) => arrival.event))) {
      let last: { place: number; text: string } | undefined;
      for (const { text } of sent) {
        const came = first.get(`${event} ${text}`);
        if (came === undefined || came.attempt > 1) continue;
        if (last !== undefined && came.place < last.place)
          violations.push({ kind: 'reordered', what: `${event} of ${conversation}: ${text} came before ${last.text}` });
        else last = { place: came.place, text };
      }
    }
  }
  return violations;
}

function findLate({ calls, arrivals }: History, limits: Expectations): Violation[] {
  const first = new Map<string, number>();
  for (const { event, text, isAccepted, at } of arrivals) {
    if (!isAccepted) continue;
    const key = `${event} ${text}`;
    first.set(key, Math.min(first.get(key) ?? at, at));
  }
  return calls.flatMap(({ conversation, text, askedAt, acknowledgement }) => {
    if (acknowledgement === undefined) return [];
    const { at } = acknowledgement;
    const late = limits
      .eventsOf(conversation)
      .map((event) => ({ what: `${event} of ${text}`, ms: (first.get(`${event} ${text}`) ?? at) - at }))
      .filter(({ ms }) => ms > limits.deliveredWithinMs);
    if (at - askedAt > limits.acknowledgedWithinMs) late.push({ what: `the answer to ${text}`, ms: at - askedAt });
    return late.map(({ what, ms }) => ({ kind: 'late', what: `${what} took ${Math.round(ms)} ms` }) as const);
  });
}
