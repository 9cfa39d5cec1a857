import type { ReactNode } from 'react';
import { useCommittedInput } from '../form/committedInput.ts';
import { TextField } from '../form/field.tsx';

/** A time field in the time zone of the reader. Its value is ISO in UTC, or `undefined` if it is empty. */
export function LocalTimeField({
  value,
  onChange,
  ...rest
}: {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly isOptional?: boolean;
  readonly value: string | undefined;
  readonly onChange: (at: string | undefined) => void;
  readonly error?: string | undefined;
  readonly required?: boolean;
}) {
  const entered = useCommittedInput(value === undefined ? '' : toLocal(value), (text) => {
    const at = new Date(text);
    onChange(Number.isNaN(at.getTime()) ? undefined : at.toISOString());
  });
  return <TextField type="datetime-local" {...rest} {...entered} />;
}

/** Formats a time for `datetime-local`: without a zone, to the minute. */
function toLocal(iso: string): string {
  const at = new Date(iso);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
