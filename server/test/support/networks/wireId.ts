// Crockford's base 32.
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Converts a message id to its form in WhatsApp: the same 128 bits in hexadecimal. */
export function wireIdOf(messageId: string): string {
  let value = 0n;
  for (const letter of messageId.slice('msg_'.length)) value = value * 32n + BigInt(ALPHABET.indexOf(letter));
  return value.toString(16).toUpperCase().padStart(32, '0');
}
