import { AppError } from '../../errors.ts';
import { pinHosts } from '../../pinnedHosts.ts';
import type { TargetPolicy } from '../../target.ts';
import {
  type Connection,
  type GroupActions,
  isStandIn,
  type MessageKey,
  type NetworkChat,
  type NetworkEvent,
  type OutgoingMessage,
  type ProfileActions,
  type SessionHost,
  type TypingState,
} from '../connector.ts';
import { Journal } from './inbound/journal.ts';
import { MediaHost } from './inbound/mediaHost.ts';
import { MessageReader } from './inbound/messageReader.ts';
import { Receiver } from './inbound/receiver.ts';
import { Credentials } from './link/credentials.ts';
import { Link } from './link/link.ts';
import { loadBaileys } from './link/load.ts';
import { openRoute } from './link/proxy.ts';
import { Requests } from './link/requests.ts';
import { socketConfig } from './link/socketConfig.ts';
import { openOwnStore } from './link/store.ts';
import { Acknowledgements } from './outbound/acknowledgements.ts';
import { NetworkLimits } from './outbound/networkLimits.ts';
import { keyOf } from './outbound/outgoingContent.ts';
import { Pacing, type PacingOptions } from './outbound/pacing.ts';
import { Recipients } from './outbound/recipients.ts';
import { Sender } from './outbound/sender.ts';
import { SentMessages } from './outbound/sentMessages.ts';
import { Addresses, jidOf, jidOfChat } from './people/addresses.ts';
import { createGroupActions } from './people/groupActions.ts';
import { Groups } from './people/groups.ts';
import { createProfiles } from './people/profiles.ts';
import { Self } from './people/self.ts';
import { Reporter } from './reporter.ts';

export interface ConnectionOptions {
  /** `http://`, `https://` or `socks5://` */
  readonly proxy: string | undefined;
  readonly pacing: PacingOptions;
}

/** The settings of all sessions. */
export interface NetworkSettings {
  /**
   * The server's URL; undefined for WhatsApp's own. Never set by an account, because only TLS authenticates the server.
   */
  readonly url: string | undefined;
  /** The client version that is reported; undefined for that of Baileys. */
  readonly version: readonly [number, number, number] | undefined;
  /** The host of files, with a port if it is not 443. */
  readonly mediaHost: string;
  /** Largest file of a message. */
  readonly maxFileBytes: number;
  /** The addresses that a proxy may have. */
  readonly targets: TargetPolicy;
  readonly keepAliveMs: number;
  readonly random: () => number;
}

/** WhatsApp's own hosts: for pictures, history, and state that the devices of an account share. */
const WHATSAPP_HOSTS = '.whatsapp.net';
/** Encryption makes a file longer by up to a block and its MAC. */
const ENCRYPTION_BYTES = 26;
/** Limits how long a slow or silent host delays other files. */
const FILE_MS = 5 * 60_000;
/** Limits for the downloads of Baileys itself, all into memory. */
const OWN_BYTES = 64 * 1024 * 1024;
const OWN_MS = 60_000;

/** How long a closing session waits for the answers to its last changes. */
const DRAIN_MS = 3000;

/** The connection of one session: its actions, and its end. */
export class WhatsappConnection implements Connection {
  readonly groups: GroupActions;
  readonly profiles: ProfileActions;
  readonly #parts: Parts;
  /** Reports that the network has ended the connection, unless the host closes it. */
  readonly #lastReporter: Reporter;
  #stopping: Promise<void> | undefined;

  private constructor(parts: Parts) {
    const { host, link, credentials, reporter } = parts;
    this.groups = createGroupActions(parts);
    this.profiles = createProfiles(parts);
    this.#parts = parts;
    this.#lastReporter = new Reporter(host);
    link.on('socket', ({ ev }) => ev.on('creds.update', () => credentials.save()));
    link.on('report', (event) => reporter.reportInOrder(event));
    link.on('end', (last) => void this.#conclude(last));
  }

  /** Opens a session. Events of its link follow. */
  static async open(
    host: SessionHost,
    settings: NetworkSettings,
    options: ConnectionOptions,
  ): Promise<WhatsappConnection> {
    const parts = await createParts(host, settings, options);
    const { addresses, groups, receiver, link, config } = parts;
    const connection = new WhatsappConnection(parts);
    await addresses.start();
    await groups.start();
    await receiver.start();
    link.start(config);
    return connection;
  }

  send(message: OutgoingMessage): Promise<{ timestamp: number }> {
    return this.#parts.sender.send(message);
  }

  async markRead(chat: NetworkChat, messages: readonly { networkId: string; from: string }[]): Promise<void> {
    const { link, requests, self } = this.#parts;
    const keys = messages.map((message) => keyOf({ ...message, chat }, self.phoneNumber));
    const socket = link.requireSocket();
    await requests.ask(socket, () => socket.readMessages(keys));
  }

  async setTyping(chat: NetworkChat, state: TypingState): Promise<void> {
    const { link, requests } = this.#parts;
    const socket = link.requireSocket();
    const presence = state === 'typing' ? 'composing' : state;
    await requests.ask(socket, () => socket.sendPresenceUpdate(presence, jidOfChat(chat)));
  }

  react(message: MessageKey, emoji: string | null): Promise<void> {
    return this.#parts.sender.react(message, emoji);
  }

  edit(message: MessageKey, text: string): Promise<void> {
    return this.#parts.sender.edit(message, text);
  }

  remove(message: MessageKey): Promise<void> {
    return this.#parts.sender.remove(message);
  }

  retry(): void {
    this.#parts.link.retry();
  }

  numberOf(phoneNumber: string): string | undefined {
    return this.#parts.recipients.numberOf(phoneNumber);
  }

  async checkNumbers(phoneNumbers: readonly string[]): Promise<ReadonlySet<string>> {
    const { link, requests, recipients } = this.#parts;
    const socket = link.requireSocket();
    return requests.ask(socket, () => recipients.present(socket, phoneNumbers));
  }

  async setBlocked(phoneNumber: string, blocked: boolean): Promise<void> {
    if (blocked && isStandIn(phoneNumber))
      throw new AppError('not_supported', 'WhatsApp can block only contacts whose phone number is known');
    const { link, requests, recipients } = this.#parts;
    const socket = link.requireSocket();
    await requests.ask(socket, async () => {
      const answered = await recipients.find(socket, phoneNumber);
      await socket.updateBlockStatus(jidOf(answered), blocked ? 'block' : 'unblock');
    });
  }

  requestPairingCode(phoneNumber: string): Promise<{ code: string; expiresAt: number }> {
    return this.#parts.link.requestPairingCode(phoneNumber);
  }

  async close(): Promise<void> {
    const { link, sender } = this.#parts;
    // An edit that WhatsApp has acknowledged must be stored here as well.
    if (link.socket !== undefined) await sender.drainChanges(DRAIN_MS);
    this.#lastReporter.stop();
    await link.close();
    await this.#stop();
  }

  async logout(): Promise<void> {
    const { host, link } = this.#parts;
    this.#lastReporter.stop();
    await link.logout();
    await this.#stop();
    await host.store.clear();
  }

  /** Reports that the network has ended the connection, as the last event: the host may connect again at once. */
  async #conclude(last: NetworkEvent): Promise<void> {
    const { host, reporter } = this.#parts;
    await reporter.reported();
    await this.#stop();
    if (last.type === 'logged_out')
      await this.#lastReporter.keep('that the device was unlinked', () => host.store.clear());
    await this.#lastReporter.report(last);
  }

  /** Resolves once nothing is running and nothing writes to the store. */
  #stop(): Promise<void> {
    this.#stopping ??= this.#stopParts();
    return this.#stopping;
  }

  async #stopParts(): Promise<void> {
    const { host, reporter, receiver, credentials, route, store } = this.#parts;
    reporter.stop();
    await receiver.stop();
    await credentials.stop();
    await route.close().catch((error) => host.log.warn({ err: error }, 'failed to close the route to WhatsApp'));
    store.close();
  }
}

type Parts = Awaited<ReturnType<typeof createParts>>;

/** Creates the parts of a session, from the lowest to the highest: each gets the ones before it. */
async function createParts(host: SessionHost, settings: NetworkSettings, options: ConnectionOptions) {
  const { clock, log } = host;
  const { mediaHost, keepAliveMs, random } = settings;
  const baileys = await loadBaileys();
  const store = openOwnStore(host.store);
  const credentials = await Credentials.open(store, baileys, host);
  const { creds } = credentials;
  const self = new Self(baileys, creds);
  const reporter = new Reporter(host);

  const route = openRoute(options.proxy, settings.targets);
  const maxBytes = settings.maxFileBytes + ENCRYPTION_BYTES;
  const files = pinHosts(route.dispatcher, { hosts: [mediaHost], maxBytes, timeoutMs: FILE_MS, clock });
  const ownHosts = { hosts: [WHATSAPP_HOSTS, mediaHost], maxBytes: OWN_BYTES, timeoutMs: OWN_MS, clock };
  const dispatcher = pinHosts(route.dispatcher, ownHosts);
  const hasProxy = options.proxy !== undefined;
  const link = new Link({ baileys, creds, hasProxy, silenceMs: keepAliveMs * 1.5, random, clock, log });
  const requests = new Requests(link, clock);

  const addresses = new Addresses(baileys, link, store, host);
  const groups = new Groups({ link, requests, addresses, self, reporter, host });

  const sent = new SentMessages(store, baileys);
  const acknowledgements = new Acknowledgements(link, clock);
  const limits = new NetworkLimits(link, clock, log);
  const pacing = new Pacing(options.pacing, { clock, random, store });
  const recipients = new Recipients({ pacing, limits, addresses });
  const sender = new Sender({ baileys, link, requests, acknowledgements, pacing, recipients, sent, self, host });

  const journal = new Journal(baileys, store, host);
  const media = new MediaHost({ baileys, link, host: mediaHost, dispatcher: files, clock });
  const reader = new MessageReader({ baileys, self, addresses, groups, sent, media, log });
  const receiver = new Receiver({ baileys, link, self, journal, reader, acknowledgements, reporter, host });

  const hooks = {
    getMessage: async ({ id }: { id?: string | null }) => (id ? sent.find(id) : undefined),
    cachedGroupMetadata: async (jid: string) => groups.cached(jid),
    makeSignalRepository: journal.makeSignalRepository,
  };
  const config = socketConfig({ baileys, credentials, settings, route, dispatcher, hooks, log });
  const inner = { link, requests, self, reporter, addresses, groups, recipients, sender, receiver };
  return { host, store, creds, credentials, route, dispatcher, config, ...inner };
}
