import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
export type AddressRange = readonly [base: Address, bits: number];

const IPV4_BITS = 32;
const IPV6_BITS = 128;

/**
 * Parses a network such as `10.0.0.0/8`, or a single address. An IPv4 network in its IPv6-mapped form is an IPv4
 * network. Returns undefined if the text is neither.
 */
export function parseAddressRange(text: string): AddressRange | undefined {
  const [address = '', bits] = text.split('/', 2);
  if (!isAddress(address) || address.includes('%')) return undefined;
  if (bits === undefined) return text.includes('/') ? undefined : wholeRange(ipaddr.process(address));
  if (!/^\d{1,3}$/.test(bits) || !ipaddr.isValidCIDR(text)) return undefined;
  const base = ipaddr.parse(address);
  const isMapped = base instanceof ipaddr.IPv6 && base.isIPv4MappedAddress() && Number(bits) >= IPV6_BITS - IPV4_BITS;
  return isMapped ? [base.toIPv4Address(), Number(bits) - (IPV6_BITS - IPV4_BITS)] : [base, Number(bits)];
}

/** Whether the address of a caller is in one of the ranges. */
export function isInRanges(ranges: readonly AddressRange[], address: string): boolean {
  const [bare = ''] = address.split('%', 1); // without the zone
  if (!isAddress(bare)) return false;
  const parsed = ipaddr.process(bare); // an IPv4-mapped address is an IPv4 address
  return ranges.some(([base, bits]) => parsed.kind() === base.kind() && parsed.match(base, bits));
}

/** Without the shorter forms of IPv4, such as 10.1, which not all programs read alike. */
const isAddress = (text: string) => ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text);

const wholeRange = (address: Address): AddressRange => [address, address.kind() === 'ipv4' ? IPV4_BITS : IPV6_BITS];
