import { hostname } from 'node:os';
import ipaddr from 'ipaddr.js';
import { cacheOf } from '../cache.ts';
import type { Settings } from '../config.ts';
import { AppError } from '../errors.ts';

export interface OwnHosts {
  /** @throws {AppError} `misdirected_request` if the `Host` of a request is not allowed */
  require(host: string | undefined): void;
  /** @throws {AppError} `permission_denied` for pages of other origins, which come through a visitor's browser */
  requireOrigin(headers: Readonly<{ origin?: string | undefined; host?: string | undefined }>): void;
}

/** A name or an address, optionally with a port, without characters that would change the meaning of a URL. */
const HOST = /^(\[[\da-f:.]+\]|[^\s/@\\?#:]+)(:\d*)?$/i;
/** In `ALLOWED_HOSTS`: allows every name. */
const ANY = '*';
/** Allowed values of `Host` that are remembered, because parsing one takes 10 µs. */
const ALLOWED_KEPT = 100;

/**
 * Rejects web pages that reach this server through a visitor's browser, by a name of theirs that resolves to its
 * address (DNS rebinding). An IP address in `Host` is always accepted, because no name server can change where it
 * leads.
 */
export function createOwnHosts({
  host,
  publicUrl,
  nodeUrl,
  allowedHosts,
}: Pick<Settings, 'host' | 'publicUrl' | 'nodeUrl' | 'allowedHosts'>): OwnHosts {
  const names = new Set(
    // Without NODE_URL, other nodes use the machine's name to call a server that listens on every address.
    [host, hostname(), ...allowedHosts].map((name) => hostOf(`http://${bracketed(name)}`)),
  );
  for (const url of [publicUrl, nodeUrl]) if (url !== undefined) names.add(url.hostname);
  const has = (name: string) => isLoopback(name) || names.has(name);
  const allowed = cacheOf<true>(ALLOWED_KEPT);

  return {
    require(host = '') {
      if (allowed.has(host)) return;
      const name = HOST.test(host) ? hostOf(`http://${host}`) : '';
      if (allowedHosts.includes(ANY) || isAddress(name) || has(name)) {
        allowed.set(host, true);
        return;
      }
      throw new AppError(
        'misdirected_request',
        `The Host header "${host.slice(0, 100)}" is not one of this server's names; if callers use it, add it to ALLOWED_HOSTS or PUBLIC_URL`,
      );
    },
    requireOrigin({ origin, host = '' }) {
      if (origin === undefined) return;
      const name = hostOf(origin);
      if (name === '' || (!has(name) && name !== hostOf(`http://${host}`)))
        throw new AppError('permission_denied', 'Web pages of other origins cannot call this endpoint');
    },
  };
}

/** The host of a URL, without a port; empty for an invalid URL, such as the origin `null`. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname.replace(/\.$/, '') : '';
}

const bracketed = (host: string) => (host.includes(':') && !host.startsWith('[') ? `[${host}]` : host);

const isAddress = (name: string) => ipaddr.isValid(name.replace(/^\[|\]$/g, ''));

/** Browsers do not resolve any of these over DNS. */
const isLoopback = (name: string) => /^(.+\.)?localhost$/.test(name) || name === '127.0.0.1' || name === '[::1]';
