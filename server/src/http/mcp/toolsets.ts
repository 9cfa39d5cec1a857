import { invalidField } from '../../errors.ts';
import type { Operation } from '../../invoke/operation.ts';
import { beginningOf, MAX_NAME_LENGTH } from './fit.ts';

/* A client can ask for some of the tools of its key, by the URL or by headers: fewer tools leave a model more room. */

/** The tools that a client has asked for. */
export interface Selection {
  /** Undefined for all. */
  readonly toolsets: readonly string[] | undefined;
  readonly isReadOnly: boolean;
}

/** The first part of a tool's name is its toolset. */
const toolsetOf = ({ id }: Pick<Operation, 'id'>): string => id.slice(0, id.indexOf('.'));

export const toolsetsOf = (operations: readonly Operation[]): readonly string[] => [
  ...new Set(operations.filter(({ tool }) => tool).map(toolsetOf)),
];

/**
 * Reads `?toolsets=messages,chats&readonly=true`, or `X-MCP-Toolsets` and `X-MCP-Readonly`. Headers replace the query.
 * @throws {AppError} `validation_failed` for an unknown toolset
 */
export function readSelection(
  toolsets: readonly string[],
  query: Readonly<Record<string, unknown>>,
  headers: Readonly<Record<string, unknown>>,
): Selection {
  const wanted = textOf(headers['x-mcp-toolsets'] ?? query['toolsets']);
  const names = wanted?.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()])) ?? [];
  const unknown = names.find((name) => !toolsets.includes(name));
  if (unknown !== undefined)
    throw invalidField(
      'toolsets',
      `must name some of ${toolsets.join(', ')}, not "${beginningOf(unknown, MAX_NAME_LENGTH)}"`,
      'enum',
    );
  return {
    toolsets: names.length === 0 ? undefined : names,
    isReadOnly: readSwitch(textOf(headers['x-mcp-readonly'] ?? query['readonly'])),
  };
}

/** An unknown value must not give a client tools that it wanted to be without. */
function readSwitch(text: string | undefined): boolean {
  if (text === undefined || text === 'false' || text === '0') return false;
  if (text === 'true' || text === '1') return true;
  throw invalidField('readonly', `must be true or false, not "${beginningOf(text, MAX_NAME_LENGTH)}"`, 'enum');
}

/** A header or parameter that was sent twice is a list. */
const textOf = (value: unknown): string | undefined =>
  Array.isArray(value) ? value.join(',') : typeof value === 'string' ? value : undefined;

export const isSelected = ({ toolsets: wanted, isReadOnly }: Selection, operation: Operation): boolean =>
  (wanted === undefined || wanted.includes(toolsetOf(operation))) && (!isReadOnly || operation.effect === 'read');
