import ipaddr from 'ipaddr.js';

/** The range that a provider assigns to one customer, who can use any address in it. */
const IPV6_PREFIX_BITS = 64;

/** The network by which limits count an address: IPv4 itself, IPv6 its /64. Invalid addresses are unchanged. */
export function networkOf(address: string): string {
  const [bare = ''] = address.split('%', 1); // without the zone
  if (!ipaddr.isValid(bare)) return address;
  const parsed = ipaddr.process(bare); // an IPv4-mapped address is an IPv4 address
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  const bytes = parsed.toByteArray();
  return ipaddr.fromByteArray(bytes.map((byte, index) => (index < IPV6_PREFIX_BITS / 8 ? byte : 0))).toString();
}
