import type { Schema } from '../schema.ts';

/*
 * What a connector's sessions can be given, and what a tool takes, is said by a JSON Schema. Here it becomes the fields
 * of a form, and what was entered becomes values again. `SchemaField` draws one.
 */

/** How a field is entered. `json` is everything that has no entry of its own, such as objects. */
export type Entry = 'text' | 'time' | 'number' | 'boolean' | 'choice' | 'lines' | 'json';

export interface FormField {
  readonly name: string;
  /** In words: `newChatsPerDay` is "New chats per day". */
  readonly title: string;
  readonly description: string | undefined;
  readonly entry: Entry;
  readonly isRequired: boolean;
  /** It goes in and never comes out. */
  readonly isSecret: boolean;
  readonly isWhole: boolean;
  readonly minimum: number | undefined;
  readonly maximum: number | undefined;
  readonly choices: readonly Choice[];
  /** What holds when it is not given. */
  readonly standard: unknown;
}

type Choice = string | number;

/** What stands in the fields, by name. */
export type Entered = Readonly<Record<string, string>>;

export function fieldsOf({ properties = {}, required = [] }: Schema): readonly FormField[] {
  return Object.entries(properties).map(([name, schema]) => {
    const choices = choicesOf(schema);
    return {
      name,
      title: schema.title || spelledOut(name),
      description: schema.description,
      entry: choices.length > 0 ? 'choice' : entryOf(schema),
      isRequired: required.includes(name),
      isSecret: schema.writeOnly === true,
      isWhole: schema.type === 'integer',
      minimum: schema.minimum,
      maximum: schema.maximum,
      choices,
      standard: schema.default,
    };
  });
}

/** What to fill the fields with for values that there are. */
export function entered(fields: readonly FormField[], values: Readonly<Record<string, unknown>>): Entered {
  return Object.fromEntries(fields.map((field) => [field.name, textOf(field, values[field.name])]));
}

/** What the fields say: what is left empty is left out. None may be broken. */
export function valuesOf(fields: readonly FormField[], texts: Entered): Record<string, unknown> {
  return Object.fromEntries(
    fields
      .map((field) => [field, texts[field.name] ?? ''] as const)
      .filter(([, text]) => text.trim() !== '')
      .map(([field, text]) => [field.name, readText(field, text)]),
  );
}

/** Whether a field holds what cannot even be sent. */
export function isBroken({ entry }: FormField, text = ''): boolean {
  if (entry !== 'json' || text.trim() === '') return false;
  try {
    JSON.parse(text);
    return false;
  } catch {
    return true;
  }
}

function textOf({ entry }: FormField, value: unknown): string {
  if (value === undefined || value === null) return '';
  if (entry === 'lines' && Array.isArray(value)) return value.join('\n');
  return entry === 'json' ? JSON.stringify(value, null, 2) : String(value);
}

function readText({ entry, choices }: FormField, text: string): unknown {
  if (entry === 'number') return Number(text);
  if (entry === 'boolean') return text === 'true';
  if (entry === 'choice') return choices.find((choice) => String(choice) === text);
  if (entry === 'json') return JSON.parse(text);
  if (entry === 'lines')
    return text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '');
  return text;
}

function choicesOf({ enum: list, anyOf }: Schema): readonly Choice[] {
  const values = list ?? anyOf?.map((one) => one.const) ?? [];
  return values.every(isChoice) ? values : [];
}

const isChoice = (value: unknown): value is Choice => typeof value === 'string' || typeof value === 'number';

function entryOf({ type, items, format, anyOf }: Schema): Entry {
  if (type === 'boolean') return 'boolean';
  if (type === 'integer' || type === 'number') return 'number';
  if (type === 'array' && (items?.type === 'string' || items?.enum !== undefined)) return 'lines';
  if (type === 'string') return format === 'date-time' ? 'time' : 'text';
  // A text that may be null as well: null is said by JSON over the API.
  const some = anyOf?.find((one) => one.type !== 'null');
  return some?.type === 'string' ? entryOf(some) : 'json';
}

function spelledOut(name: string): string {
  const spaced = name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/[_-]+/g, ' ')
    .toLowerCase();
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}
