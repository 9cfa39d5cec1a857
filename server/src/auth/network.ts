import ipaddr from 'ipaddr.js';

/** What one customer of a provider gets, and so can change addresses within. */
const IPV6_PREFIX_BITS = 64;

/**
 * The network that limits count an address by: an IPv4 address by itself, an IPv6 address by its /64. What is no
 * address counts as it is.
 */
export function networkOf(address: string): string {
  const [bare = ''] = address.split('%', 1); // without the zone
  if (!ipaddr.isValid(bare)) return address;
  const parsed = ipaddr.process(bare); // an IPv4-mapped address is an IPv4 address
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  const bytes = parsed.toByteArray();
  return ipaddr.fromByteArray(bytes.map((byte, index) => (index < IPV6_PREFIX_BITS / 8 ? byte : 0))).toString();
}
