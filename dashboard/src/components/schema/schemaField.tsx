import { SelectField, TextArea, TextField } from '../form/field.tsx';
import { LocalTimeField } from '../text/localTime.tsx';
import { Phrase } from '../text/prose.tsx';
import { type FormField, isInvalid } from './schemaForm.ts';
import { formStrings } from './strings.ts';

interface SchemaFieldProps {
  readonly field: FormField;
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** The error that the server reports. */
  readonly error: string | undefined;
  /** Whether the server already has a secret, which stays unless another is entered. */
  readonly isKept?: boolean;
}

/** One field of a form that is made from a JSON Schema. */
export function SchemaField({ field, label, value, onChange, error, isKept = false }: SchemaFieldProps) {
  const { input, description, isRequired, isSecret, isWhole, minimum, maximum, choices, defaultValue } = field;
  const hints = [
    description,
    isKept && formStrings.secretKept,
    input === 'lines' && formStrings.onePerLine,
    input === 'json' && formStrings.asJson,
  ];
  const hint = hints.filter(Boolean).join(' ');
  const common = {
    label,
    hint: hint === '' ? undefined : <Phrase text={hint} />,
    error: isInvalid(field, value) ? formStrings.invalidJson : error,
    isOptional: !isRequired,
    required: isRequired && !isKept,
    value,
  };
  const change = ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) =>
    onChange(currentTarget.value);

  if (input === 'choice' || input === 'boolean') {
    const options =
      input === 'boolean'
        ? ([
            ['true', formStrings.yes],
            ['false', formStrings.no],
          ] as const)
        : choices.map((choice) => [String(choice), String(choice)] as const);
    const given = options.find(([option]) => option === String(defaultValue))?.[1];
    const unset = given === undefined ? formStrings.unset : formStrings.unsetMeans(given);
    return <SelectField {...common} options={[['', unset], ...options]} onChange={change} />;
  }
  if (input === 'time')
    return <LocalTimeField {...common} value={value || undefined} onChange={(at) => onChange(at ?? '')} />;
  if (input === 'lines' || input === 'json') {
    return <TextArea {...common} rows={3} spellCheck={false} className="font-mono text-sm" onChange={change} />;
  }
  return (
    <TextField
      {...common}
      autoComplete="off"
      {...(input === 'number' && { type: 'number', min: minimum, max: maximum, step: isWhole ? 1 : 'any' })}
      // Keeps password managers from filling in the login.
      {...(isSecret && { type: 'password', autoComplete: 'new-password' })}
      onChange={change}
    />
  );
}
