import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../clock.ts';

/** Marks a forwarded request, so that it is not forwarded again. The value is the node that forwarded it. */
export const FORWARDED_BY = 'x-switchboard-forwarded-by';
/**
 * The session that the forwarding node has derived from the input. It is not signed: the caller could as well name the
 * session in the input.
 */
export const DERIVED_SESSION = 'x-switchboard-derived-session';
/** `v1,<ms since the epoch>,<HMAC-SHA256>`. */
export const NODE_SIGNATURE = 'x-switchboard-node-signature';

/** How far the clocks of nodes may differ. */
const MAX_AGE_MS = 15 * 60_000;

export interface SignedRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly body: string | Buffer;
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Signs requests between nodes, with a key derived from the secret that only the nodes of a deployment share. */
export class NodeSignatures {
  readonly #key: Buffer;
  readonly #nodeId: string;
  readonly #clock: Clock;

  constructor(secret: string, nodeId: string, clock: Clock) {
    this.#key = Buffer.from(hkdfSync('sha256', secret, '', 'switchboard: requests between nodes', 32));
    this.#nodeId = nodeId;
    this.#clock = clock;
  }

  sign(request: SignedRequest, receiver: string): Record<string, string> {
    const at = this.#clock.now();
    const mac = this.#mac({ ...request, sender: this.#nodeId, receiver, at }).toString('base64url');
    return { [FORWARDED_BY]: this.#nodeId, [NODE_SIGNATURE]: `v1,${at},${mac}` };
  }

  /** Whether a node with the secret signed the request for this node. */
  verify(request: SignedRequest, headers: Headers): boolean {
    const { [FORWARDED_BY]: sender, [NODE_SIGNATURE]: signature } = headers;
    if (typeof sender !== 'string' || typeof signature !== 'string') return false;
    const [, time, mac = ''] = /^v1,(\d{1,16}),([\w-]{43})$/.exec(signature) ?? [];
    const at = Number(time);
    if (!(Math.abs(this.#clock.now() - at) <= MAX_AGE_MS)) return false;
    const right = this.#mac({ ...request, sender, receiver: this.#nodeId, at });
    return timingSafeEqual(Buffer.from(mac, 'base64url'), right);
  }

  #mac({ method, path, body, ...about }: SignedRequest & { sender: string; receiver: string; at: number }): Buffer {
    const digest = createHash('sha256').update(body).digest('hex');
    const text = ['v1', about.sender, about.receiver, about.at, method, path, digest].join('\n');
    return createHmac('sha256', this.#key).update(text).digest();
  }
}
