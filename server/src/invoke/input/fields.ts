import {
  type TArrayOptions,
  type TNumberOptions,
  type TObject,
  type TProperties,
  type TSchema,
  type TSchemaOptions,
  type TString,
  type TStringOptions,
  Type,
} from 'typebox';
import { BLANK } from './patterns.ts';

/* The schemas of inputs and outputs. A field begins with its description, because people and models choose by it. */

export const optional = Type.Optional;

export const orNull = <T extends TSchema>(schema: T, description?: string) =>
  Type.Union([schema, Type.Null()], describedBy(description));

export const string = (description: string, rules?: TStringOptions) => Type.String({ ...rules, description });

/** For names that people see: refuses texts without a visible character. */
export const notBlank = (text: TString) =>
  // An empty text has its own error.
  Type.Refine(
    text,
    (value) => value === '' || VISIBLE.test(value),
    () => BLANK,
  );
const VISIBLE = /[^\s\p{Cc}\p{Cf}]/u;

export const integer = (description: string, rules?: TNumberOptions) => Type.Integer({ ...rules, description });

export const number = (description: string, rules?: TNumberOptions) => Type.Number({ ...rules, description });

export const boolean = (description: string, rules?: TSchemaOptions) => Type.Boolean({ ...rules, description });

/** For a field that is present only if it is true, or that merely confirms what was done. */
export const onlyTrue = (description = 'Always true.') => Type.Literal(true, { description });

export const time = (description?: string) => Type.String({ format: 'date-time', ...describedBy(description) });

export const oneOf = <V extends string[]>(values: readonly [...V], description?: string) =>
  Type.Enum(values, describedBy(description));

export const list = <T extends TSchema>(items: T, description: string, rules?: TArrayOptions) =>
  Type.Array(items, { ...rules, description });

export const entries = <P extends TProperties>(description: string, properties: P) =>
  Type.Array(Type.Object(properties), { description });

export const record = <T extends TSchema>(values: T, description: string) =>
  Type.Record(Type.String(), values, { description });

export function object<P extends TProperties>(properties: P): TObject<P>;
export function object<P extends TProperties>(description: string, properties: P): TObject<P>;
export function object(...given: readonly [TProperties] | readonly [string, TProperties]): TObject {
  return given.length === 1 ? Type.Object(given[0]) : Type.Object(given[1], { description: given[0] });
}

/** An object that the API reference and the SDK describe once, under a name. */
export const named = <P extends TProperties>(title: string, properties: P) => Type.Object(properties, { title });

export const openObject = (description: string) => Type.Object({}, { additionalProperties: true, description });

/** An object that refuses unknown fields, like every input. */
export const strictObject = <P extends TProperties>(properties: P) =>
  Type.Object(properties, { additionalProperties: false });

export const strictPart = <P extends TProperties>(description: string, properties: P) =>
  Type.Object(properties, { additionalProperties: false, description });

/**
 * Marks a text that is not written for people, and has no comma: `exact` texts, such as cursors, or `lowercase` ones,
 * such as event types and their patterns. Tools read what models send for it more freely. A symbol: schemas keep it
 * when they are combined, and descriptions do not show it.
 */
export const TOKEN = Symbol('token');

export const token = (spelling: 'exact' | 'lowercase'): TStringOptions => ({ [TOKEN]: spelling });

const UNNUMBERED = Symbol('unnumbered');

/** Marks a list that a query may write with commas: errors name the list, because nobody counts its entries. */
export const unnumbered: object = { [UNNUMBERED]: true };

export const isUnnumbered = (schema: object): boolean => UNNUMBERED in schema;

/** Marks a field that tools do not show: one that no model should fill in, or that is of no use to it. */
export const notForAgents = { 'x-not-for-agents': true } as const;

/** An input field that makes an operation with `idempotent` safe to repeat, as the header `Idempotency-Key` does. */
export const IdempotencyKey = optional(
  string('Unique per request. A retry with the same key within 24 hours changes nothing and gets the same answer.', {
    minLength: 1,
    maxLength: 255,
  }),
);

const describedBy = (description: string | undefined): TSchemaOptions =>
  description === undefined ? {} : { description };
