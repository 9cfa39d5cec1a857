import { createHash } from 'node:crypto';

/** Recognizes a text without storing it. */
export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}
