// Crockford's base 32.
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** One of our message ids as WhatsApp has it: the same 128 bits, in hexadecimal. */
export function wireIdOf(messageId: string): string {
  let value = 0n;
  for (const letter of messageId.slice('msg_'.length)) value = value * 32n + BigInt(ALPHABET.indexOf(letter));
  return value.toString(16).toUpperCase().padStart(32, '0');
}
