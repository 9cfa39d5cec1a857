import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { LinkButton } from '../../components/linkButton.tsx';
import { Card, Facts, Page } from '../../components/page/layout.tsx';
import { JsonInspector } from '../../components/schema/jsonInspector.tsx';
import { Time } from '../../components/text/time.tsx';
import { eventDescriptions, eventStrings, eventTypes } from '../../strings/events.ts';
import type { EventEntry } from './eventEntry.ts';
import { LiveEvents } from './liveEvents.tsx';
import { LogEvents } from './logEvents.tsx';

const route = getRouteApi('/shell/events');

/** The live stream and the log of events, with a view of their payloads. */
export function EventsPage() {
  const { view = 'live', kind: type } = route.useSearch();
  const [chosen, setChosen] = useState<EventEntry>();
  const navigate = useNavigate();
  const List = view === 'log' ? LogEvents : LiveEvents;

  return (
    <Page title={eventStrings.title} lead={eventStrings.lead}>
      <div className="flex flex-wrap items-center gap-3">
        <fieldset className="flex rounded-lg border border-line-strong p-0.5">
          <legend className="sr-only">{eventStrings.views}</legend>
          {(['live', 'log'] as const).map((name) => (
            <Button
              key={name}
              size="small"
              look={name === view ? 'primary' : 'quiet'}
              aria-pressed={name === view}
              onClick={() => navigate({ to: '/events', search: { view: name, kind: type }, replace: true })}
            >
              {eventStrings[name]}
            </Button>
          ))}
        </fieldset>
        <select
          aria-label={eventStrings.types}
          value={type ?? ''}
          onChange={({ currentTarget: { value } }) =>
            navigate({
              to: '/events',
              search: { view, kind: eventTypes.find((one) => one === value) },
              replace: true,
            })
          }
          className="h-9 rounded-lg border border-line-strong bg-surface px-3 text-sm"
        >
          <option value="">{eventStrings.allTypes}</option>
          {eventTypes.map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </select>
      </div>
      <div className="grid grid-cols-1 items-start gap-6 wide:grid-cols-[minmax(0,1fr)_minmax(0,1fr)]">
        <List type={type} onChoose={setChosen} />
        <Inspector event={chosen} />
      </div>
    </Page>
  );
}

function Inspector({ event }: { readonly event: EventEntry | undefined }) {
  if (event === undefined) {
    return (
      <Card title={eventStrings.payload}>
        <p className="text-sm text-ink-faint">{eventStrings.choose}</p>
      </Card>
    );
  }
  const { id, type, data, at } = event;
  return (
    <Card
      title={type}
      hint={eventDescriptions[type]}
      actions={
        typeof data['messageId'] === 'string' && (
          <LinkButton to="/deliveries" search={{ messageId: data['messageId'] }} size="small">
            {eventStrings.deliveries}
          </LinkButton>
        )
      }
    >
      <div className="grid grid-cols-1 gap-4">
        <Facts
          facts={[
            [eventStrings.eventId, <code key="id">{id}</code>],
            [eventStrings.time, <Time key="at" at={at} />],
          ]}
        />
        <JsonInspector key={id} value={{ event: type, data }} label={eventStrings.payloadOf(type)} />
      </div>
    </Card>
  );
}
