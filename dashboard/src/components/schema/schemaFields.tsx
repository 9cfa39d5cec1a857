import { type ReactNode, useId } from 'react';
import { Phrase } from '../text/prose.tsx';
import { SchemaField } from './schemaField.tsx';
import type { FieldGroup, FieldTexts, FormField } from './schemaForm.ts';

interface SchemaFieldsProps {
  readonly fields: readonly FormField[];
  readonly texts: FieldTexts;
  readonly onChange: (texts: FieldTexts) => void;
  readonly errorOf: (name: string) => string | undefined;
  readonly labelOf?: (field: Pick<FormField, 'name' | 'title'>) => string;
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
  const render = (field: FormField) => (
    <SchemaField
      key={field.name}
      field={field}
      label={labelOf(field)}
      value={texts[field.name] ?? ''}
      onChange={(text) => onChange({ ...texts, [field.name]: text })}
      error={errorOf(field.name)}
      isKept={keepsSecrets && field.isSecret}
    />
  );
  return [...Map.groupBy(fields, ({ name, group }) => group?.name ?? name)].map(([name, [first, ...others]]) => {
    if (first === undefined) return null;
    if (first.group === undefined) return render(first);
    return (
      <Group key={name} group={first.group} label={labelOf(first.group)}>
        {[first, ...others].map(render)}
      </Group>
    );
  });
}

interface GroupProps {
  readonly group: FieldGroup;
  readonly label: string;
  readonly children: ReactNode;
}

/** The fields of an object. */
function Group({ group: { description }, label, children }: GroupProps) {
  const id = useId();
  return (
    <fieldset
      aria-describedby={description === undefined ? undefined : id}
      className="min-w-0 rounded-lg border border-line px-4 pt-2 pb-4"
    >
      <legend className="-ml-1 px-1 text-sm font-medium">{label}</legend>
      {description !== undefined && (
        <p id={id} className="mb-3 text-xs text-ink-faint">
          <Phrase text={description} />
        </p>
      )}
      <div className="grid grid-cols-1 gap-4">{children}</div>
    </fieldset>
  );
}
