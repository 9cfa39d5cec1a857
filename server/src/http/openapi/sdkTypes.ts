import type { TSchema } from 'typebox';
import { errors } from '../../errors.ts';
import { AddedFields } from '../../events/addedFields.ts';
import { type EventKind, eventKinds, events } from '../../events/events.ts';
import { isRead, type Operation } from '../../invoke/operation.ts';
import { namesOf } from '../../objects.ts';
import type { Schema } from './openapiExamples.ts';

/* Writes operations, events and error codes as plain TypeScript types, because the SDK has no dependencies. */

export function sdkTypes(operations: readonly Operation[]): string {
  const named = new Map<string, string>();
  const entries = operations.map((operation) => {
    const { id, input, output, summary, description } = operation;
    const about = [summary, description].filter(Boolean).join('. ').replaceAll('..', '.');
    return `${comment(about)}  '${id}': {\n    input: ${typeOf(input, { isInput: true })};\n    output: ${typeOf(output, { named })};\n  };`;
  });
  const routes = operations.map((operation) => {
    const { id, method, path, idempotent = false, takesContent = false } = operation;
    return `  '${id}': { method: '${method}', path: '${path}', isRead: ${isRead(operation)}, idempotent: ${idempotent}, takesContent: ${takesContent} },`;
  });
  const codes = namesOf(errors).map((code) => `  | '${code}'`);
  return [
    '// Generated from the tables of operations and errors by `npm run generate`. Do not edit.',
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
    return `${comment(events[kind].description)}  '${kind}': ${typeOf(dataOf(kind))} & AddedFields;`;
  });
  const fields = eventKinds.map((kind) => `  '${kind}': ${fieldChecks(dataOf(kind))},`);
  return [
    '// Generated from the table of events by `npm run generate`. Do not edit.',
    '',
    '/** Fields of any event, if its webhook has them in `include`. */',
    `export type AddedFields = ${typeOf(AddedFields)};`,
    '',
    '/** The `data` of each event type. */',
    `export interface EventData {\n${kinds.join('\n')}\n}`,
    '',
    '/** An event type. */',
    'export type EventKind = keyof EventData;',
    '',
    "/** The event of one type: `EventOf<'message.incoming'>`. */",
    'export interface EventOf<K extends EventKind> {',
    '  readonly event: K;',
    '  readonly data: EventData[K];',
    '}',
    '',
    '/** An event of a type in this table, discriminated by `event`. */',
    'export type KnownEvent = { [K in EventKind]: EventOf<K> }[EventKind];',
    '',
    '/** The checks of `data` when a delivery is parsed. A `?` marks a field that may be missing. */',
    `export const eventFields = {\n${fields.join('\n')}\n} as const;`,
    '',
    '/** All event types. */',
    'export const eventKinds = Object.keys(eventFields) as readonly EventKind[]; // Object.keys forgets the type of the keys.',
    '',
  ].join('\n');
}

const dataOf = (kind: EventKind): TSchema => events[kind].data;

interface Side {
  /** Collects the types that have a `title`. */
  readonly named?: Map<string, string>;
  /** Optional members accept `undefined` even under `exactOptionalPropertyTypes`: the client leaves them out. */
  readonly isInput?: boolean;
}

function typeOf(schema: Schema, side: Side = {}): string {
  const { type, anyOf, items = {}, properties = {}, patternProperties, title, enum: options } = schema;
  if ('const' in schema) return literal(schema.const);
  if (options !== undefined) return options.map(literal).join(' | ');
  if (anyOf !== undefined) return anyOf.map((one) => typeOf(one, side)).join(' | ');
  if (type === 'array') {
    const item = typeOf(items, side);
    return item.includes(' ') && !item.startsWith('{') ? `(${item})[]` : `${item}[]`;
  }
  if (type === 'integer') return 'number';
  if (type === 'string' || type === 'number' || type === 'boolean' || type === 'null') return String(type);
  if (patternProperties !== undefined) {
    const [value = {}] = Object.values(patternProperties);
    return `Record<string, ${typeOf(value, side)}>`;
  }
  if (type !== 'object') return 'unknown';
  if (Object.keys(properties).length === 0)
    return schema.additionalProperties === true ? 'Record<string, unknown>' : 'Record<string, never>';
  const { named } = side;
  if (title === undefined || named === undefined) return members(schema, side);
  if (!named.has(title)) named.set(title, members(schema, side));
  return title;
}

function members({ properties = {}, required = [] }: Schema, side: Side): string {
  const lines = Object.entries(properties).map(([name, member]) => {
    const isOptional = !required.includes(name);
    const { description, deprecated = false } = member;
    const about = description === undefined ? '' : comment(deprecated ? `@deprecated ${description}` : description);
    const key = /^[a-z_]\w*$/i.test(name) ? name : `'${name}'`;
    const orUndefined = isOptional && side.isInput ? ' | undefined' : '';
    return `${about}${key}${isOptional ? '?' : ''}: ${typeOf(member, side)}${orUndefined};`;
  });
  return `{\n${lines.join('\n')}\n}`;
}

/**
 * Returns the checks of an event's fields. Inside an optional field, and of the values of an enum, nothing is checked,
 * so that a receiver survives a newer server.
 */
function fieldChecks({ properties = {}, required: needed = [] }: Schema, isNested = false): string {
  const checks = Object.entries(properties)
    .filter(([name]) => !isNested || needed.includes(name))
    .map(([name, member]) => `${name}: ${needed.includes(name) ? checkOf(member) : `'${valueType(member)}?'`}`);
  return `{ ${checks.join(', ')} }`;
}

function checkOf(schema: Schema): string {
  const { type, items = {}, properties } = schema;
  if (type === 'array' && valueType(items) === 'object') return `[${checkOf(items)}]`;
  return type === 'object' && properties !== undefined ? fieldChecks(schema, true) : `'${valueType(schema)}'`;
}

function valueType({ type, items = {}, ...schema }: Schema): string {
  const members = schema.anyOf?.map((one) => valueType(one));
  if (members?.includes('null')) return `${members.find((one) => one !== 'null')}|null`;
  if (type === 'array') return `${valueType(items)}[]`;
  if (type === 'integer') return 'number';
  return String(schema.const ?? type ?? 'string'); // an enum has no type
}

const literal = (value: unknown) =>
  typeof value === 'string' ? `'${value.replaceAll("'", "\\'")}'` : JSON.stringify(value);

const comment = (text: string) => `/** ${text.replaceAll('*/', '* /').replaceAll('\n', ' ')} */\n`;
