import { Activity, Pause, Play } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { LinkButton } from '../../components/linkButton.tsx';
import { Card } from '../../components/page/layout.tsx';
import { Empty } from '../../components/page/states.tsx';
import { useLiveEvents } from '../../live/live.ts';
import { eventIdOf, type LiveEvent } from '../../live/protocol.ts';
import { eventStrings } from '../../strings/events.ts';
import type { EventEntry, EventListProps } from './eventEntry.ts';
import { EventTable } from './eventTable.tsx';

/** Limits the memory of a page that stays open overnight. */
const MAX_EVENTS = 10_000;

/** Events since the page was opened, newest first. */
export function LiveEvents({ type, onChoose }: EventListProps) {
  const [events, setEvents] = useState<readonly EventEntry[]>([]);
  // Events that arrived while the list was paused.
  const [waiting, setWaiting] = useState<readonly EventEntry[]>();
  useLiveEvents((event) => {
    const happened = fromStream(event);
    // After a restored backup or a failover, the stream repeats events.
    if ([...events, ...(waiting ?? [])].some(({ id }) => id === happened.id)) return;
    if (waiting !== undefined) setWaiting((before = []) => [happened, ...before].slice(0, MAX_EVENTS));
    else setEvents((before) => [happened, ...before].slice(0, MAX_EVENTS));
  });
  const shown = type === undefined ? events : events.filter((event) => event.type === type);

  function resume() {
    setEvents((before) => [...(waiting ?? []), ...before].slice(0, MAX_EVENTS));
    setWaiting(undefined);
  }

  return (
    <Card
      flush
      title={waiting === undefined ? eventStrings.live : eventStrings.paused(waiting.length)}
      actions={
        <>
          {events.length > 0 && (
            <Button size="small" look="quiet" onClick={() => setEvents([])}>
              {eventStrings.clear}
            </Button>
          )}
          {waiting === undefined ? (
            <Button size="small" icon={<Pause className="size-4" />} onClick={() => setWaiting([])}>
              {eventStrings.pause}
            </Button>
          ) : (
            <Button size="small" icon={<Play className="size-4" />} onClick={resume}>
              {eventStrings.resume}
            </Button>
          )}
        </>
      }
    >
      <EventTable
        label={eventStrings.liveList}
        events={shown}
        onChoose={onChoose}
        empty={
          <Empty
            icon={<Activity />}
            title={eventStrings.liveEmpty}
            action={<LinkButton to="/simulator">{eventStrings.openSimulator}</LinkButton>}
          >
            {eventStrings.liveEmptyHint}
          </Empty>
        }
      />
      {events.length === MAX_EVENTS && (
        <p className="border-t border-line px-5 py-2 text-xs text-ink-faint">{eventStrings.dropped(MAX_EVENTS)}</p>
      )}
    </Card>
  );
}

/** The stream has no times, but delivers events immediately. */
function fromStream(event: LiveEvent): EventEntry {
  return {
    id: eventIdOf(event),
    type: event.event,
    data: { ...event.data },
    at: new Date().toISOString(),
  };
}
