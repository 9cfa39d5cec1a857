import { type ErrorCode, errors } from '../errors.ts';
import { eventKinds, events } from '../events.ts';
import { isRead, type Operation } from '../invoke/operation.ts';

/*
 * The operations as TypeScript, for the SDK: what each takes and gives, and where in a request its fields go. The SDK
 * has no dependencies, so these are plain types.
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
  const kinds = eventKinds.map((kind) => `  '${kind}': ${typeOf(events[kind].data as unknown as Schema, named)};`);
  // The keys of the table are exactly the codes; Object.keys forgets that.
  const codes = (Object.keys(errors) as ErrorCode[]).map((code) => `  | '${code}'`);
  return [
    '// Generated from the operation table by `npm run openapi`. Do not edit.',
    '',
    ...[...named].map(([name, body]) => `export interface ${name} ${body}\n`),
    '/** What each operation takes and gives. */',
    `export interface Operations {\n${entries.join('\n')}\n}`,
    '',
    '/** What each kind of event tells. */',
    `export interface EventData {\n${kinds.join('\n')}\n}`,
    '',
    '/** Why a request was refused. */',
    `export type ErrorCode =\n${codes.join('\n')};`,
    '',
    '/** Where each operation is found. */',
    `export const routes = {\n${routes.join('\n')}\n} as const;`,
    '',
  ].join('\n');
}

function typeOf(schema: Schema, named: Map<string, string>): string {
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

const literal = (value: unknown) =>
  typeof value === 'string' ? `'${value.replaceAll("'", "\\'")}'` : JSON.stringify(value);

const comment = (text: string) => `/** ${text.replaceAll('*/', '* /').replaceAll('\n', ' ')} */\n`;
