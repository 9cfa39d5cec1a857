import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import { type KeyScope, type Limited, scopeOf } from './keyScope.ts';
import { allows, type Permission } from './permissions.ts';

export interface Watch {
  /** Aborted by an `unauthorized` or `permission_denied` error when the credential no longer permits the call. */
  readonly signal: AbortSignal;
  close(): void;
}

/** How late a missed change on another node takes effect. */
const CHECK_EVERY_MS = 15_000;

interface Permits {
  readonly permissions: readonly string[];
  readonly scope: KeyScope | undefined;
  readonly expiresAt: number;
}

type Find = (credential: string) => Promise<Permits>;

/**
 * Ends waiting calls (streams, sockets and long polls) when their credential is revoked, replaced, expires, loses the
 * permission or gets other limits: at once when a change is announced, and at the time of its expiry.
 */
export class CredentialWatches {
  readonly #find: Find;
  readonly #clock: Clock;
  readonly #open = new Set<WatchedCall>();

  constructor(find: Find, clock: Clock) {
    this.#find = find;
    this.#clock = clock;
  }

  open(caller: Limited, credential: string, permission: Permission | null): Watch {
    const call = new WatchedCall(caller, () => this.#find(credential), permission, this.#clock);
    this.#open.add(call);
    void call.check();
    return {
      signal: call.signal,
      close: () => {
        call.close();
        this.#open.delete(call);
      },
    };
  }

  check(accountId?: string): void {
    for (const call of this.#open) if (accountId === undefined || call.accountId === accountId) void call.check();
  }
}

class WatchedCall {
  readonly accountId: string;
  readonly #find: () => Promise<Permits>;
  readonly #permission: Permission | null;
  readonly #scope: string | undefined;
  readonly #clock: Clock;
  readonly #ended = new AbortController();
  #cancelTimer = () => {};
  #isClosed = false;
  /** Only the newest check counts: an earlier one may have read the old credential. */
  #checks = 0;

  constructor(caller: Limited, find: () => Promise<Permits>, permission: Permission | null, clock: Clock) {
    this.accountId = caller.accountId;
    this.#find = find;
    this.#permission = permission;
    this.#scope = scopeOf(caller)?.text;
    this.#clock = clock;
  }

  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelTimer();
  }

  async check(): Promise<void> {
    this.#cancelTimer();
    const number = ++this.#checks;
    const outcome = await this.#look();
    if (this.#isClosed || number !== this.#checks) return;
    if (outcome instanceof AppError) this.#ended.abort(outcome);
    else this.#cancelTimer = this.#clock.after(outcome, () => void this.check());
  }

  /** @returns milliseconds until the next check, or the error that ends the call */
  async #look(): Promise<number | AppError> {
    try {
      const { permissions, scope, expiresAt } = await this.#find();
      if (this.#permission !== null && !allows(permissions, this.#permission))
        return new AppError('permission_denied', `This requires the permission ${this.#permission}`);
      if (scope?.text !== this.#scope)
        return new AppError('permission_denied', 'The limits of the API key were changed; repeat the request');
      return Math.min(CHECK_EVERY_MS, expiresAt - this.#clock.now());
    } catch (error) {
      // An unavailable database says nothing about a credential.
      return error instanceof AppError && error.code === 'unauthorized' ? error : CHECK_EVERY_MS;
    }
  }
}
