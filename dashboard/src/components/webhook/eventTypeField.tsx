import { type ReactNode, useId } from 'react';
import { matchesPattern } from '../../model/subscription.ts';
import { type EventType, eventDescriptions, eventStrings, eventTypes } from '../../strings/events.ts';
import { CheckField, FieldError } from '../form/field.tsx';

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
  return (
    <Choices label={label} error={error}>
      <TypeChoices
        isChosen={(type) => value.includes(type)}
        onToggle={(type, isOn) => onChange(eventTypes.filter((one) => (one === type ? isOn : value.includes(one))))}
      />
    </Choices>
  );
}

/** Selects what a webhook subscribes to: event types, and patterns such as `*` and `message.*`. */
export function SubscriptionField({
  label,
  value,
  onChange,
  error,
}: {
  readonly label: string;
  readonly value: readonly string[];
  readonly onChange: (events: readonly string[]) => void;
  readonly error?: string | undefined;
}) {
  const patterns = [...new Set(['*', ...value.filter((one) => one.endsWith('*'))])];
  const includedBy = (type: EventType) => patterns.find((one) => value.includes(one) && matchesPattern(one, type));
  const toggle = (changed: string, isOn: boolean) =>
    onChange([...patterns, ...eventTypes].filter((one) => (one === changed ? isOn : value.includes(one))));
  return (
    <Choices label={label} error={error}>
      {patterns.map((pattern) => (
        <CheckField
          key={pattern}
          label={pattern === '*' ? eventStrings.everyType : pattern}
          hint={pattern === '*' ? eventStrings.everyTypeHint : eventStrings.patternHint}
          checked={value.includes(pattern)}
          onChange={(event) => toggle(pattern, event.currentTarget.checked)}
        />
      ))}
      <TypeChoices
        isChosen={(type) => value.includes(type) || includedBy(type) !== undefined}
        isFixed={(type) => includedBy(type) !== undefined}
        onToggle={toggle}
      />
    </Choices>
  );
}

function Choices({
  label,
  error,
  children,
}: {
  readonly label: string;
  readonly error?: string | undefined;
  readonly children: ReactNode;
}) {
  const id = useId();
  return (
    <fieldset aria-describedby={error === undefined ? undefined : id} className="grid gap-2">
      <legend className="mb-2 text-sm font-medium">{label}</legend>
      <div className="grid gap-x-6 gap-y-2 wide:grid-cols-2">{children}</div>
      {error !== undefined && <FieldError id={id}>{error}</FieldError>}
    </fieldset>
  );
}

function TypeChoices({
  isChosen,
  isFixed = () => false,
  onToggle,
}: {
  readonly isChosen: (type: EventType) => boolean;
  readonly isFixed?: (type: EventType) => boolean;
  readonly onToggle: (type: EventType, isOn: boolean) => void;
}) {
  return eventTypes.map((type) => (
    <CheckField
      key={type}
      label={type}
      hint={eventDescriptions[type]}
      checked={isChosen(type)}
      disabled={isFixed(type)}
      onChange={(event) => onToggle(type, event.currentTarget.checked)}
    />
  ));
}
