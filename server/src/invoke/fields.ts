import { type TProperties, type TSchema, Type } from 'typebox';

/* Schema parts that many operations share. */

export const Time = Type.String({ format: 'date-time' });

export const orNull = <T extends TSchema>(schema: T, description?: string) =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description });

/** An object that refuses unknown fields, like every input. */
export const strictObject = <P extends TProperties>(properties: P) =>
  Type.Object(properties, { additionalProperties: false });
