import type { Agent as HttpsAgent } from 'node:https';
import { HttpsProxyAgent } from 'https-proxy-agent';
import { SocksProxyAgent } from 'socks-proxy-agent';
import { Agent, buildConnector, type Dispatcher, ProxyAgent, Socks5ProxyAgent } from 'undici';
import { createLookup, type Lookup, type TargetPolicy } from '../../../egress/target.ts';
import { checkProxy } from './proxyUrl.ts';

/** The route to the network, direct or through a proxy, for each of the three clients that Baileys uses. */
export interface Route {
  /** For the WebSocket and for uploads; undefined without a proxy. */
  readonly agent: HttpsAgent | undefined;
  /** For downloads. */
  readonly dispatcher: Dispatcher;
  close(): Promise<void>;
}

const CONNECT_MS = 15_000;

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
