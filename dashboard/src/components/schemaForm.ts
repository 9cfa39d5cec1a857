import type { Schema } from '../schema.ts';

/*
 * Turns the JSON Schema of session options or of a tool into form fields, and the entered texts back into values.
 * `SchemaField` renders a field.
 */

/** The input of a field. `json` stands for values without an input of their own, such as objects. */
export type InputType = 'text' | 'time' | 'number' | 'boolean' | 'choice' | 'lines' | 'json';

export interface FormField {
  readonly name: string;
  /** For example "New chats per day" for `newChatsPerDay`. */
  readonly title: string;
  readonly description: string | undefined;
  readonly input: InputType;
  readonly isRequired: boolean;
  /** Accepted by the server, but never returned. */
  readonly isSecret: boolean;
  readonly isWhole: boolean;
  readonly minimum: number | undefined;
  readonly maximum: number | undefined;
  readonly choices: readonly Choice[];
  /** The value if the field is empty. */
  readonly defaultValue: unknown;
}

type Choice = string | number;

/** The texts in the fields, by name. */
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

/** The texts of fields for existing values. */
export function textsOf(fields: readonly FormField[], values: Readonly<Record<string, unknown>>): FieldTexts {
  return Object.fromEntries(fields.map((field) => [field.name, textOf(field, values[field.name])]));
}

/** The values of the fields, without those that are empty. No field may be invalid. */
export function valuesOf(fields: readonly FormField[], texts: FieldTexts): Record<string, unknown> {
  return Object.fromEntries(
    fields
      .map((field) => [field, texts[field.name] ?? ''] as const)
      .filter(([, text]) => text.trim() !== '')
      .map(([field, text]) => [field.name, readText(field, text)]),
  );
}

/** Whether the text of a field cannot be sent. */
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
  // A nullable text is a text field; null can only be sent as JSON over the API.
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
