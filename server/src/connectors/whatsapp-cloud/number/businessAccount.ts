import { AppError } from '../../../errors.ts';
import type { SessionHost } from '../../contract/host.ts';
import type { CloudOptions } from '../options.ts';

const KEY = 'business account';

/**
 * The WhatsApp Business account of the number: from the options, or else as Meta has named it in the status of the
 * number or in a callback.
 */
export class BusinessAccount {
  readonly #host: Pick<SessionHost, 'store' | 'callbacks'>;
  readonly #options: CloudOptions;
  #id: string | undefined;
  #hasRead = false;

  constructor(host: Pick<SessionHost, 'store' | 'callbacks'>, options: CloudOptions) {
    this.#host = host;
    this.#options = options;
    this.#id = options.businessAccountId;
  }

  /** Returns undefined while it is unknown. */
  async id(): Promise<string | undefined> {
    if (this.#id === undefined && !this.#hasRead) {
      const [number, id] = (await this.#host.store.get(KEY))?.split(' ') ?? [];
      // The session may have had another number.
      if (number === this.#options.phoneNumberId) this.#id ??= id;
      this.#hasRead = true;
    }
    return this.#id;
  }

  /** @throws {AppError} `session_state` */
  async require(): Promise<string> {
    const id = await this.id();
    if (id !== undefined) return id;
    throw new AppError(
      'session_state',
      'Meta has not named the WhatsApp Business account of this number; set `businessAccountId` in the options of the session and connect again',
    );
  }

  /** Keeps an id that Meta has named, unless one is known. */
  async learn(id: string): Promise<void> {
    if (!/^[1-9][0-9]{0,39}$/.test(id) || (await this.id()) !== undefined) return;
    await this.#host.store.set(KEY, `${this.#options.phoneNumberId} ${id}`);
    this.#id = id;
    await this.register();
  }

  /** Lets other sessions pass on callbacks that concern this number or its account. */
  async register(): Promise<void> {
    const id = await this.id();
    const keys = [numberKey(this.#options.phoneNumberId), ...(id === undefined ? [] : [accountKey(id)])];
    await this.#host.callbacks?.register(keys);
  }

  async unregister(): Promise<void> {
    await this.#host.callbacks?.register([]);
  }
}

export const numberKey = (phoneNumberId: string): string => `number:${phoneNumberId}`;
export const accountKey = (id: string): string => `account:${id}`;
