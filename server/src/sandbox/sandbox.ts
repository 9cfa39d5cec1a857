import { Type } from 'typebox';
import { capabilityNames } from '../connectors/contract/capabilities.ts';
import type { Connection } from '../connectors/contract/connection.ts';
import type { Connector } from '../connectors/contract/connector.ts';
import { messageTypes } from '../connectors/contract/content.ts';
import type { SessionHost } from '../connectors/contract/host.ts';
import type { NetworkPerson } from '../connectors/contract/people.ts';
import { historyOptions } from '../connectors/historyOptions.ts';
import { whatsappMediaRules } from '../connectors/mediaRules.ts';
import { WARM_UP } from '../connectors/sendBudget.ts';
import { callsOption, channelsOption, statusesOption } from '../connectors/socialOptions.ts';
import type { SteadyClock } from '../steadyClock.ts';
import { personOf } from './account.ts';
import { SandboxConnection } from './connection.ts';
import { NEW_CHATS_PER_DAY } from './limits.ts';
import { Mailboxes, type MailboxOptions } from './mailboxes.ts';
import { SandboxNetwork } from './network.ts';

/** The name of the network. No other connector can have it. */
export const SANDBOX = 'sandbox';

interface Options extends MailboxOptions {
  readonly steady: SteadyClock;
}

/**
 * The built-in default network, with which everything works on one machine and without an external account. A session
 * connects at once, or with `options.pairing` by QR code or pairing code as on a real network.
 */
export class Sandbox implements Connector {
  readonly name = SANDBOX;
  readonly options = Type.Object(
    {
      pairing: Type.Optional(
        Type.Boolean({ description: 'Require pairing by QR code or pairing code, like a real network.' }),
      ),
      ...historyOptions,
      newChatsPerDay: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 10_000,
          description: `How many chats the session may start in 24 hours. Default: any number, or ${NEW_CHATS_PER_DAY} with \`warmUp\`.`,
        }),
      ),
      warmUp: Type.Optional(Type.Boolean({ description: WARM_UP })),
      calls: callsOption,
      statuses: statusesOption,
      channels: channelsOption,
    },
    { additionalProperties: false },
  );
  readonly messageTypes = messageTypes;
  readonly capabilities = capabilityNames;
  readonly mediaRules = whatsappMediaRules;
  /** Start them before the first session is opened, and stop them once all are closed. */
  readonly mailboxes: Mailboxes;
  readonly #options: Options;

  constructor(options: Options) {
    this.mailboxes = new Mailboxes(options);
    this.#options = options;
  }

  /** The network uses the id that it is given. */
  messageIdOf(networkId: string): string {
    return networkId;
  }

  async personOf(digits: string): Promise<NetworkPerson> {
    return personOf(digits);
  }

  async open(host: SessionHost): Promise<Connection> {
    const network = new SandboxNetwork(host.scope, { ...this.#options, mailboxes: this.mailboxes });
    const connection = new SandboxConnection(network, host);
    await connection.open();
    return connection;
  }

  forget({ sessionId }: { readonly sessionId: string }): Promise<void> {
    return this.#options.store.release(sessionId);
  }
}
