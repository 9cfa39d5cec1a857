import { createHmac } from 'node:crypto';
import { Pool } from 'undici';

/** A request of the product, as the receiver got it. */
interface Sample {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface SignedPost {
  /** Body of the product's request. */
  readonly body: string;
  post(id: string, body: string): Promise<void>;
}

/** The client sets these itself. */
const OF_THE_CONNECTION = ['host', 'connection', 'content-length', 'transfer-encoding'];
const SECRET = 'the secret of the benchmark';

/**
 * Signs bodies like the product and posts them through the same undici pool, with the headers of the request that the
 * receiver got last from the product.
 */
export async function createSignedPost(target: string): Promise<SignedPost> {
  const sample = (await (await fetch(`${target}/sample`)).json()) as Sample | null; // the receiver's own shape
  if (sample === null) throw new Error('the receiver has no request of the product');
  const own = Object.entries(sample.headers).filter(([name]) => !OF_THE_CONNECTION.includes(name));
  const fixed: Readonly<Record<string, string>> = Object.fromEntries(own);
  const pool = new Pool(target, { connections: null, pipelining: 1 });
  return {
    body: sample.body,
    async post(id, body) {
      const timestamp = String(Math.floor(Date.now() / 1000));
      const headers = {
        ...fixed,
        'x-webhook-id': id,
        'x-webhook-timestamp': timestamp,
        'x-webhook-signature': `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`,
        'webhook-id': id,
        'webhook-timestamp': timestamp,
        'webhook-signature': `v1,${createHmac('sha256', SECRET).update(`${id}.${timestamp}.${body}`).digest('base64')}`,
      };
      const answer = await pool.request({ method: 'POST', path: '/hook', headers, body });
      await answer.body.dump();
    },
  };
}

/** Returns an id of the product's length. */
export const eventId = (n: number) => `evt_${String(n).padStart(26, '0')}`;
