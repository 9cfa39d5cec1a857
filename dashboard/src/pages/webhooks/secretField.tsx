import { WandSparkles } from 'lucide-react';
import type { ReactNode } from 'react';
import { Button } from '../../components/button.tsx';
import { TextField } from '../../components/form/field.tsx';
import { webhookStrings } from './strings.ts';

const SECRET_BYTES = 24;

/** Generates 24 random bytes, encoded with characters that are safe in every settings file. */
export function newSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_');
}

/** A field for a secret that can also be generated. */
export function SecretField({
  label,
  value,
  onChange,
  isOptional = false,
  hint,
  error,
}: {
  readonly label: string;
  readonly value: string;
  readonly onChange: (secret: string) => void;
  readonly isOptional?: boolean;
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
}) {
  return (
    <div className="grid grid-cols-[1fr_auto] items-start gap-2">
      <TextField
        label={label}
        hint={hint}
        error={error}
        isOptional={isOptional}
        required={!isOptional}
        value={value}
        maxLength={512}
        autoComplete="off"
        spellCheck={false}
        className="font-mono text-sm"
        onChange={(event) => onChange(event.currentTarget.value)}
      />
      <Button className="mt-7" icon={<WandSparkles className="size-4" />} onClick={() => onChange(newSecret())}>
        {webhookStrings.generate}
      </Button>
    </div>
  );
}
