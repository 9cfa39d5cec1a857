import type { Agent as HttpsAgent } from 'node:https';
import { HttpsProxyAgent } from 'https-proxy-agent';
import { SocksProxyAgent } from 'socks-proxy-agent';
import { Agent, buildConnector, type Dispatcher, ProxyAgent, Socks5ProxyAgent } from 'undici';
import { invalidField } from '../../../errors.ts';
import { checkUrl, createLookup, type Lookup, type TargetPolicy } from '../../../target.ts';

/** The route to the network, direct or through a proxy, for each of the three clients that Baileys uses. */
export interface Route {
  /** For the WebSocket and for uploads; undefined without a proxy. */
  readonly agent: HttpsAgent | undefined;
  /** For downloads. */
  readonly dispatcher: Dispatcher;
  close(): Promise<void>;
}

/** A proxy's URL: an optional name and password, a host, an optional port, and no path. */
export const PROXY_PATTERN =
  '^(https?|socks5h?)://(([^\\s/?#@%]|%[0-9A-Fa-f]{2})*@)?([^\\s/?#@%:\\[\\]]+|\\[[0-9A-Fa-f:.]+\\])(:[0-9]{1,5})?/?$';

const CONNECT_MS = 15_000;

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

/**
 * @param resolve a name server; that of the machine by default
 * @throws {AppError} `validation_failed`
 */
export function openRoute(proxy: string | undefined, targets: TargetPolicy, resolve?: Lookup): Route {
  const lookup = createLookup(targets, resolve);
  if (proxy === undefined) {
    const dispatcher = new Agent({ connect: { lookup, timeout: CONNECT_MS } });
    return { agent: undefined, dispatcher, close: () => dispatcher.destroy() };
  }
  checkProxy(proxy, targets);
  const isSocks = proxy.startsWith('socks');
  const agent = isSocks
    ? new SocksProxyAgent(proxy, { socketOptions: { lookup } })
    : new HttpsProxyAgent(proxy, { lookup });
  const dispatcher = isSocks
    ? new Socks5ProxyAgent(proxy.replace(/^socks5h:/, 'socks5:'), { connect: buildConnector({ lookup }) })
    : new ProxyAgent({ uri: proxy, proxyTls: { lookup } });
  return {
    // Both agents support http and https; the type of Baileys names only the one that it uses.
    agent: agent as unknown as HttpsAgent,
    dispatcher,
    async close() {
      agent.destroy();
      await dispatcher.destroy();
    },
  };
}
