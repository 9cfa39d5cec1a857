import type { Schema } from '../../schema.ts';

/*
 * Turns the JSON Schema of session options or of a tool into form fields, and the entered texts back into values.
 * `SchemaField` renders a field.
 */

/** The input of a field. `json` stands for values without an input of their own, such as objects. */
export type InputType = 'text' | 'time' | 'number' | 'boolean' | 'choice' | 'lines' | 'json';

export interface FormField {
  /** As the errors of the server name it: `calls.message` for a field of the group `calls`. */
  readonly name: string;
  /** The object that has the field as one of its properties; undefined on the first level. */
  readonly group: FieldGroup | undefined;
  /** Its name within the group. */
  readonly key: string;
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

/** An object of a few fields, which are shown together. */
export interface FieldGroup {
  readonly name: string;
  readonly title: string;
  readonly description: string | undefined;
}

type Choice = string | number;

/** The texts in the fields, by name. */
export type FieldTexts = Readonly<Record<string, string>>;

export function fieldsOf({ properties = {}, required = [] }: Schema): readonly FormField[] {
  return Object.entries(properties).flatMap(([name, schema]): readonly FormField[] => {
    const isRequired = required.includes(name);
    const field = fieldOf(name, schema, isRequired);
    if (field.input !== 'json' || schema.properties === undefined) return [field];
    const { title, description } = field;
    const parts = Object.entries(schema.properties).map(([key, part]) =>
      fieldOf(key, part, isRequired && (schema.required ?? []).includes(key), { name, title, description }),
    );
    // Deeper objects stay JSON as a whole.
    return parts.length === 0 || parts.some(({ input }) => input === 'json') ? [field] : parts;
  });
}

function fieldOf(key: string, schema: Schema, isRequired: boolean, group?: FieldGroup): FormField {
  const choices = choicesOf(schema);
  return {
    name: group === undefined ? key : `${group.name}.${key}`,
    group,
    key,
    title: schema.title || titleFromName(key),
    description: schema.description,
    input: choices.length > 0 ? 'choice' : inputOf(schema),
    isRequired,
    isSecret: schema.writeOnly === true,
    isWhole: schema.type === 'integer',
    minimum: schema.minimum,
    maximum: schema.maximum,
    choices,
    defaultValue: schema.default,
  };
}

/** The texts of fields for existing values. */
export function textsOf(fields: readonly FormField[], values: Readonly<Record<string, unknown>>): FieldTexts {
  return Object.fromEntries(fields.map((field) => [field.name, textOf(field, partOf(values, field.group)[field.key])]));
}

/** The values of the fields, without those that are empty. No field may be invalid. */
export function valuesOf(fields: readonly FormField[], texts: FieldTexts): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const field of fields) {
    const text = texts[field.name] ?? '';
    if (text.trim() === '') continue;
    const { group, key } = field;
    const value = readText(field, text);
    if (group === undefined) values[key] = value;
    else values[group.name] = { ...partOf(values, group), [key]: value };
  }
  return values;
}

/** The values of a group, or all of them on the first level. */
function partOf(values: Readonly<Record<string, unknown>>, group: FieldGroup | undefined) {
  const part = group === undefined ? values : values[group.name];
  return typeof part === 'object' && part !== null ? (part as Readonly<Record<string, unknown>>) : {};
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
