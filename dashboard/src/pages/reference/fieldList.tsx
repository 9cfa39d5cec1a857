import type { ReactNode } from 'react';
import { Phrase } from '../../components/text/prose.tsx';
import type { Schema } from '../../schema.ts';
import { SchemaLinks } from './schemaLinks.tsx';
import { formatConstraints, formatType, nestedSchema } from './schemaText.ts';
import { referenceStrings } from './strings.ts';

type Schemas = Readonly<Record<string, Schema>>;

/** Stops the recursion: a message has the message that it replies to. */
const MAX_DEPTH = 4;

/** The fields of an object, with nested fields on demand, or at once if `isOpen`. */
export function FieldList({
  schema,
  schemas,
  isOpen = false,
  depth = 0,
}: {
  readonly schema: Schema;
  readonly schemas: Schemas;
  readonly isOpen?: boolean;
  readonly depth?: number;
}) {
  const { properties = {}, required = [] } = schema;
  return (
    <ul className="grid grid-cols-1 gap-3">
      {Object.entries(properties).map(([name, field]) => (
        <li key={name}>
          <FieldLine name={name} schema={field} notes={required.includes(name) ? [referenceStrings.required] : []}>
            <Inside schema={field} schemas={schemas} isOpen={isOpen} depth={depth} />
          </FieldLine>
        </li>
      ))}
    </ul>
  );
}

/** One field with its name, type and description. */
export function FieldLine({
  name,
  schema,
  notes,
  description = schema.description,
  children,
}: {
  readonly name: string;
  readonly schema: Schema;
  readonly notes: readonly string[];
  readonly description?: string | undefined;
  readonly children?: ReactNode;
}) {
  return (
    <div className="grid grid-cols-1 gap-0.5 text-sm">
      <div className="flex flex-wrap items-baseline gap-x-3">
        <code className="font-medium wrap-anywhere">{name}</code>
        <code className="min-w-0 text-xs wrap-anywhere text-ink-faint">
          <SchemaLinks type={formatType(schema)} />
        </code>
        {[...notes, ...formatConstraints(schema)].map((note) => (
          <span key={note} className="text-xs text-warn">
            {note}
          </span>
        ))}
      </div>
      {description !== undefined && (
        <p className="max-w-prose text-ink-soft">
          <Phrase text={description} />
        </p>
      )}
      {children}
    </div>
  );
}

function Inside({
  schema,
  schemas,
  isOpen,
  depth,
}: {
  readonly schema: Schema;
  readonly schemas: Schemas;
  readonly isOpen: boolean;
  readonly depth: number;
}) {
  const inside = nestedSchema(schema, schemas);
  if (inside === undefined || depth >= MAX_DEPTH) return null;
  return (
    <details open={isOpen} className="mt-1">
      <summary className="text-xs text-ink-faint marker:text-ink-faint">{referenceStrings.fields}</summary>
      <div className="mt-2 ml-1.5 border-l border-line-strong pl-4">
        <FieldList schema={inside} schemas={schemas} depth={depth + 1} />
      </div>
    </details>
  );
}
