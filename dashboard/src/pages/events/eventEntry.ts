import { type EventType, eventStrings } from '../../strings/events.ts';

/** An event of the live stream or of the log. */
export interface EventEntry {
  readonly id: string;
  readonly type: EventType;
  readonly data: Readonly<Record<string, unknown>>;
  /** ISO time. */
  readonly at: string;
}

export interface EventListProps {
  readonly type: EventType | undefined;
  readonly onChoose: (event: EventEntry) => void;
}

/** Summarizes an event in one line. */
export function summaryOf({ type, data }: EventEntry): string {
  const text = (name: string) => (typeof data[name] === 'string' ? data[name] : undefined);
  const who = text(type === 'message.incoming' ? 'from' : 'to') ?? text('phoneNumber');
  const what = text('message') ?? text('subject') ?? text('reason') ?? text('status');
  return [who === undefined ? undefined : numberOf(who), what].filter(Boolean).join(': ');
}

function numberOf(id: string): string {
  return /^\d+$/.test(id) ? eventStrings.onNumber(id) : id;
}
