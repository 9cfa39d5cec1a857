import { SchemaField } from './schemaField.tsx';
import type { FieldTexts, FormField } from './schemaForm.ts';

interface SchemaFieldsProps {
  readonly fields: readonly FormField[];
  readonly texts: FieldTexts;
  readonly onChange: (texts: FieldTexts) => void;
  readonly errorOf: (name: string) => string | undefined;
  readonly labelOf?: (field: FormField) => string;
  /** Whether the server already has the secrets: they stay unless others are entered. */
  readonly keepsSecrets?: boolean;
}

/** The fields of a form that is made from a JSON Schema. */
export function SchemaFields({
  fields,
  texts,
  onChange,
  errorOf,
  labelOf = ({ title }) => title,
  keepsSecrets = false,
}: SchemaFieldsProps) {
  return fields.map((field) => (
    <SchemaField
      key={field.name}
      field={field}
      label={labelOf(field)}
      value={texts[field.name] ?? ''}
      onChange={(text) => onChange({ ...texts, [field.name]: text })}
      error={errorOf(field.name)}
      isKept={keepsSecrets && field.isSecret}
    />
  ));
}
