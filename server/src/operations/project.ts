import type { TSchema } from 'typebox';

type Project = (value: unknown) => unknown;

/**
 * Compiles an output schema to a function that keeps what the schema names and drops the rest, so that a column
 * added to a row never leaks into an answer. It does not check: the tests do.
 */
export function projector(schema: TSchema): Project {
  const node = schema as {
    type?: string;
    properties?: Record<string, TSchema>;
    items?: TSchema;
    anyOf?: TSchema[];
    additionalProperties?: unknown;
  };
  if (node.properties !== undefined && node.additionalProperties !== true) return projectObject(node.properties);
  if (node.items !== undefined) return projectList(projector(node.items));
  // Of a union at most one member is an object here: `T | null`.
  const object = node.anyOf?.find((member) => 'properties' in member || 'items' in member);
  return object === undefined ? (value) => value : projector(object);
}

function projectObject(properties: Record<string, TSchema>): Project {
  const fields = Object.entries(properties).map(([name, schema]) => [name, projector(schema)] as const);
  return (value) => {
    if (typeof value !== 'object' || value === null) return value;
    const source = value as Record<string, unknown>;
    const kept: Record<string, unknown> = {};
    for (const [name, project] of fields) {
      const field = source[name];
      if (field !== undefined) kept[name] = project(field);
    }
    return kept;
  };
}

function projectList(project: Project): Project {
  return (value) => (Array.isArray(value) ? value.map(project) : value);
}
