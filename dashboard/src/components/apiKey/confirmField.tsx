import type { ApiKey } from '@switchboard/sdk/api';
import { useId } from 'react';
import { apiKeyStrings } from '../../strings/apiKeys.ts';
import { CheckField, FieldError } from '../form/field.tsx';

/** The calls before which a key asks its user; null for none. */
export type Confirm = ApiKey['confirm'];

const kinds = ['destructive', 'new_recipients'] as const satisfies readonly NonNullable<Confirm>[number][];

/** Selects the calls before which an agent asks its user. */
export function ConfirmField({
  value,
  onChange,
  error,
}: {
  readonly value: Confirm;
  readonly onChange: (value: Confirm) => void;
  readonly error: string | undefined;
}) {
  const id = useId();
  const toggle = (kind: (typeof kinds)[number], isOn: boolean) => {
    const chosen = kinds.filter((one) => (one === kind ? isOn : value?.includes(one)));
    onChange(chosen.length === 0 ? null : chosen);
  };
  return (
    <fieldset aria-describedby={error === undefined ? id : `${id} ${id}-error`} className="grid gap-2">
      <legend className="text-sm font-medium">{apiKeyStrings.confirm}</legend>
      <p id={id} className="text-xs text-ink-faint">
        {apiKeyStrings.confirmHint}
      </p>
      {kinds.map((kind) => (
        <CheckField
          key={kind}
          label={apiKeyStrings.confirmKinds[kind].label}
          hint={apiKeyStrings.confirmKinds[kind].hint}
          checked={value?.includes(kind) ?? false}
          onChange={({ currentTarget }) => toggle(kind, currentTarget.checked)}
        />
      ))}
      {error !== undefined && <FieldError id={`${id}-error`}>{error}</FieldError>}
    </fieldset>
  );
}
