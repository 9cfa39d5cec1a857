import type { Clock } from '../../../clock.ts';
import type { NetworkGroup } from '../../contract/groups.ts';
import type { NetworkMedia } from '../../contract/networkMedia.ts';

/** A callback that arrives within this time is recognized as the outcome of a request of the session. */
const KEPT_MS = 5 * 60_000;
const MAX_PENDING = 1000;

export type ChangeKind = 'create' | 'delete' | 'remove' | 'subject' | 'description' | 'picture';

export interface Outcome {
  /** The group after a creation. */
  readonly group?: NetworkGroup;
  /** Reason for the failure of the whole request. */
  readonly problem?: string;
  /** Reasons for the people who could not be removed, by Meta's id of the person in the request. */
  readonly failed?: ReadonlyMap<string, string>;
}

/** A request about a group whose outcome arrives with a callback. */
export class PendingChange {
  readonly outcome: Promise<Outcome>;
  readonly settle: (outcome: Outcome) => void;
  readonly addedAt: number;
  /** Meta's id of the request, if its answer had one. */
  requestId: string | undefined;
  /** The new picture, which the callback does not contain. */
  readonly picture: NetworkMedia | undefined;
  /** The host knows the outcome already. */
  isReported = false;

  constructor(addedAt: number, picture: NetworkMedia | undefined) {
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    this.outcome = promise;
    this.settle = resolve;
    this.addedAt = addedAt;
    this.picture = picture;
  }
}

/**
 * Requests about groups that Meta has accepted and not confirmed. Some answers have an id that the callback repeats,
 * and others do not, so a request is found by its kind and its group too. The caller runs one request of a kind and
 * group at a time.
 */
export class PendingChanges {
  readonly #clock: Clock;
  readonly #pending = new Map<string, PendingChange>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @param subject the group's id, or the name of a new group */
  add(kind: ChangeKind, subject: string, picture?: NetworkMedia): PendingChange {
    const change = new PendingChange(this.#clock.now(), picture);
    const key = keyOf(kind, subject);
    this.#pending.delete(key); // so that the newest is last
    this.#pending.set(key, change);
    for (const oldest of this.#pending.keys()) if (this.#pending.size > MAX_PENDING) this.#pending.delete(oldest);
    return change;
  }

  /** Returns the request that a callback belongs to, and forgets it. */
  take(kind: ChangeKind, subject: string, requestId: string | undefined): PendingChange | undefined {
    const key = keyOf(kind, subject);
    const change = this.#pending.get(key);
    if (change === undefined) return undefined;
    if (requestId !== undefined && change.requestId !== undefined && requestId !== change.requestId) return undefined;
    this.#pending.delete(key);
    return this.#clock.now() - change.addedAt > KEPT_MS ? undefined : change;
  }

  /** Lets a repeated callback find a request whose outcome could not be stored. */
  restore(kind: ChangeKind, subject: string, change: PendingChange | undefined): void {
    const key = keyOf(kind, subject);
    if (change !== undefined && !this.#pending.has(key)) this.#pending.set(key, change);
  }

  /** Forgets a request that Meta has refused. */
  drop(kind: ChangeKind, subject: string, change: PendingChange): void {
    const key = keyOf(kind, subject);
    if (this.#pending.get(key) === change) this.#pending.delete(key);
  }
}

const keyOf = (kind: ChangeKind, subject: string) => `${kind} ${subject.trim()}`;
