import { resolve } from 'node:path';
import ipaddr from 'ipaddr.js';
import { type AddressRange, parseAddressRange } from './egress/addressRanges.ts';

export interface Kind<T> {
  /** Describes the values. */
  readonly type: string;
  /** Throws an `Error` whose message completes the sentence "ENV …". */
  readonly parse: (text: string) => T;
}

/** @param read returns undefined for an invalid text, which the error repeats: do not use it for secrets */
function kind<T>(type: string, read: (text: string) => T | undefined): Kind<T> {
  return {
    type,
    parse(text) {
      const value = read(text);
      if (value === undefined) throw new Error(`must be ${type}, not "${withoutLogin(text)}"`);
      return value;
    },
  };
}

/** Hides the user name and the password of a URL. */
const withoutLogin = (text: string) => text.replace(/\/\/.*@/, '//[hidden]@');

/** @param read returns undefined for an invalid item */
function listOf<T>(items: string, read: (item: string) => T | undefined): Kind<readonly T[]> {
  const item = kind(`a comma-separated list of ${items}`, read);
  const parse = (text: string) => text.split(',').flatMap((one) => (one.trim() === '' ? [] : [item.parse(one.trim())]));
  return { type: item.type, parse };
}

const matching = (pattern: RegExp) => (text: string) => (pattern.test(text) ? text : undefined);

/** An empty text is read as undefined. */
export function optional<T>({ type, parse }: Kind<T>): Kind<T | undefined> {
  return { type, parse: (text) => (text === '' ? undefined : parse(text)) };
}

export function number(least: number, most: number): Kind<number> {
  return kind(`a whole number from ${least} to ${most}`, wholeNumber(least, most));
}

const wholeNumber = (least: number, most: number) => (text: string) =>
  /^\d+$/.test(text) && Number(text) >= least && Number(text) <= most ? Number(text) : undefined;

export function oneOf<const T extends string>(...values: T[]): Kind<T> {
  return kind(`one of ${values.join(', ')}`, (text) => values.find((word) => word === text));
}

const switched = oneOf('on', 'off');
export const onOff: Kind<boolean> = { type: switched.type, parse: (text) => switched.parse(text) === 'on' };

const proxies = listOf('addresses or networks such as 10.0.0.2 or 10.0.0.0/8', parseAddressRange);
/** True for any proxy, false for none. */
export const trustedProxies: Kind<boolean | readonly AddressRange[]> = {
  type: `on, off, or ${proxies.type}`,
  parse: (text) => (text === 'on' || text === 'off' ? text === 'on' : proxies.parse(text)),
};

export const text: Kind<string> = { type: 'text', parse: (text) => text };
export const path: Kind<string> = { type: 'a path', parse: (text) => resolve(text) };
export const packages = listOf('package names or paths', (item) => item);
export const bucket = kind('a bucket, or bucket/prefix', matching(/^[\w.-]*(\/[\w.-]+)*$/));
export const graphVersion = kind('a version such as v26.0', matching(/^v\d{1,3}\.\d{1,2}$/));
export const cidrs = listOf('ranges such as 10.0.0.0/8', (item) => (ipaddr.isValidCIDR(item) ? item : undefined));
export const hostNames = listOf('host names such as chat.example.com, without a port', matching(/^(\*|[\w.-]+)$/));

export const httpUrl = kind('an http or https URL such as https://example.com', (text) => {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) ? url : undefined;
});

export const origin = kind('an http or https URL without a path, such as http://10.0.0.5:8080', (text) => {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.pathname + url.search === '/' ? url : undefined;
});

/** Exact origins of web pages, as browsers send them in `Origin`. */
export const webOrigins = listOf('origins such as https://app.example.com, without a path or *', (item) =>
  /^https?:[^*]*$/.test(item) && URL.parse(item)?.origin === item ? item : undefined,
);

export const socketUrl = kind('a ws or wss URL such as ws://127.0.0.1:9000', (text) =>
  /^wss?:\/\//.test(text) && URL.canParse(text) ? text : undefined,
);

export const hostName = kind('a host such as mmg.whatsapp.net, with a port if not 443', (text) =>
  URL.parse(`https://${text}`)?.host === text ? text : undefined,
);

/** Three numbers, such as 2.3000.1043857760. */
export type WebVersion = readonly [number, number, number];
export type WebVersionSetting = WebVersion | 'auto' | 'off';

export const clientVersion = kind<WebVersionSetting>(
  'auto, off, or three numbers such as 2.3000.1043857760',
  (text) => {
    if (text === 'auto' || text === 'off') return text;
    const [, first, second, third] = /^(\d{1,9})\.(\d{1,9})\.(\d{1,15})$/.exec(text) ?? [];
    return third === undefined ? undefined : [Number(first), Number(second), Number(third)];
  },
);

const waits = listOf('waits in whole seconds such as 5,30,120', wholeNumber(1, 604_800));
export const retrySchedule: typeof waits = {
  type: waits.type,
  parse(text) {
    const seconds = waits.parse(text);
    if (seconds.length === 0) throw new Error('must contain at least one wait, such as 5,30,120');
    return seconds;
  },
};

export const secret: Kind<string> = {
  type: 'text of 32 characters or more',
  parse(text) {
    if (text !== '' && text.length < 32)
      throw new Error(`must have at least 32 characters, but has ${text.length}. Generate one: openssl rand -hex 32`);
    return text;
  },
};

/**
 * Whether the driver can decode a URL. It reads a % that begins no code as itself, but needs every code to be UTF-8.
 */
function isDecodable(url: string): boolean {
  if (/%[^a-f0-9]|%[a-f0-9][^a-f0-9]/i.test(url)) return true;
  try {
    decodeURIComponent(url.replace(/\?.*/s, ''));
    return true;
  } catch {
    return false;
  }
}

/** The value may contain a password, so no message repeats it. */
export const databaseUrl: Kind<string> = {
  type: 'a URL such as postgres://user:password@host:5432/database',
  parse(text) {
    if (text !== '' && !/^postgres(ql)?:\/\//.test(text))
      throw new Error('must start with postgres://, as in postgres://user:password@host:5432/database, or be empty');
    // A URL without a host means a Unix socket, which `canParse` rejects.
    if (text !== '' && !(URL.canParse(text.replace('@/', '@localhost/')) && isDecodable(text)))
      throw new Error('is not a valid URL; percent-encode characters such as @ : / ? # [ and % in the password');
    return text;
  },
};
