import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate } from 'node:timers/promises';
import type { AuthenticationCreds, SocketConfig } from 'baileys';
import { Slots } from '../../../async.ts';

type MakeRepository = SocketConfig['makeSignalRepository'];

/** Beginning a session computes for some milliseconds, and encrypting for a device for less than one. */
const HANDLED_PER_TURN = 4;
/** A check only reads. */
const CHECKED_PER_TURN = 16;

/**
 * Splits the encryption of one message for many devices. Baileys encrypts for all of them between two turns of the
 * event loop, and the whole server would stand still: for seconds in the first message to a group of 1,024 members.
 *
 * Each device is handled in its own transaction, whose lock keeps received messages of that device out. In the one
 * transaction of the whole message, a session would be written as it was read, over what a received message has
 * changed.
 */
export class SignalTurns {
  readonly #creds: Pick<AuthenticationCreds, 'me'>;
  readonly #slots = new Slots(HANDLED_PER_TURN);
  readonly #outside = AsyncLocalStorage.snapshot();
  #checked = 0;

  constructor(creds: Pick<AuthenticationCreds, 'me'>) {
    this.#creds = creds;
  }

  /** Makes a repository that handles the devices in several turns of the event loop. */
  readonly split =
    (make: MakeRepository): MakeRepository =>
    (...args) => {
      const repository = make(...args);
      return {
        ...repository,
        validateSession: async (jid) => {
          if (++this.#checked % CHECKED_PER_TURN === 0) await setImmediate();
          return repository.validateSession(jid);
        },
        injectE2ESession: (options) => this.#handle(() => repository.injectE2ESession(options)),
        encryptMessage: (options) =>
          // The whole message's transaction holds the lock of this id.
          options.jid === this.#creds.me?.id
            ? repository.encryptMessage(options)
            : this.#handle(() => repository.encryptMessage(options)),
      };
    };

  #handle<T>(work: () => Promise<T>): Promise<T> {
    return this.#slots.run(async () => {
      try {
        return await this.#outside(work);
      } finally {
        await setImmediate();
      }
    });
  }
}
