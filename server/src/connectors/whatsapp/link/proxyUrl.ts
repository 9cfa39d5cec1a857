import { checkUrl, type TargetPolicy } from '../../../egress/target.ts';
import { invalidField } from '../../../errors.ts';

/** A proxy's URL: an optional name and password, a host, an optional port, and no path. */
export const PROXY_PATTERN =
  '^(https?|socks5h?)://(([^\\s/?#@%]|%[0-9A-Fa-f]{2})*@)?([^\\s/?#@%:\\[\\]]+|\\[[0-9A-Fa-f:.]+\\])(:[0-9]{1,5})?/?$';

/**
 * The account chooses the proxy, so it is checked like the host of a webhook: an address here, a name in each lookup.
 * @throws {AppError} `validation_failed`, which does not repeat the URL: it may contain a password
 */
export function checkProxy(proxy: string, targets: TargetPolicy): void {
  // Only the host matters here, and `checkUrl` knows the spellings of an address in http URLs.
  const verdict = checkUrl(proxy.replace(/^[^:]+:\/\/([^@]*@)?/, 'http://'), targets);
  if (verdict.ok) return;
  const message = verdict.rule === 'address' ? verdict.message : 'The proxy address is not a valid URL';
  throw invalidField('options.proxy', message, verdict.rule);
}
