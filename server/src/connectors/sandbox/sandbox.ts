import { Type } from 'typebox';
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import type { SteadyClock } from '../../steadyClock.ts';
import { type Connection, type Connector, messageTypes, type SessionHost } from '../connector.ts';
import { SandboxConnection } from './connection.ts';
import { Mailboxes } from './mailboxes.ts';
import { SandboxNetwork } from './network.ts';
import type { SandboxStore } from './store.ts';

interface Options {
  readonly store: SandboxStore;
  /** Wakes the other node that owns this session, because the session has mail. */
  readonly wakeOwner: (sessionId: string) => void;
  readonly clock: Clock;
  readonly steady: SteadyClock;
  readonly log: Log;
}

/**
 * The built-in default network, with which everything works on one machine and without an external account. A session
 * connects at once, or with `options.pairing` by QR code or pairing code as on a real network.
 */
export class Sandbox implements Connector {
  readonly name = 'sandbox';
  readonly options = Type.Object(
    {
      pairing: Type.Optional(
        Type.Boolean({ description: 'Require pairing by QR code or pairing code, like a real network.' }),
      ),
    },
    { additionalProperties: false },
  );
  readonly messageTypes = messageTypes;
  readonly #parts: Options & { readonly mailboxes: Mailboxes };

  constructor(options: Options) {
    this.#parts = { ...options, mailboxes: new Mailboxes(options) };
  }

  start(): void {
    this.#parts.mailboxes.start();
  }

  /** Stores events that are still in flight. Call it once the sessions are closed. */
  stop(): Promise<void> {
    return this.#parts.mailboxes.stop();
  }

  /** Reports mail that another node has stored for this session. */
  wake(sessionId: string): void {
    this.#parts.mailboxes.wake(sessionId);
  }

  /** Looks for mail of all sessions here, because a wake-up may have been missed. */
  poll(): Promise<void> {
    return this.#parts.mailboxes.poll();
  }

  async open(host: SessionHost): Promise<Connection> {
    const connection = new SandboxConnection(new SandboxNetwork(host.scope, this.#parts), host);
    await connection.open();
    return connection;
  }

  forget({ sessionId }: { readonly sessionId: string }): Promise<void> {
    return this.#parts.store.release(sessionId);
  }
}
