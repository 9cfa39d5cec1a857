import type { TSchema } from 'typebox';
import { messageContent } from '../events/fields.ts';
import { isFields } from '../objects.ts';

type Project = (value: unknown) => unknown;

interface Options {
  /** Whether fields with message content are emptied or, if optional, left out. */
  readonly hidesContent: boolean;
}

interface SchemaNode {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly required?: readonly string[];
  readonly items?: TSchema;
  readonly anyOf?: readonly TSchema[];
  readonly additionalProperties?: unknown;
}

/**
 * Compiles an output schema to a function that keeps the fields of the schema and drops the rest, so that a new column
 * never leaks into an answer. It does not validate; the tests do.
 */
export function projector(schema: TSchema, options: Options = { hidesContent: false }): Project {
  const node: SchemaNode = schema;
  if (node.properties !== undefined && node.additionalProperties !== true) return projectObject(node, options);
  if (node.items !== undefined) return projectList(projector(node.items, options));
  // A union has at most one object here: `T | null`.
  const object = node.anyOf?.find((member) => 'properties' in member || 'items' in member);
  return object === undefined ? (value) => value : projector(object, options);
}

function projectObject({ properties = {}, required = [] }: SchemaNode, options: Options): Project {
  const isHidden = (schema: TSchema) => options.hidesContent && isMessageContent(schema);
  const fields = Object.entries(properties).map(([name, schema]) => ({
    name,
    project: isHidden(schema) ? hider(schema, required.includes(name)) : projector(schema, options),
    hides: isHidden(schema),
  }));
  const marks = Object.hasOwn(properties, 'contentHidden');
  return (value) => {
    if (typeof value !== 'object' || value === null) return value;
    const source = isFields(value) ? value : {};
    const kept: Record<string, unknown> = {};
    for (const { name, project, hides } of fields) {
      const field = source[name];
      if (field === undefined) continue;
      const shown = project(field);
      if (shown !== undefined) kept[name] = shown;
      if (hides && marks) kept['contentHidden'] = true;
    }
    return kept;
  };
}

function isMessageContent(schema: TSchema): boolean {
  return Object.keys(messageContent).every((mark) => Object.hasOwn(schema, mark));
}

/** Replaces hidden content: leaves optional fields out, and sets others to null, or empties them. */
function hider({ anyOf, type }: TSchema & SchemaNode, isRequired: boolean): Project {
  if (!isRequired) return () => undefined;
  if (anyOf?.some(({ type }: SchemaNode) => type === 'null')) return () => null;
  if (type === 'string') return () => '';
  if (type === 'array') return () => [];
  throw new Error('Required message content must be a text, a list or nullable');
}

function projectList(project: Project): Project {
  return (value) => (Array.isArray(value) ? value.map(project) : value);
}
