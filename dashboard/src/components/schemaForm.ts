import type { Schema } from '../schema.ts';

/*
 * What a connector's sessions can be given, and what a tool takes, is said by a JSON Schema. Here it becomes the fields
 * of a form, and what was entered becomes values again. `SchemaField` draws one.
 */

/** How a field is entered. `json` is everything that has no input of its own, such as objects. */
export type InputType = 'text' | 'time' | 'number' | 'boolean' | 'choice' | 'lines' | 'json';

export interface FormField {
  readonly name: string;
  /** In words: `newChatsPerDay` is "New chats per day". */
  readonly title: string;
  readonly description: string | undefined;
  readonly input: InputType;
  readonly isRequired: boolean;
  /** It goes in and never comes out. */
  readonly isSecret: boolean;
  readonly isWhole: boolean;
  readonly minimum: number | undefined;
  readonly maximum: number | undefined;
  readonly choices: readonly Choice[];
  /** What holds when it is not given. */
  readonly defaultValue: unknown;
}

type Choice = string | number;

/** What stands in the fields, by name. */
export type FieldTexts = Readonly<Record<string, string>>;

export function fieldsOf({ properties = {}, required = [] }: Schema): readonly FormField[] {
  return Object.entries(properties).map(([name, schema]) => {
    const choices = choicesOf(schema);
    return {
      name,
      title: schema.title || titleFromName(name),
      description: schema.description,
      input: choices.length > 0 ? 'choice' : inputOf(schema),
      isRequired: required.includes(name),
      isSecret: schema.writeOnly === true,
      isWhole: schema.type === 'integer',
      minimum: schema.minimum,
      maximum: schema.maximum,
      choices,
      defaultValue: schema.default,
    };
  });
}

/** What to fill the fields with for values that there are. */
export function textsOf(fields: readonly FormField[], values: Readonly<Record<string, unknown>>): FieldTexts {
  return Object.fromEntries(fields.map((field) => [field.name, textOf(field, values[field.name])]));
}

/** What the fields say: what is left empty is left out. None may be broken. */
export function valuesOf(fields: readonly FormField[], texts: FieldTexts): Record<string, unknown> {
  return Object.fromEntries(
    fields
      .map((field) => [field, texts[field.name] ?? ''] as const)
      .filter(([, text]) => text.trim() !== '')
      .map(([field, text]) => [field.name, readText(field, text)]),
  );
}

/** Whether a field holds what cannot even be sent. */
export function isInvalid({ input }: FormField, text = ''): boolean {
  if (input !== 'json' || text.trim() === '') return false;
  try {
    JSON.parse(text);
    return false;
  } catch {
    return true;
  }
}

function textOf({ input }: FormField, value: unknown): string {
  if (value === undefined || value === null) return '';
  if (input === 'lines' && Array.isArray(value)) return value.join('\n');
  return input === 'json' ? JSON.stringify(value, null, 2) : String(value);
}

function readText({ input, choices }: FormField, text: string): unknown {
  if (input === 'number') return Number(text);
  if (input === 'boolean') return text === 'true';
  if (input === 'choice') return choices.find((choice) => String(choice) === text);
  if (input === 'json') return JSON.parse(text);
  if (input === 'lines')
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

function inputOf({ type, items, format, anyOf }: Schema): InputType {
  if (type === 'boolean') return 'boolean';
  if (type === 'integer' || type === 'number') return 'number';
  if (type === 'array' && (items?.type === 'string' || items?.enum !== undefined)) return 'lines';
  if (type === 'string') return format === 'date-time' ? 'time' : 'text';
  // A text that may be null as well: null is said by JSON over the API.
  const some = anyOf?.find((one) => one.type !== 'null');
  return some?.type === 'string' ? inputOf(some) : 'json';
}

function titleFromName(name: string): string {
  const spaced = name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/[_-]+/g, ' ')
    .toLowerCase();
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}
