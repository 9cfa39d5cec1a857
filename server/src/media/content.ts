import type { Readable } from 'node:stream';
import { parse } from 'content-disposition';
import { AppError } from '../errors.ts';

/** An incoming file, with the metadata that its sender declared. */
export interface Content {
  readonly stream: Readable;
  readonly fileName: string | null;
  readonly mimeType: string | null;
  /** The declared size, if there is one: a file that is too large is rejected before it is read. */
  readonly declaredBytes?: number;
  /** Whether it belongs to a status or a post, with which it is deleted unless it is used for something else. */
  readonly isTransient?: boolean;
  /** Whether it is stored even if the account has reached its limit, so that no message is lost. */
  readonly isUnlimited?: boolean;
}

const MAX_NAME_LENGTH = 200;

/** Control characters, breaks of lines, and marks that change the direction of writing. */
const HIDDEN = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Returns a text as one line, without characters that make it look different from what it is. */
export const plainLine = (text: string): string =>
  text.toWellFormed().replace(/\s+/gu, ' ').replace(HIDDEN, '').replace(/ {2,}/g, ' ').trim();

/**
 * Removes folders, control characters and marks that change the direction of writing (`photo\u202egpj.exe` shows as
 * `photoexe.jpg`). Returns null if nothing is left.
 */
export function cleanFileName(name: string | null): string | null {
  const last = (name ?? '').toWellFormed().split(/[/\\]/).at(-1) ?? '';
  const clean = last.replace(HIDDEN, '').trim();
  if (/^\.*$/.test(clean)) return null;
  return [...clean].slice(0, MAX_NAME_LENGTH).join('');
}

/** The file name in a `Content-Disposition` header (RFC 6266); null if it has none or is malformed. */
export function dispositionName(header: string): string | null {
  try {
    return parse(header).parameters['filename'] ?? null;
  } catch {
    return null;
  }
}

export function tooLarge(maxBytes: number): AppError {
  return new AppError('payload_too_large', `The file is larger than the limit of ${maxBytes} bytes`);
}
