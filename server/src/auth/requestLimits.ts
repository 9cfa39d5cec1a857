import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { Caller } from './authenticate.ts';
import { type Allowance, Buckets } from './buckets.ts';
import { networkOf } from './network.ts';

/** The subject of a request's limits: a credential, or the address if there is none. */
interface Requester {
  readonly caller: Caller | undefined;
  readonly address: string;
}

/** The allowance of the limit that is reached first. */
export interface RequestAllowance extends Allowance {
  readonly of: 'credential' | 'account';
}

interface PerMinute {
  readonly perCredential: number;
  /** Twice the limit of a credential by default. */
  readonly perAccount: number | undefined;
}

/** Limits requests per credential, and per account across all of its credentials. */
export class RequestLimits {
  readonly #credentials: Buckets;
  readonly #accounts: Buckets;

  constructor({ perCredential, perAccount = 2 * perCredential }: PerMinute, clock: Clock) {
    this.#credentials = new Buckets(perCredential, clock);
    this.#accounts = new Buckets(perAccount, clock);
  }

  /** Takes `count` requests from both limits, or from neither. */
  take({ caller, address }: Requester, count = 1): RequestAllowance {
    const key = caller === undefined ? `address:${networkOf(address)}` : credentialKey(caller);
    const ofCredential: RequestAllowance = { ...this.#credentials.take(key, count), of: 'credential' };
    if (!ofCredential.allowed || caller === undefined) return ofCredential;
    const ofAccount: RequestAllowance = { ...this.#accounts.take(caller.accountId, count), of: 'account' };
    if (!ofAccount.allowed) this.#credentials.giveBack(key, count);
    const isTighter = ofAccount.limit > 0 && (ofCredential.limit === 0 || ofAccount.remaining < ofCredential.remaining);
    return isTighter ? ofAccount : ofCredential;
  }
}

export function rateLimited({ limit, of, resetSeconds }: RequestAllowance): AppError {
  return new AppError('rate_limited', `This ${of} is limited to ${limit} requests per minute`, {
    retryAfterSeconds: resetSeconds,
  });
}

function credentialKey({ accountId, credential }: Caller): string {
  return credential.type === 'api_key' ? credential.keyId : `jwt:${accountId}`;
}
