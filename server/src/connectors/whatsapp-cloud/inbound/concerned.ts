import type { CallbackDirectory } from '../../contract/business.ts';
import type { CallbackAnswer } from '../../contract/callbacks.ts';
import { accountKey, type BusinessAccount, numberKey } from '../number/businessAccount.ts';
import type { CloudOptions } from '../options.ts';
import type { Change } from './callbacks.ts';
import { isAccountField } from './notifications.ts';

/** The number whose callback URL was called. */
interface Called {
  readonly options: CloudOptions;
  readonly account: Pick<BusinessAccount, 'id'>;
  readonly callbacks: CallbackDirectory | undefined;
}

/** Collects which sessions the changes of a callback concern. */
export class Concerned {
  readonly #called: Called;
  readonly #isPassedOn: boolean;
  readonly #others = new Set<string>();
  readonly #sharers = new Set<string>();
  #unmatched = 0;

  /** @param isPassedOn another session has received the callback, so it goes no further */
  constructor(called: Called, isPassedOn: boolean) {
    this.#called = called;
    this.#isPassedOn = isPassedOn;
  }

  /** Returns whether the change concerns the called number. */
  async add(change: Change): Promise<boolean> {
    const { isOwn, peers } = await this.#find(change);
    const isOfNumber = change.value.metadata?.phone_number_id !== undefined;
    for (const sessionId of peers) (isOfNumber ? this.#others : this.#sharers).add(sessionId);
    if (!isOwn && peers.length === 0) this.#unmatched++;
    return isOwn;
  }

  answer(status: number): CallbackAnswer {
    if (this.#isPassedOn) return { status };
    const offerTo = [...this.#sharers].filter((id) => !this.#others.has(id));
    return { status, passOnTo: [...this.#others], offerTo, unmatched: this.#unmatched };
  }

  /** Meta signs the callbacks of all numbers of an app with one secret, so only sessions with this secret are peers. */
  async #find({ value, field, accountId }: Change): Promise<{ isOwn: boolean; peers: readonly string[] }> {
    const { options, account } = this.#called;
    const id = value.metadata?.phone_number_id;
    if (id !== undefined) {
      const isOwn = id === options.phoneNumberId;
      return { isOwn, peers: this.#isPassedOn || isOwn ? [] : await this.#peers(numberKey(id)) };
    }
    if (accountId === undefined) return { isOwn: true, peers: [] };
    const ownAccount = await account.id();
    const isShared = isAccountField(field) && !this.#isPassedOn;
    const sharers = isShared || ownAccount === undefined ? await this.#peers(accountKey(accountId)) : [];
    // While the account of this number is unknown, an account that another session has registered is not this one.
    const isOwn = ownAccount === undefined ? sharers.length === 0 : ownAccount === accountId;
    return { isOwn, peers: isShared ? sharers : [] };
  }

  async #peers(key: string): Promise<readonly string[]> {
    return (await this.#called.callbacks?.peers(key, 'appSecret')) ?? [];
  }
}
