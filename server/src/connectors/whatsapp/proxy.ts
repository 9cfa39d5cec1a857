import type { Agent } from 'node:https';
import { HttpsProxyAgent } from 'https-proxy-agent';
import { SocksProxyAgent } from 'socks-proxy-agent';
import { type Dispatcher, ProxyAgent, Socks5ProxyAgent } from 'undici';
import { invalidField } from '../../errors.ts';

/** The way through a proxy, for each of the three ways in which Baileys speaks to the network. */
export interface ProxyRoute {
  /** For the WebSocket and for uploads. */
  readonly agent: Agent;
  /** For downloads. */
  readonly dispatcher: Dispatcher;
}

/** What a proxy's URL looks like: perhaps a name and password, a host and perhaps a port, and no path. */
export const PROXY_PATTERN =
  '^(https?|socks5h?)://(([^\\s/?#@%]|%[0-9A-Fa-f]{2})*@)?([^\\s/?#@%:\\[\\]]+|\\[[0-9A-Fa-f:.]+\\])(:[0-9]{1,5})?/?$';

/**
 * @param url `http://`, `https://`, `socks5://` or `socks5h://`, with name and password where the proxy wants them
 * @throws {AppError} `validation_failed`, which does not repeat the URL: there may be a password in it
 */
export function openProxy(url: string): ProxyRoute {
  try {
    const isSocks = url.startsWith('socks');
    // Either agent is one for http and https; Baileys' type names the one it uses.
    const agent = (isSocks ? new SocksProxyAgent(url) : new HttpsProxyAgent(url)) as unknown as Agent;
    const dispatcher = isSocks ? new Socks5ProxyAgent(url.replace(/^socks5h:/, 'socks5:')) : new ProxyAgent(url);
    return { agent, dispatcher };
  } catch {
    throw invalidField('options.proxy', 'The address of the proxy is no URL');
  }
}

export async function closeProxy({ agent, dispatcher }: ProxyRoute): Promise<void> {
  agent.destroy();
  await dispatcher.destroy();
}
