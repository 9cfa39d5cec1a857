import { type LookupAddress, type LookupOptions, lookup as systemLookup } from 'node:dns';
import { closeSync, openSync } from 'node:fs';
import ipaddr from 'ipaddr.js';
import { thrownCode, thrownError } from '../thrown.ts';

/*
 * Vets the targets that the server calls for an account: webhooks, and files to send. The account chooses the URL and
 * the server makes the request, which must not give access to the server's own network. The vetted address is the one
 * that is dialed: names are vetted in the connection's own lookup, so a name server cannot give a second answer. Node
 * does not look up literal addresses, so they are vetted when the webhook is set and again before every attempt or
 * redirect.
 */

export interface TargetPolicy {
  /** 127.0.0.0/8 and ::1, in these plain forms only. */
  readonly allowLoopback: boolean;
  readonly allowed: readonly Range[];
  /** Called with the reason why a name was refused, for the server's log. The account does not see it. */
  readonly onRefused: (refusal: { readonly host: string; readonly reason: string }) => void;
}

/** Whether a target may be used; if not, the violated rule and a message, for setting and sending alike. */
export type Verdict =
  | { readonly ok: true; readonly url: URL }
  | { readonly ok: false; readonly rule: TargetRule; readonly message: string };

export type TargetRule = 'not_absolute' | 'scheme' | 'credentials' | 'too_long' | 'address';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = readonly [Address, number];

const MAX_URL_LENGTH = 2048;

/**
 * Addresses where clouds serve an instance its metadata, including credentials. An allowed range does not open them;
 * only a range of that single address does, such as 100.100.100.200/32.
 */
const metadata = ranges([
  // AWS, Google Cloud, Azure, DigitalOcean, Hetzner, OpenStack, Oracle and others.
  ['169.254.169.254/32', 'a link-local address, where cloud metadata lives'],
  // https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-iam-roles.html and
  // …/eks/latest/userguide/pod-id-how-it-works.html
  ['169.254.170.2/32', 'the credentials address of AWS containers'],
  ['169.254.170.23/32', 'the credentials address of AWS containers'],
  ['fd00:ec2::23/128', 'the credentials address of AWS containers'],
  // https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html
  ['fd00:ec2::254/128', 'the metadata address of AWS'],
  // https://cloud.google.com/compute/docs/metadata/querying-metadata
  ['fd20:ce::254/128', 'the metadata address of Google Cloud'],
  // https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16: a platform address in a public
  // range.
  ['168.63.129.16/32', 'the platform address of Azure'],
  // https://www.alibabacloud.com/help/ecs/user-guide/view-instance-metadata
  ['100.100.100.200/32', 'the metadata address of Alibaba Cloud'],
  // https://docs.oracle.com/en/cloud/iaas/compute-iaas-cloud/stcsg/retrieving-instance-metadata.html
  ['192.0.0.192/32', 'the metadata address of Oracle Cloud'],
  ['fd00:c1::a9fe:a9fe/128', 'the metadata address of Oracle Cloud'],
  // https://cloud.tencent.com/document/product/213/4934
  ['169.254.0.23/32', 'the metadata address of Tencent Cloud'],
  // https://www.scaleway.com/en/docs/instances/how-to/use-metadata/
  ['169.254.42.42/32', 'the metadata address of Scaleway'],
  ['fd00:42::42/128', 'the metadata address of Scaleway'],
  // https://docs.openstack.org/nova/latest/user/metadata.html
  ['fe80::a9fe:a9fe/128', 'the metadata address of OpenStack'],
]);

/** Ranges that are never public receivers (RFC 6890 and later registrations), with the reason. */
const refused = ranges([
  ['0.0.0.0/8', 'an unspecified address'],
  ['10.0.0.0/8', 'a private address'],
  ['100.64.0.0/10', "an address of a carrier's network (RFC 6598)"],
  ['127.0.0.0/8', 'a loopback address'],
  ['169.254.0.0/16', 'a link-local address, where cloud metadata lives'],
  ['172.16.0.0/12', 'a private address'],
  ['192.0.0.0/24', 'a reserved address'],
  ['192.0.2.0/24', 'a documentation address'],
  ['192.31.196.0/24', 'a reserved address'],
  ['192.52.193.0/24', 'a reserved address'],
  ['192.88.99.0/24', 'a 6to4 relay (RFC 7526)'],
  ['192.168.0.0/16', 'a private address'],
  ['192.175.48.0/24', 'a reserved address'],
  ['198.18.0.0/15', 'a benchmark address'],
  ['198.51.100.0/24', 'a documentation address'],
  ['203.0.113.0/24', 'a documentation address'],
  ['224.0.0.0/4', 'a multicast address'],
  ['240.0.0.0/4', 'a reserved address'],
  ['::/128', 'an unspecified address'],
  ['::1/128', 'a loopback address'],
  ['::ffff:0:0/96', 'an IPv4-mapped address'],
  ['::/96', 'an IPv4-compatible address'],
  ['64:ff9b::/96', 'a NAT64 address (RFC 6052)'],
  ['64:ff9b:1::/48', 'a NAT64 address (RFC 8215)'],
  ['fc00::/7', 'a private address'],
  ['fe80::/10', 'a link-local address'],
  ['ff00::/8', 'a multicast address'],
  ['2001::/32', 'a Teredo address (RFC 4380)'],
  ['2001:2::/48', 'a benchmark address'],
  ['2001::/23', 'a reserved address'],
  ['2001:db8::/32', 'a documentation address'],
  ['2002::/16', 'a 6to4 address (RFC 3056)'],
  ['3fff::/20', 'a documentation address'],
  ['5f00::/16', 'a segment routing address'],
]);
/** The allocated public part of IPv6. */
const globalUnicast = parseRange('2000::/3');
const loopback = [parseRange('127.0.0.0/8'), parseRange('::1/128')];

/**
 * @param host address that the server listens on: if only this machine can reach it, loopback receivers are allowed
 * @param otherHosts hosts under which callers reach the server through a proxy: strangers may then set webhooks, so
 * loopback receivers are not allowed
 * @param isBehindProxy whether there is a proxy, under whatever host
 * @param allowedCidrs ranges to allow anyway; already validated by the settings
 */
export function createTargetPolicy({
  host,
  otherHosts = [],
  isBehindProxy = false,
  allowedCidrs,
  onRefused = () => {},
}: {
  host: string;
  otherHosts?: readonly string[];
  isBehindProxy?: boolean;
  allowedCidrs: readonly string[];
  onRefused?: TargetPolicy['onRefused'];
}): TargetPolicy {
  const allowLoopback = !isBehindProxy && [host, ...otherHosts].every(isLoopback);
  return { allowLoopback, allowed: allowedCidrs.map(parseRange), onRefused };
}

/** Whether a host can be reached only from this machine, judging by its name. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '');
  if (!ipaddr.isValid(bare)) return bare === 'localhost';
  return loopback.some((range) => isWithin(ipaddr.parse(bare), range));
}

const WEB_SCHEMES: readonly string[] = ['http', 'https'];

/**
 * Vets a URL without resolving its name.
 * @param schemes those that the URL may have. Its host is normalized in the result, whatever the scheme.
 */
export function checkUrl(raw: string, policy: TargetPolicy, schemes = WEB_SCHEMES): Verdict {
  if (raw.length > MAX_URL_LENGTH) return refuse('too_long', `The URL is longer than ${MAX_URL_LENGTH} characters`);
  // The URL parser is too lenient: `http:host`, backslashes and line breaks would pass.
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^/\\\s]/i.test(raw) || /[\s\\]/.test(raw) || !URL.canParse(raw)) {
    return refuse('not_absolute', `"${raw.slice(0, 100)}" is not an absolute URL, such as https://example.com/hooks`);
  }
  const url = new URL(raw);
  const scheme = url.protocol.slice(0, -1);
  if (!schemes.includes(scheme)) return refuse('scheme', `The URL must use ${schemes.join(' or ')}, not ${scheme}`);
  if (url.username !== '' || url.password !== '') {
    return refuse('credentials', 'The URL must not contain a user name or password');
  }
  // The parser normalizes every spelling of an IPv4 address (octal, hexadecimal, one number), but only in web URLs.
  const asWeb = `http://${url.hostname}/`;
  if (!URL.canParse(asWeb)) return refuse('not_absolute', `"${url.hostname.slice(0, 100)}" is not a host`);
  if (!WEB_SCHEMES.includes(scheme)) url.hostname = new URL(asWeb).hostname;
  const host = hostOf(url);
  if (/(^|\.)localhost$/i.test(host))
    return policy.allowLoopback ? { ok: true, url } : refuseAddress(host, 'this machine');
  if (!ipaddr.isValid(host)) return { ok: true, url };
  const why = refusalOf(host, policy);
  return why === undefined ? { ok: true, url } : refuseAddress(host, why);
}

/** Returns the host of a URL as sockets expect it: without the brackets of IPv6 and the final dot of a name. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}

/**
 * Returns the origin of a URL of any scheme, such as `amqp://example.com:5672`. `URL.origin` has only those of the web.
 */
export function originOf(url: string): string {
  if (!URL.canParse(url)) return url;
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}

/**
 * A name does not resolve to an allowed address. The message reveals nothing more, because an account must not learn
 * whether an internal name exists and where it leads. The policy's `onRefused` gets the reason.
 */
export class TargetRefused extends Error {
  readonly code = 'ERR_TARGET_REFUSED';

  constructor(host: string) {
    super(
      `The name ${host} does not resolve to a public address: it does not exist, cannot be resolved right now, or resolves to an address that WEBHOOK_ALLOWED_CIDRS does not open. The server log says which`,
    );
  }
}

/** Lookup errors of this machine, which say nothing about the name. */
const LOCAL_FAULTS: ReadonlySet<string | undefined> = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EAI_MEMORY']);

export type Lookup = (
  hostname: string,
  options: LookupOptions & { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/**
 * A `lookup` for `net.connect`: resolves all addresses of a name and refuses if any of them is not allowed. The
 * returned addresses are the ones that are dialed, so a name server that changes its answer gains nothing.
 */
export function createLookup(policy: TargetPolicy, lookup: Lookup = systemLookup) {
  return (
    hostname: string,
    options: LookupOptions,
    callback: (error: Error | null, address: string | LookupAddress[], family?: number) => void,
  ): void => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      const fault = error && localFault(error);
      if (fault) {
        callback(fault, []);
        return;
      }
      const reason = error === null ? refusalOfAny(addresses, policy) : (error.code ?? error.message);
      if (reason !== undefined) {
        policy.onRefused({ host: hostname, reason });
        callback(new TargetRefused(hostname), []);
        return;
      }
      const [first] = addresses;
      if (options.all === true || first === undefined) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}

/** Without free file descriptors, a resolver reports that a name does not exist. Opening a file shows which it is. */
function localFault(error: NodeJS.ErrnoException): NodeJS.ErrnoException | undefined {
  if (LOCAL_FAULTS.has(error.code)) return error;
  try {
    closeSync(openSync('/dev/null', 'r'));
    return undefined;
  } catch (cause) {
    return LOCAL_FAULTS.has(thrownCode(cause)) ? thrownError(cause) : undefined;
  }
}

function refusalOfAny(addresses: readonly LookupAddress[], policy: TargetPolicy): string | undefined {
  for (const { address } of addresses) {
    const why = refusalOf(address, policy);
    if (why !== undefined) return refusalMessage(address, why);
  }
  return undefined;
}

/** The reason why an address is refused; undefined if it may be used. */
export function refusalOf(text: string, policy: TargetPolicy): string | undefined {
  // A zone names an interface of this machine: only link-local addresses have one.
  const address = ipaddr.parse(text.replace(/%.*$/, ''));
  const metadataRange = metadata.find(({ range }) => isWithin(address, range));
  if (metadataRange !== undefined) {
    const isNamed = policy.allowed.some(
      ([base, bits]) => bits === metadataRange.range[1] && isWithin(address, [base, bits]),
    );
    return isNamed ? undefined : metadataRange.reason;
  }
  if (policy.allowed.some((range) => isWithin(address, range))) return undefined;
  if (policy.allowLoopback && loopback.some((range) => isWithin(address, range))) return undefined;
  const found = refused.find(({ range }) => isWithin(address, range));
  if (found !== undefined) return found.reason;
  if (address.kind() === 'ipv4') return undefined;
  if (!isWithin(address, globalUnicast)) return 'outside the public part of IPv6';
  // RFC 5214: an interface id of 0000:5efe or 0200:5efe, followed by an IPv4 address.
  const parts = (address as ipaddr.IPv6).parts;
  return ((parts[4] ?? 0) & 0xfdff) === 0 && parts[5] === 0x5efe ? 'an ISATAP address (RFC 5214)' : undefined;
}

function refuse(rule: TargetRule, message: string): Verdict {
  return { ok: false, rule, message };
}

function refuseAddress(host: string, why: string): Verdict {
  return refuse('address', refusalMessage(host, why));
}

function refusalMessage(address: string, why: string): string {
  return `The address ${address} is not allowed because it is ${why}; WEBHOOK_ALLOWED_CIDRS can open it`;
}

/** Whether a range has loopback addresses only. */
export function isLoopbackRange([base, bits]: Range): boolean {
  return loopback.some(([from, least]) => bits >= least && isWithin(base, [from, least]));
}

/** An IPv4 range does not cover IPv6 forms that embed its addresses: those need an IPv6 range. */
function isWithin(address: Address, [base, bits]: Range): boolean {
  return address.kind() === base.kind() && address.match(base, bits);
}

function ranges(table: readonly (readonly [cidr: string, reason: string])[]) {
  return table.map(([cidr, reason]) => ({ range: parseRange(cidr), reason }));
}

function parseRange(cidr: string): Range {
  return ipaddr.parseCIDR(cidr);
}
