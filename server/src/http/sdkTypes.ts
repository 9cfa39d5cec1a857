import { type ErrorCode, errors } from '../errors.ts';
import { eventKinds, events } from '../events.ts';
import { isRead, type Operation } from '../invoke/operation.ts';

/*
 * Writes the operations, events and error codes as TypeScript for the SDK: plain types, because the SDK has no
 * dependencies.
 */

type Schema = Readonly<Record<string, unknown>>;

export function sdkTypes(operations: readonly Operation[]): string {
  const named = new Map<string, string>();
  const entries = operations.map((operation) => {
    const { id, input, output, summary, description } = operation;
    const about = [summary, description].filter(Boolean).join('. ').replaceAll('..', '.');
    return `${comment(about)}  '${id}': {\n    input: ${typeOf(input as unknown as Schema, named)};\n    output: ${typeOf(output as unknown as Schema, named)};\n  };`;
  });
  const routes = operations.map((operation) => {
    const { id, method, path, idempotent = false, takesContent = false } = operation;
    return `  '${id}': { method: '${method}', path: '${path}', isRead: ${isRead(operation)}, idempotent: ${idempotent}, takesContent: ${takesContent} },`;
  });
  // The keys of the table are exactly the codes, which the type of Object.keys loses.
  const codes = (Object.keys(errors) as ErrorCode[]).map((code) => `  | '${code}'`);
  return [
    '// Generated from the tables of operations and errors by `npm run openapi`. Do not edit.',
    '',
    "export type { EventData } from './events.ts';",
    '',
    ...[...named].map(([name, body]) => `export interface ${name} ${body}\n`),
    '/** Input and output of each operation. */',
    `export interface Operations {\n${entries.join('\n')}\n}`,
    '',
    '/** Codes of the errors that the server returns. */',
    `export type ErrorCode =\n${codes.join('\n')};`,
    '',
    '/** Method and path of each operation. */',
    `export const routes = {\n${routes.join('\n')}\n} as const;`,
    '',
  ].join('\n');
}

/** The types of events, and the checks that the SDK applies to a delivery. */
export function sdkEvents(): string {
  const kinds = eventKinds.map((kind) => {
    const { description, data } = events[kind];
    return `${comment(description)}  '${kind}': ${typeOf(data as unknown as Schema)};`;
  });
  const fields = eventKinds.map((kind) => `  '${kind}': ${fieldChecks(events[kind].data as unknown as Schema)},`);
  return [
    '// Generated from the table of events by `npm run openapi`. Do not edit.',
    '',
    '/** The `data` of each event type. */',
    `export interface EventData {\n${kinds.join('\n')}\n}`,
    '',
    '/** The checks of `data` when a delivery is parsed. A `?` marks a field that may be missing. */',
    `export const eventFields = {\n${fields.join('\n')}\n} as const;`,
    '',
  ].join('\n');
}

/** @param named collects the types that have a `title` */
function typeOf(schema: Schema, named = new Map<string, string>()): string {
  const { type, anyOf, items, properties, patternProperties, title } = schema;
  const options = schema['enum'];
  if ('const' in schema) return literal(schema['const']);
  if (Array.isArray(options)) return options.map(literal).join(' | ');
  if (Array.isArray(anyOf)) return anyOf.map((one: Schema) => typeOf(one, named)).join(' | ');
  if (type === 'array') {
    const item = typeOf((items ?? {}) as Schema, named);
    return item.includes(' ') && !item.startsWith('{') ? `(${item})[]` : `${item}[]`;
  }
  if (type === 'integer') return 'number';
  if (type === 'string' || type === 'number' || type === 'boolean' || type === 'null') return String(type);
  if (patternProperties !== undefined) {
    const [value = {}] = Object.values(patternProperties as Record<string, Schema>);
    return `Record<string, ${typeOf(value, named)}>`;
  }
  if (type !== 'object') return 'unknown';
  if (Object.keys((properties ?? {}) as object).length === 0)
    return schema['additionalProperties'] === true ? 'Record<string, unknown>' : 'Record<string, never>';
  if (typeof title !== 'string') return members(schema, named);
  if (!named.has(title)) named.set(title, members(schema, named));
  return title;
}

function members({ properties, required = [] }: Schema, named: Map<string, string>): string {
  const lines = Object.entries(properties as Record<string, Schema>).map(([name, member]) => {
    const isOptional = !(required as readonly string[]).includes(name);
    const { description } = member;
    const about = typeof description === 'string' ? comment(description) : '';
    const key = /^[a-z_]\w*$/i.test(name) ? name : `'${name}'`;
    return `${about}${key}${isOptional ? '?' : ''}: ${typeOf(member, named)};`;
  });
  return `{\n${lines.join('\n')}\n}`;
}

/**
 * Returns the checks of an event's fields. Inside an optional field, and of the values of an enum, nothing is checked,
 * so that a receiver survives a newer server.
 */
function fieldChecks({ properties, required = [] }: Schema, isNested = false): string {
  const needed = required as readonly string[];
  const checks = Object.entries(properties as Record<string, Schema>)
    .filter(([name]) => !isNested || needed.includes(name))
    .map(([name, member]) => `${name}: ${needed.includes(name) ? checkOf(member) : `'${valueType(member)}?'`}`);
  return `{ ${checks.join(', ')} }`;
}

function checkOf(schema: Schema): string {
  const { type, items, properties } = schema;
  if (type === 'array' && valueType(items as Schema) === 'object') return `[${checkOf(items as Schema)}]`;
  return type === 'object' && properties !== undefined ? fieldChecks(schema, true) : `'${valueType(schema)}'`;
}

function valueType({ type, items, ...schema }: Schema): string {
  if (type === 'array') return `${valueType(items as Schema)}[]`;
  return String(schema['const'] ?? type ?? 'string'); // an enum has no type
}

const literal = (value: unknown) =>
  typeof value === 'string' ? `'${value.replaceAll("'", "\\'")}'` : JSON.stringify(value);

const comment = (text: string) => `/** ${text.replaceAll('*/', '* /').replaceAll('\n', ' ')} */\n`;
