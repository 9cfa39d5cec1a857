import { type TSchema, Type } from 'typebox';

/* Schemas of fields that events and message parts share. */

export const Timestamp = (description: string) => Type.String({ format: 'date-time', description });
export const Digits = (description: string) => Type.String({ pattern: '^[0-9]+$', description });

/** Marks a field with message content: callers who may see only metadata get it empty, or not at all if optional. */
export const messageContent = { 'x-message-content': true } as const;

/** An optional field with message content. */
export const OptionalContent = <T extends TSchema>(schema: T) => Type.Optional({ ...schema, ...messageContent });

/* Optional fields of a part. */
export const Flag = (description: string) => Type.Optional(Type.Literal(true, { description }));
export const Text = (description: string) => Type.Optional(Type.String({ description }));
export const Amount = (description: string) => Type.Optional(Type.Number({ description }));
export const Moment = (description: string) => Type.Optional(Timestamp(description));
export const Count = (description: string) => Type.Optional(Type.Integer({ minimum: 0, description }));
