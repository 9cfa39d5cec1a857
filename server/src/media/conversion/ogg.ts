import { ConversionError } from './task.ts';

/** The length of the header of a page, before the lengths of its segments. */
const HEADER = 27;
const CHECKSUM_AT = 22;

/**
 * Checks that a file is a sequence of whole pages whose checksums match. Decoders skip other pages and play the rest.
 * https://datatracker.ietf.org/doc/html/rfc3533#section-6
 * @throws {ConversionError} `unreadable`
 */
export function requireIntactOgg(content: Uint8Array): void {
  const view = new DataView(content.buffer, content.byteOffset, content.byteLength);
  for (let at = 0; at < content.length; ) {
    const end = endOfPage(content, at);
    if (end === undefined || view.getUint32(at + CHECKSUM_AT, true) !== checksumOf(content.subarray(at, end)))
      throw new ConversionError('unreadable', 'its content is damaged');
    at = end;
  }
}

/** Undefined if no whole page is there. */
function endOfPage(content: Uint8Array, at: number): number | undefined {
  if (at + HEADER > content.length || Buffer.from(content.subarray(at, at + 4)).toString('latin1') !== 'OggS')
    return undefined;
  const segments = content[at + HEADER - 1] ?? 0;
  const start = at + HEADER + segments;
  const length = content.subarray(at + HEADER, start).reduce((sum, segment) => sum + segment, 0);
  return start + length <= content.length ? start + length : undefined;
}

/** The checksums of bytes, for a CRC of 32 bits with the polynomial 0x04c11db7 that shifts to the left. */
const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte << 24;
  for (let bit = 0; bit < 8; bit++) value = value & 0x80000000 ? (value << 1) ^ 0x04c11db7 : value << 1;
  return value;
});

/** The checksum of a page. Its field counts as zero. */
function checksumOf(page: Uint8Array): number {
  let value = 0;
  for (const [at, byte] of page.entries()) {
    const isField = at >= CHECKSUM_AT && at < CHECKSUM_AT + 4;
    value = (value << 8) ^ (TABLE[(value >>> 24) ^ (isField ? 0 : byte)] ?? 0);
  }
  return value >>> 0;
}
