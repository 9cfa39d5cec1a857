import type { ReactNode } from 'react';
import { type Column, DataTable } from '../../components/page/dataTable.tsx';
import { Time } from '../../components/text/time.tsx';
import type { More } from '../../paged.ts';
import { eventStrings } from '../../strings/events.ts';
import { type EventEntry, summaryOf } from './eventEntry.ts';

/** A table of events. */
export function EventTable({
  label,
  events,
  onChoose,
  more,
  empty,
}: {
  readonly label: string;
  readonly events: readonly EventEntry[];
  readonly onChoose: (event: EventEntry) => void;
  readonly more?: More;
  readonly empty: ReactNode;
}) {
  const columns: readonly Column<EventEntry>[] = [
    {
      id: 'type',
      header: eventStrings.type,
      width: 'minmax(0, 9.5rem)',
      cell: (event) => (
        <button
          type="button"
          onClick={() => onChoose(event)}
          className="font-medium after:absolute after:inset-0 after:content-[''] hover:underline"
        >
          {event.type}
        </button>
      ),
    },
    {
      id: 'about',
      header: eventStrings.about,
      width: 'minmax(0, 1fr)',
      cell: (event) => <span className="text-ink-soft">{summaryOf(event)}</span>,
    },
    { id: 'time', header: eventStrings.time, width: '5.5rem', cell: ({ at }) => <Time at={at} as="relative" /> },
  ];
  return <DataTable label={label} columns={columns} rows={events} rowKey={({ id }) => id} more={more} empty={empty} />;
}
