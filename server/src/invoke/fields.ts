import { type TSchema, Type } from 'typebox';

/* Pieces of schemas that many operations share. */

export const Time = Type.String({ format: 'date-time' });

export const orNull = <T extends TSchema>(schema: T, description?: string) =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description });
