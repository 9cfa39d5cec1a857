import type { Schema } from '../../schema.ts';
import { referenceStrings } from './strings.ts';

type Schemas = Readonly<Record<string, Schema>>;

/** Resolves a reference such as `#/components/schemas/Session`. */
export function resolveRef(schema: Schema, schemas: Schemas): Schema {
  return schema.$ref === undefined ? schema : (schemas[refName(schema.$ref)] ?? {});
}

/** Formats a type like TypeScript: `string | null`, `Message[]`, `"image" | "video"`. */
export function formatType(schema: Schema): string {
  const { $ref, anyOf, allOf, enum: values, items, type, format } = schema;
  if ($ref !== undefined) return refName($ref);
  if (allOf !== undefined) return 'object';
  if (anyOf !== undefined) return anyOf.map(formatType).join(' | ');
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(' | ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (type === 'array') {
    const of = formatType(items ?? {});
    return of.includes(' | ') ? `(${of})[]` : `${of}[]`;
  }
  return [type ?? 'any', format].filter(Boolean).join(', ');
}

/** Describes the range, the length and the default of a value. */
export function formatConstraints({
  minimum,
  maximum,
  minLength,
  maxLength,
  minItems,
  maxItems,
  ...rest
}: Schema): string[] {
  const { range, length, items, byDefault } = referenceStrings;
  const isSet = (...values: (number | undefined)[]) => values.some((value) => value !== undefined);
  return [
    ...(isSet(minimum, maximum) ? [range(minimum, maximum)] : []),
    ...(isSet(minLength, maxLength) ? [length(range(minLength, maxLength))] : []),
    ...(isSet(minItems, maxItems) ? [items(range(minItems, maxItems))] : []),
    ...(rest.default === undefined ? [] : [byDefault(JSON.stringify(rest.default))]),
  ];
}

/** Finds the object in a schema: itself, its items, or one of its alternatives. */
export function nestedSchema(schema: Schema, schemas: Schemas): Schema | undefined {
  const own = merge(resolveRef(schema, schemas), schemas);
  if (own.properties !== undefined) return Object.keys(own.properties).length > 0 ? own : undefined;
  for (const part of [...(own.items === undefined ? [] : [own.items]), ...(own.anyOf ?? [])]) {
    const inside = nestedSchema(part, schemas);
    if (inside !== undefined) return inside;
  }
  return undefined;
}

/** Merges the objects of `allOf` into one. */
function merge(schema: Schema, schemas: Schemas): Schema {
  if (schema.allOf === undefined) return schema;
  const parts = schema.allOf.map((part) => resolveRef(part, schemas));
  return {
    ...schema,
    properties: Object.assign({}, ...parts.map(({ properties }) => properties)),
    required: parts.flatMap(({ required = [] }) => required),
  };
}

const refName = ($ref: string) => $ref.split('/').at(-1) ?? $ref;
