import type { TSchema, TStringOptions } from 'typebox';

/*
 * References of input fields. Schemas declare them, and everything that concerns ids reads the declaration: network
 * ids, filters, the limits of keys, the owning node, the log of tool calls. A field with a new name is treated like the
 * others.
 */

/** Kinds of things that a text in an input can refer to. */
export type Reference =
  | 'session'
  | 'message'
  | 'batch'
  | 'group'
  | 'channel'
  | 'status'
  | 'label'
  | 'webhook'
  | 'delivery'
  | 'file'
  /** A file, or a URL in its place. */
  | 'fileOrUrl'
  | 'person'
  /** The person or group whom a call writes to. */
  | 'recipient'
  /** The person or group of a chat. */
  | 'chat'
  /** Several people or groups: a number, the beginning of one, or a group. */
  | 'chats'
  | 'lid'
  /** Something that only the operation or its network can find. */
  | 'other';

const REFERENCE = Symbol('reference');

/** An option of a text. A symbol: schemas keep it when they are combined, and descriptions do not show it. */
export const ref = (to: Reference): TStringOptions => ({ [REFERENCE]: to });

/** Returns what a text with the schema refers to. */
export const referenceIn = (schema: TSchema): Reference | undefined => (schema as Shape)[REFERENCE];

/** A text in the inputs of an operation. */
export interface Place {
  /** Names of fields from the outside in; `*` stands for every entry of a list. */
  readonly path: readonly string[];
  readonly to: Reference;
}

/** A text in an input. */
export interface Found {
  /** Path of the field, such as `filters.chats.0`. */
  readonly field: string;
  readonly text: string;
}

interface Shape {
  readonly [REFERENCE]?: Reference;
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly items?: TSchema;
  readonly anyOf?: readonly TSchema[];
}

const known = new WeakMap<TSchema, readonly Place[]>();

/** Returns the places of an input that refer to something, in the order of its fields. */
export function placesOf(input: TSchema): readonly Place[] {
  let places = known.get(input);
  if (places === undefined) {
    places = pathsWhere(input, (shape: Shape) => shape[REFERENCE]).map(([path, to]) => ({ path, to }));
    known.set(input, places);
  }
  return places;
}

/** Returns the fields of an input that each refer to one of these, and are no lists. */
export function fieldsOf<R extends Reference>(input: TSchema, references: readonly R[]): { field: string; to: R }[] {
  return placesOf(input).flatMap(({ path: [field, ...deeper], to: found }) => {
    const to = references.find((one) => one === found);
    return field === undefined || deeper.length > 0 || to === undefined ? [] : [{ field, to }];
  });
}

/** Returns what the texts at a path refer to. */
export function referenceOf(input: TSchema, path: readonly string[]): Reference | undefined {
  const text = path.join('.');
  return placesOf(input).find((place) => place.path.join('.') === text)?.to;
}

/** Returns the paths of all parts of a schema of which a mark is defined, with the mark. */
export function pathsWhere<M>(schema: TSchema, markOf: (schema: TSchema) => M | undefined): [string[], M][] {
  const { properties = {}, items, anyOf = [] }: Shape = schema;
  const mark = markOf(schema);
  const inside = (part: TSchema, name: string) =>
    pathsWhere(part, markOf).map(([path, found]): [string[], M] => [[name, ...path], found]);
  return [
    ...(mark === undefined ? [] : [[[], mark] satisfies [string[], M]]),
    ...Object.entries(properties).flatMap(([name, part]) => inside(part, name)),
    ...(items === undefined ? [] : inside(items, '*')),
    ...anyOf.flatMap((part) => pathsWhere(part, markOf)),
  ];
}

/** Returns the texts at a path. */
export function textsAt(
  value: unknown,
  [name, ...rest]: readonly string[],
  field: readonly string[] = [],
): readonly Found[] {
  if (name === undefined) return typeof value === 'string' ? [{ field: field.join('.'), text: value }] : [];
  if (name === '*')
    return Array.isArray(value) ? value.flatMap((one, index) => textsAt(one, rest, [...field, `${index}`])) : [];
  return isObject(value) && name in value ? textsAt(value[name], rest, [...field, name]) : [];
}

/** Returns the value with other texts at a path. The value itself stays as it is. */
export function changedAt<V>(value: V, path: readonly string[], change: (text: string) => string): V {
  // Every part keeps its type.
  return changed(value, path, change) as V;
}

function changed(value: unknown, [name, ...rest]: readonly string[], change: (text: string) => string): unknown {
  if (name === undefined) return typeof value === 'string' ? change(value) : value;
  if (name === '*') return Array.isArray(value) ? value.map((one) => changed(one, rest, change)) : value;
  if (!isObject(value) || !(name in value)) return value;
  return { ...value, [name]: changed(value[name], rest, change) };
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
