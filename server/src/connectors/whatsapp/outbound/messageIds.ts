/*
 * The sender chooses the id of a message on the network: capital hexadecimal digits, 32 of them on a phone. Our ids are
 * ULIDs, which have 128 bits as well, so each can be converted to the other. A message that is sent again after a crash
 * has the same id, and a recipient that already has it does not show it twice.
 */

// Crockford's base 32, as in ids.ts.
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const OWN_ID = /^msg_[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
const WIRE = /^[0-9A-F]{32}$/;

/** Returns the network id of one of our messages. Other ids stay as they are. */
export function toWireId(networkId: string): string {
  if (!OWN_ID.test(networkId)) return networkId;
  let value = 0n;
  for (const letter of networkId.slice(4)) value = value * 32n + BigInt(ALPHABET.indexOf(letter));
  return value.toString(16).toUpperCase().padStart(32, '0');
}

/** Returns our id of a message that this session has sent. */
export function toOwnId(wireId: string): string {
  if (!WIRE.test(wireId)) return wireId;
  let text = '';
  for (let value = BigInt(`0x${wireId}`), i = 0; i < 26; i++, value /= 32n) text = ALPHABET[Number(value % 32n)] + text;
  return `msg_${text}`;
}
