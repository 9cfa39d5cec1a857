import { randomInt, randomUUID } from 'node:crypto';
import { Type } from 'typebox';
import type { Clock } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import type {
  Connection,
  Connector,
  GroupActions,
  NetworkEvent,
  NetworkGroup,
  OutgoingMessage,
  ParticipantAction,
  ParticipantResult,
  SessionHost,
  Simulation,
} from '../connector.ts';
import { type Phone, SandboxNetwork } from './network.ts';

const PAIRING_MS = 20_000;
const PAIRING_ROUNDS = 5;
const PAIRING_CODE_MS = 160_000;
// No 0, 1, I, L, O, U: a code is typed off a screen.
const CODE_LETTERS = '23456789ABCDEFGHJKMNPQRSTVWXYZ';

/**
 * The embedded default network, so that everything works on one machine and no outside account is needed. A session
 * connects at once, or with `options.pairing` by QR or pairing code as on a real network.
 */
export function createSandbox(clock: Clock): Connector {
  const network = new SandboxNetwork(clock);
  return {
    name: 'sandbox',
    options: Type.Object(
      {
        pairing: Type.Optional(
          Type.Boolean({ description: 'Link by QR or pairing code, as a real network wants it.' }),
        ),
      },
      { additionalProperties: false },
    ),
    remember: (linked) => network.remember(linked),
    async open(host) {
      const connection = new SandboxConnection(network, host);
      await connection.open();
      return connection;
    },
    async forget({ sessionId, phoneNumber }) {
      if (phoneNumber !== null) network.forget(phoneNumber, sessionId);
    },
  };
}

class SandboxConnection implements Connection, Phone {
  readonly #network: SandboxNetwork;
  readonly #host: SessionHost;
  #number: string;
  #isOnline = false;
  #isClosed = false;
  #isPairing = false;
  #cancelTimer = () => {};

  constructor(network: SandboxNetwork, host: SessionHost) {
    this.#network = network;
    this.#host = host;
    this.#number = host.phoneNumber ?? '';
  }

  get sessionId(): string {
    return this.#host.sessionId;
  }

  get number(): string {
    return this.#number;
  }

  receive(event: NetworkEvent): Promise<void> {
    return this.#host.onEvent(event);
  }

  async open(): Promise<void> {
    const isLinked = (await this.#host.store.get('linked')) === 'yes';
    if (this.#host.options['pairing'] === true && !isLinked) await this.#showQr(PAIRING_ROUNDS);
    else await this.#join();
  }

  async #join(): Promise<void> {
    if (this.#number === '') this.#number = this.#network.freeNumber();
    this.#network.join(this);
    this.#isOnline = true;
    await this.#host.onEvent({ type: 'connected', phoneNumber: this.#number });
    for (const group of await this.#host.groups()) this.#network.restoreGroup(group);
    for (const message of await this.#host.undelivered())
      this.#network.carry(this.#number, message, this.#host.clock.now());
    await this.#network.emptyMailbox(this);
  }

  #leave(): void {
    this.#cancelTimer();
    this.#network.leave(this);
    this.#isOnline = false;
    this.#isPairing = false;
  }

  async #showQr(roundsLeft: number): Promise<void> {
    if (roundsLeft === 0) {
      this.#isPairing = false;
      await this.receive({ type: 'disconnected', reason: 'The QR code was not scanned in time', willReconnect: false });
      return;
    }
    this.#isPairing = true;
    await this.receive({
      type: 'pairing',
      qr: `sandbox:${randomUUID()}`,
      expiresAt: this.#host.clock.now() + PAIRING_MS,
    });
    this.#cancelTimer = this.#host.clock.after(PAIRING_MS, () => {
      this.#showQr(roundsLeft - 1).catch((error) =>
        this.#host.log.error({ err: error }, 'showing the next QR code failed'),
      );
    });
  }

  async requestPairingCode(phoneNumber: string) {
    if (!this.#isPairing) throw new AppError('session_state', 'The session is not waiting to be paired');
    this.#number = phoneNumber;
    this.#cancelTimer();
    const expiresAt = this.#host.clock.now() + PAIRING_CODE_MS;
    this.#cancelTimer = this.#host.clock.after(PAIRING_CODE_MS, () => void this.#showQr(0).catch(() => {}));
    const letters = Array.from({ length: 8 }, () => CODE_LETTERS[randomInt(CODE_LETTERS.length)]).join('');
    return { code: `${letters.slice(0, 4)}-${letters.slice(4)}`, expiresAt };
  }

  async send(message: OutgoingMessage) {
    this.#requireOnline();
    const timestamp = this.#host.clock.now();
    if (message.chat.type === 'group') this.#requireMember(this.#network.group(message.chat.id));
    this.#network.carry(this.#number, message, timestamp);
    return { timestamp };
  }

  async markRead(_chat: unknown, messages: readonly { networkId: string; from: string }[]): Promise<void> {
    this.#requireOnline();
    await this.#network.read(this.#number, messages);
  }

  readonly groups: GroupActions = {
    create: async (subject, phoneNumbers) => {
      this.#requireOnline();
      return this.#createGroup(this.#number, subject, phoneNumbers);
    },
    setSubject: async (networkId, subject) => {
      const group = this.#ownGroup(networkId);
      await this.#network.changeGroup({ ...group, subject }, { type: 'subject', subject });
    },
    setDescription: async (networkId, description) => {
      const group = this.#ownGroup(networkId);
      await this.#network.changeGroup({ ...group, description }, { type: 'description', description });
    },
    updateParticipants: async (networkId, action, phoneNumbers) => {
      const group = this.#ownGroup(networkId);
      const own = group.participants.find(({ phoneNumber }) => phoneNumber === this.#number);
      if (own?.role === 'member') throw new AppError('permission_denied', 'Only an admin of the group may do this');
      const { participants, results } = changeParticipants(group, action, phoneNumbers);
      const changed = results.filter(({ ok }) => ok).map(({ phoneNumber }) => phoneNumber);
      if (changed.length > 0) {
        await this.#network.changeGroup(
          { ...group, participants },
          { type: 'participants', action, phoneNumbers: changed },
        );
      }
      return results;
    },
  };

  async #createGroup(owner: string, subject: string, phoneNumbers: readonly string[]): Promise<NetworkGroup> {
    const others = [...new Set(phoneNumbers)].filter((number) => number !== owner);
    const group: NetworkGroup = {
      networkId: `${randomUUID()}@sandbox`,
      subject,
      description: null,
      createdBy: owner,
      createdAt: this.#host.clock.now(),
      participants: [
        { phoneNumber: owner, role: 'owner' },
        ...others.map((phoneNumber) => ({ phoneNumber, role: 'member' as const })),
      ],
    };
    await this.#network.addGroup(group);
    return group;
  }

  async simulate(action: Simulation): Promise<void> {
    switch (action.action) {
      case 'pair': {
        if (!this.#isPairing) throw new AppError('session_state', 'The session is not waiting to be paired');
        this.#cancelTimer();
        await this.#join();
        this.#isPairing = false;
        await this.#host.store.set('linked', 'yes');
        return;
      }
      case 'incoming': {
        this.#requireOnline();
        const { from, message: text, group, replyTo } = action;
        if (group !== null) this.#network.group(group);
        return this.receive({
          type: 'message',
          networkId: randomUUID(),
          chat: group === null ? { type: 'direct', id: from } : { type: 'group', id: group },
          from,
          text,
          timestamp: this.#host.clock.now(),
          replyTo,
        });
      }
      case 'receipt':
        return this.receive({
          type: 'receipt',
          networkIds: [action.networkId],
          status: action.status,
          timestamp: this.#host.clock.now(),
          ...(action.status === 'failed' && { error: 'The simulated recipient could not receive it' }),
        });
      case 'disconnect': {
        this.#requireOnline();
        const { reason, reconnectAfterMs } = action;
        this.#leave();
        await this.receive({ type: 'disconnected', reason, willReconnect: reconnectAfterMs !== null });
        if (reconnectAfterMs === null) return;
        this.#cancelTimer = this.#host.clock.after(reconnectAfterMs, () => {
          if (!this.#isClosed)
            this.#join().catch((error) => this.#host.log.error({ err: error }, 'reconnecting failed'));
        });
        return;
      }
      case 'logout':
        await this.logout();
        return this.receive({ type: 'logged_out', reason: 'The device was unlinked on the phone' });
      case 'group_create':
        this.#requireOnline();
        await this.#createGroup(action.from, action.subject, [this.#number, ...action.phoneNumbers]);
        return;
      case 'group_subject': {
        const group = this.#network.group(action.group);
        return this.#network.changeGroup(
          { ...group, subject: action.subject },
          { type: 'subject', subject: action.subject },
        );
      }
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#leave();
  }

  async logout(): Promise<void> {
    await this.close();
    this.#network.forget(this.#number, this.sessionId);
    await this.#host.store.clear();
  }

  #requireOnline(): void {
    if (!this.#isOnline) throw new AppError('session_not_connected');
  }

  #ownGroup(networkId: string): NetworkGroup {
    this.#requireOnline();
    const group = this.#network.group(networkId);
    this.#requireMember(group);
    return group;
  }

  #requireMember(group: NetworkGroup): void {
    if (!group.participants.some(({ phoneNumber }) => phoneNumber === this.#number)) {
      throw new AppError('permission_denied', 'The session is not a member of the group');
    }
  }
}

/** Applies an action to each number, and says for which it worked. */
function changeParticipants(
  group: NetworkGroup,
  action: ParticipantAction,
  phoneNumbers: readonly string[],
): { participants: NetworkGroup['participants']; results: ParticipantResult[] } {
  let participants = group.participants;
  const results = [...new Set(phoneNumbers)].map((phoneNumber): ParticipantResult => {
    const present = participants.find((participant) => participant.phoneNumber === phoneNumber);
    if (action === 'add') {
      if (present !== undefined) return { phoneNumber, ok: false, reason: 'is a member already' };
      participants = [...participants, { phoneNumber, role: 'member' }];
      return { phoneNumber, ok: true };
    }
    if (present === undefined) return { phoneNumber, ok: false, reason: 'is not a member' };
    if (present.role === 'owner') return { phoneNumber, ok: false, reason: 'is the owner of the group' };
    const others = participants.filter((participant) => participant !== present);
    participants =
      action === 'remove' ? others : [...others, { phoneNumber, role: action === 'promote' ? 'admin' : 'member' }];
    return { phoneNumber, ok: true };
  });
  return { participants, results };
}
