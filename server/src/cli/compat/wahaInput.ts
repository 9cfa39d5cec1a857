import { type Fields, isFields } from '../../objects.ts';
import { badRequest } from './wahaErrors.ts';

/*
 * Reads the fields of requests. Clients such as the n8n node send unused fields empty or null, which counts as absent.
 */

/** @throws {WahaError} 400 if it is missing or not a string */
export function required(fields: Fields, name: string): string {
  const value = optional(fields, name);
  if (value === undefined) throw badRequest(`${name} should not be empty`, `${name} must be a string`);
  return value;
}

/** @throws {WahaError} 400 if it is not a string */
export function optional(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value !== 'string') throw badRequest(`${name} must be a string`);
  return value;
}

/** @throws {WahaError} 400 if it is not a boolean */
export function flag(fields: Fields, name: string, standard: boolean): boolean {
  const value = fields[name];
  if (value === undefined || value === null || value === '') return standard;
  if (typeof value !== 'boolean') throw badRequest(`${name} must be a boolean value`);
  return value;
}

/** @throws {WahaError} 400 if it is not a list of strings */
export function texts(fields: Fields, name: string): string[] | undefined {
  const value = fields[name];
  if (value === undefined || value === null || value === '') return undefined;
  if (!Array.isArray(value) || !value.every((one) => typeof one === 'string'))
    throw badRequest(`each value in ${name} must be a string`);
  return value;
}

/** @throws {WahaError} 400 if it is not an object */
export function object(fields: Fields, name: string): Fields | undefined {
  const value = fields[name];
  if (value === undefined || value === null || value === '') return undefined;
  if (!isFields(value)) throw badRequest(`${name} must be an object`);
  return value;
}

const MEDIA_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:\s*;[\t\x20-\x7e]*)?$/;

/** Returns a file's type as a header. The server would read `multipart/…` as a form in place of the file. */
export function contentType(mimeType: string | undefined): string {
  const type = mimeType?.trim() ?? '';
  return MEDIA_TYPE.test(type) && !/^multipart\//i.test(type) ? type : 'application/octet-stream';
}
