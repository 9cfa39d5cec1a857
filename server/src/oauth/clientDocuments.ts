import { buffer } from 'node:stream/consumers';
import { checkUrl, createLookup, isLoopbackRange, type TargetPolicy } from '../egress/target.ts';
import { isFields } from '../objects.ts';
import { version } from '../version.ts';
import { readClientMetadata } from './clientMetadata.ts';

const TIMEOUT_MS = 5000;
const MAX_BYTES = 16 * 1024;

/**
 * Fetches client ID metadata documents. Strangers choose the URL, so it is vetted like a webhook's (see
 * `egress/target.ts`): only https, no redirects, no private addresses, and limits of size and time.
 */
export class ClientDocuments {
  readonly #policy: TargetPolicy;

  constructor(policy: TargetPolicy) {
    // The ranges that WEBHOOK_ALLOWED_CIDRS opens are for accounts, and not for everybody who knows the address. A page
    // in a browser on this machine can begin a request too, so loopback is open only if the operator lists it.
    const allowed = policy.allowLoopback ? policy.allowed.filter(isLoopbackRange) : [];
    this.#policy = { ...policy, allowed, allowLoopback: allowed.length > 0 };
  }

  /** @throws {Error} if the document cannot be fetched, or is not valid */
  async fetch(address: string): Promise<Response> {
    const verdict = checkUrl(address, this.#policy, ['https']);
    if (!verdict.ok) throw new Error(verdict.message);
    const { Agent, request } = await import('undici');
    const agent = new Agent({
      connect: { lookup: createLookup(this.#policy), timeout: TIMEOUT_MS },
      maxResponseSize: MAX_BYTES,
    });
    try {
      const { statusCode, headers, body } = await request(verdict.url, {
        headers: {
          accept: 'application/json',
          'accept-encoding': 'identity',
          'user-agent': `Switchboard/${version}`,
        },
        dispatcher: agent,
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      const text = (await buffer(body)).toString();
      if (statusCode !== 200) throw new Error(`The document answered with status ${statusCode}`);
      const cacheControl = headers['cache-control'];
      return Response.json(readDocument(text), {
        headers: typeof cacheControl === 'string' ? { 'cache-control': cacheControl } : {},
      });
    } finally {
      await agent.destroy();
    }
  }
}

/** Keeps only what this server needs. The caller compares `client_id` with the URL. */
function readDocument(text: string) {
  const given: unknown = JSON.parse(text);
  const metadata = readClientMetadata(given);
  const { client_id, token_endpoint_auth_method: method = 'none' } = isFields(given) ? given : {};
  if (method !== 'none')
    throw new Error('The client uses a token_endpoint_auth_method that this server does not support; it supports none');
  return { ...metadata, client_id };
}
