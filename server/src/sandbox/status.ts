import type { NetworkEvent } from '../connectors/contract/events.ts';
import type { StatusActions, StatusEvent } from '../connectors/contract/status.ts';
import type { Phone } from './mailboxReader.ts';
import type { SandboxNetwork } from './network.ts';

interface Self extends Phone {
  /** @throws {AppError} `session_not_connected` */
  requireOnline(): void;
}

/** The statuses of a session. They reach the people of their audience like direct messages. */
export class SandboxStatus implements StatusActions {
  readonly #network: SandboxNetwork;
  readonly #self: Self;

  constructor(network: SandboxNetwork, self: Self) {
    this.#network = network;
    this.#self = self;
  }

  async post({ networkId, content, audience }: Parameters<StatusActions['post']>[0]) {
    const timestamp = this.#network.clock.now();
    const { name } = this.#self;
    const senderName = name === null ? {} : { senderName: name };
    await this.#deliver(audience, { type: 'status', ...this.#report(networkId), ...senderName, content, timestamp });
    const present = await this.#network.onNetwork(audience);
    return { timestamp, leftOut: audience.filter((number) => !present.has(number)) };
  }

  async remove(networkId: string, audience: readonly string[]): Promise<void> {
    await this.#deliver(audience, { type: 'status_deleted', ...this.#report(networkId) });
  }

  async markViewed(statuses: readonly { readonly networkId: string; readonly from: string }[]): Promise<void> {
    for (const { networkId, from } of statuses)
      await this.#deliver([from], { type: 'status_viewed', ...this.#report(networkId) });
  }

  #report(networkId: string) {
    return { networkId, from: this.#self.number, timestamp: this.#network.clock.now() };
  }

  async #deliver(people: readonly string[], event: StatusEvent): Promise<void> {
    this.#self.requireOnline();
    const { number } = this.#self;
    const to = people.filter((one) => one !== number).map((one) => this.#network.addressOf(one));
    const sentAt = this.#network.steady.now();
    await this.#network.mailboxes.deliver({ to, event, sentAt, directFrom: number, sender: this.#self });
  }
}

/** Whether a session with these options gets an event: statuses and posts only if it asks for them. */
export function isWanted({ type }: NetworkEvent, options: Readonly<Record<string, unknown>>): boolean {
  if (type === 'status' || type === 'status_deleted') return options['statuses'] === true;
  return type !== 'channel_post' || options['channels'] === true;
}
