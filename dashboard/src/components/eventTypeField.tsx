import { useId } from 'react';
import { type EventType, eventDescriptions, eventTypes } from '../strings/events.ts';
import { CheckField, FieldError } from './field.tsx';

/** Selects event types, each with its description. */
export function EventTypeField({
  label,
  value,
  onChange,
  error,
}: {
  readonly label: string;
  readonly value: readonly EventType[];
  readonly onChange: (types: readonly EventType[]) => void;
  readonly error?: string | undefined;
}) {
  const id = useId();
  const toggle = (type: EventType, isOn: boolean) =>
    onChange(eventTypes.filter((one) => (one === type ? isOn : value.includes(one))));
  return (
    <fieldset aria-describedby={error === undefined ? undefined : id} className="grid gap-2">
      <legend className="mb-2 text-sm font-medium">{label}</legend>
      <div className="grid gap-x-6 gap-y-2 wide:grid-cols-2">
        {eventTypes.map((type) => (
          <CheckField
            key={type}
            label={type}
            hint={eventDescriptions[type]}
            checked={value.includes(type)}
            onChange={(event) => toggle(type, event.currentTarget.checked)}
          />
        ))}
      </div>
      {error !== undefined && <FieldError id={id}>{error}</FieldError>}
    </fieldset>
  );
}
