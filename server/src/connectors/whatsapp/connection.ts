import { pinHosts } from '../../egress/pinnedHosts.ts';
import type { Connection } from '../contract/connection.ts';
import { FILE_MS } from '../contract/connector.ts';
import type { NetworkEvent } from '../contract/events.ts';
import type { SessionHost } from '../contract/host.ts';
import type { MessageKey } from '../contract/messageKey.ts';
import { HistoryImport } from './history/historyImport.ts';
import { HistoryRequests } from './history/historyRequests.ts';
import { Activity } from './inbound/activity.ts';
import { Broadcasts } from './inbound/broadcasts.ts';
import { HistoryNotifications } from './inbound/historyNotifications.ts';
import { Journal } from './inbound/journal.ts';
import { MessageReader } from './inbound/messageReader.ts';
import { Receiver } from './inbound/receiver.ts';
import { StateChanges } from './inbound/stateChanges.ts';
import { StateReads } from './inbound/stateReads.ts';
import { createBaileysLog } from './link/baileysLog.ts';
import { Credentials } from './link/credentials.ts';
import { Link } from './link/link.ts';
import { loadBaileys } from './link/load.ts';
import { OneTimeKeys } from './link/oneTimeKeys.ts';
import { openRoute } from './link/proxy.ts';
import { Requests } from './link/requests.ts';
import { SignalTurns } from './link/signalTurns.ts';
import { socketConfig } from './link/socketConfig.ts';
import { openOwnStore } from './link/store.ts';
import { Acknowledgements } from './outbound/acknowledgements.ts';
import { createChatParts } from './outbound/chatState.ts';
import { DeviceSessions } from './outbound/deviceSessions.ts';
import { chatAddressOf, keyOf } from './outbound/messageKeys.ts';
import { Pacing, type PacingOptions } from './outbound/pacing.ts';
import { Recipients } from './outbound/recipients.ts';
import { Relay } from './outbound/relay.ts';
import { Retries } from './outbound/retries.ts';
import { Sender } from './outbound/sender.ts';
import { SenderKeys } from './outbound/senderKeys.ts';
import { SharedState } from './outbound/sharedState.ts';
import { createStatusActions } from './outbound/statuses.ts';
import { createPrivacy, listDevices, lookUpPeople, readOwnProfile } from './people/account.ts';
import { AddressBook } from './people/addressBook.ts';
import { Addresses } from './people/addresses.ts';
import { createSetBlocked } from './people/blocking.ts';
import { createBusinessActions } from './people/business.ts';
import { ChangedNumbers } from './people/changedNumbers.ts';
import { createChannelActions } from './people/channels.ts';
import { createCommunityActions, previewInvite } from './people/communities.ts';
import { createGroupActions } from './people/groupActions.ts';
import { GroupPictures } from './people/groupPictures.ts';
import { Groups } from './people/groups.ts';
import { JoinRequests } from './people/joinRequests.ts';
import { MemberAddresses } from './people/memberAddresses.ts';
import { OutdatedLids } from './people/outdatedLids.ts';
import { OwnPresence } from './people/ownPresence.ts';
import { createProfiles } from './people/profiles.ts';
import { createSaveContact } from './people/savedContacts.ts';
import { Self } from './people/self.ts';
import { Reporter } from './reporter.ts';
import type { NetworkSettings, Session } from './session.ts';

/** WhatsApp's own hosts: for pictures, history, and state that the devices of an account share. */
const WHATSAPP_HOSTS = '.whatsapp.net';
/** Encryption makes a file longer by up to a block and its MAC. */
const ENCRYPTION_BYTES = 26;
/** Limits for the downloads of Baileys itself, all into memory. */
const OWN_BYTES = 64 * 1024 * 1024;
const OWN_MS = 60_000;

/** How long a closing session waits for the answers to its last changes. */
const DRAIN_MS = 3000;

/** @param proxy `http://`, `https://` or `socks5://` */
export async function openConnection(
  host: SessionHost,
  settings: NetworkSettings,
  pacing: PacingOptions,
  proxy?: string,
): Promise<Connection> {
  const parts = await createParts(host, settings, pacing, proxy);
  const life = new Life(parts);
  await life.start();
  return { ...createActions(parts), close: () => life.close(), logout: () => life.logout() };
}

type Parts = Awaited<ReturnType<typeof createParts>>;

/** Creates the parts of a session, from the lowest to the highest: each gets the ones before it. */
async function createParts(host: SessionHost, settings: NetworkSettings, limits: PacingOptions, proxy?: string) {
  const { clock } = host;
  const { whatsappMediaHost: mediaHost, random } = settings;
  const baileys = await loadBaileys();
  const store = openOwnStore(host.store);
  const credentials = await Credentials.open(store, baileys, host);
  const { creds, keys } = credentials;

  const route = openRoute(proxy, settings.targets);
  const maxBytes = settings.mediaMaxBytes + ENCRYPTION_BYTES;
  const files = pinHosts(route.dispatcher, { hosts: [mediaHost], maxBytes, timeoutMs: FILE_MS, clock });
  const ownHosts = { hosts: [WHATSAPP_HOSTS, mediaHost], maxBytes: OWN_BYTES, timeoutMs: OWN_MS, clock };
  const ownFiles = pinHosts(route.dispatcher, ownHosts);
  const { versions } = settings;
  await versions.restore(store, baileys.DEFAULT_CONNECTION_CONFIG.version);
  const versionReader = { dispatcher: route.dispatcher, route: proxy ?? '', host: { clock, log: host.log, store } };
  const link = new Link({ settings, baileys, creds, hasProxy: proxy !== undefined, host, versions, versionReader });
  const requests = new Requests(link, clock);
  const self = new Self(baileys, creds);
  const reporter = new Reporter(host);
  const shared = { settings, baileys, host, baileysLog: createBaileysLog(host), store, creds, self };
  const session: Session = { ...shared, link, requests, reporter, files, ownFiles };

  new OneTimeKeys(session);
  const addresses = new Addresses(session);
  const members = new MemberAddresses(session, addresses);
  const groups = new Groups(session, addresses, members);
  const pictures = new GroupPictures(session, groups);
  const joinRequests = new JoinRequests(session, addresses, groups);

  const acknowledgements = new Acknowledgements(session);
  const pacing = new Pacing(limits, { clock, random, store });
  const recipients = new Recipients(session, pacing, addresses);
  const changedNumbers = new ChangedNumbers(session, addresses, recipients);
  const deviceSessions = new DeviceSessions(session, new SenderKeys(session, groups));
  const outdatedLids = new OutdatedLids(session);
  const relay = new Relay({ session, acknowledgements, addresses, deviceSessions, outdatedLids });
  const sender = new Sender({ session, relay, pacing, recipients, addresses, members, groups });

  const notifications = new HistoryNotifications(session);
  const history = new HistoryImport(session, notifications, addresses, groups);
  const journal = new Journal(session, notifications);
  const retries = new Retries(session, addresses, groups);
  const reader = new MessageReader({ session, addresses, groups, members });
  const receiver = new Receiver({ session, journal, reader, acknowledgements, addresses, retries, changedNumbers });
  const activity = new Activity(session, addresses);
  const ownPresence = new OwnPresence(session);
  new Broadcasts(session, addresses);
  new AddressBook(session, addresses);
  new StateChanges(session, addresses);
  new StateReads(session);
  const sharedState = new SharedState(session);
  const turns = new SignalTurns(creds);

  const config = socketConfig(session, {
    keys,
    agent: route.agent,
    getMessage: (key) => retries.find(key),
    cachedGroupMetadata: (jid) => groups.currentOrRead(jid),
    makeSignalRepository: deviceSessions.observe(turns.split(journal.makeSignalRepository)),
  });
  const people = {
    addresses,
    members,
    groups,
    pictures,
    joinRequests,
    recipients,
    activity,
    ownPresence,
    changedNumbers,
  };
  return { session, store, credentials, route, config, ...people, pacing, sender, receiver, history, sharedState };
}

function createActions(parts: Parts): Omit<Connection, 'close' | 'logout'> {
  const { session, addresses, members, groups, pictures, joinRequests, recipients } = parts;
  const { activity, ownPresence, sender, sharedState } = parts;
  const { link, requests } = session;
  const profiles = createProfiles(session, addresses);
  const history = new HistoryRequests(session, addresses, members);
  return {
    send: (message) => sender.send(message),
    react: (message, emoji) => sender.react(message, emoji),
    edit: (message, text, type) => sender.edit(message, text, type),
    vote: (message, vote) => sender.vote(message, vote),
    remove: (message) => sender.remove(message),
    async markRead(chat, messages) {
      const keyFor = async (message: MessageKey) =>
        keyOf(session, members, message, await chatAddressOf(addresses, message));
      const keys = await Promise.all(messages.map((message) => keyFor({ ...message, chat })));
      await requests.ask((socket) => socket.readMessages(keys));
    },
    setTyping: (chat, state) =>
      requests.ask(async (socket) => {
        const [address] = await addresses.addressesOf(chat);
        await socket.sendPresenceUpdate(state === 'typing' ? 'composing' : state, address);
      }),
    numberOf: (phoneNumber) => addresses.identified.get(phoneNumber),
    preflight: (messages) => requests.ask((socket) => recipients.forecast(socket, messages)),
    checkNumbers: (phoneNumbers) => requests.ask((socket) => recipients.present(socket, phoneNumbers)),
    setBlocked: createSetBlocked(session, recipients),
    saveContact: createSaveContact(session, recipients, sharedState),
    status: createStatusActions(session, sender),
    channels: createChannelActions(session, sender),
    setPresence: (presence) => ownPresence.set(presence),
    followPresence: (phoneNumber) =>
      requests.ask(async (socket) => {
        const [address] = await addresses.addressesOf({ type: 'direct', id: phoneNumber });
        await socket.presenceSubscribe(address);
      }),
    rejectCall: ({ callId }) => activity.reject(callId),
    requestHistory: (request) => history.request(request),
    openRemoteFile: (reference) => history.openFile(reference),
    groups: createGroupActions(session, groups, pictures, addresses),
    profiles: { ...profiles, readOwn: () => readOwnProfile(session, profiles) },
    joinRequests,
    previewInvite: (invite) => previewInvite(session, addresses, invite),
    communities: createCommunityActions(session, groups),
    async removeAsAdmin(message) {
      await groups.requireAdmin(message.chat.id);
      await sender.remove(message);
    },
    privacy: createPrivacy(session),
    business: createBusinessActions(session, addresses),
    linkedDevices: () => listDevices(session),
    lookUpPeople: ({ phoneNumbers, lids }) => lookUpPeople(session, phoneNumbers, lids),
    ...createChatParts({ session, addresses, members, state: sharedState, sender }),
    retry: () => link.retry(),
    requestPairingCode: (phoneNumber) => link.requestPairingCode(phoneNumber),
  };
}

/** The start of a connection, and its end: by the host, or by the network. */
class Life {
  readonly #parts: Parts;
  /** Reports that the network has ended the connection, unless the host closes it. */
  readonly #lastReporter: Reporter;
  #stopping: Promise<void> | undefined;

  constructor(parts: Parts) {
    const { link, host, reporter } = parts.session;
    this.#parts = parts;
    this.#lastReporter = new Reporter(host);
    link.on('socket', ({ ev }) => ev.on('creds.update', () => parts.credentials.save()));
    link.on('report', (event) => reporter.reportInOrder(event));
    link.on('end', (last) => void this.#conclude(last));
    // Not earlier: a session can wait for days to be linked.
    link.on('open', () => {
      parts.pacing.budget.start().catch((error) => host.log.warn({ err: error }, 'failed to begin the warm-up'));
    });
  }

  async start(): Promise<void> {
    const { session, config, addresses, changedNumbers, groups, receiver, history, pictures, activity } = this.#parts;
    await addresses.start();
    await changedNumbers.start();
    await groups.start();
    await pictures.start();
    await receiver.start();
    await history.start();
    await activity.calls.start();
    session.link.start(config);
  }

  async close(): Promise<void> {
    const { session, sender } = this.#parts;
    // An edit that WhatsApp has acknowledged must be stored here as well.
    if (session.link.socket !== undefined) await sender.drainChanges(DRAIN_MS);
    this.#lastReporter.stop();
    await session.link.close();
    await this.#stop();
  }

  async logout(): Promise<void> {
    const { host, link } = this.#parts.session;
    this.#lastReporter.stop();
    await link.logout();
    await this.#stop();
    await this.#parts.activity.calls.endAll();
    await host.store.clear();
  }

  /** Reports that the network has ended the connection, as the last event: the host may connect again at once. */
  async #conclude(last: NetworkEvent): Promise<void> {
    const { host, reporter } = this.#parts.session;
    await reporter.reported();
    await this.#stop();
    if (last.type === 'logged_out') {
      await this.#parts.activity.calls.endAll();
      await this.#lastReporter.keep('that the device was unlinked', () => host.store.clear());
    }
    await this.#lastReporter.report(last);
  }

  /** Resolves once nothing is running and nothing writes to the store. */
  #stop(): Promise<void> {
    this.#stopping ??= this.#stopParts();
    return this.#stopping;
  }

  async #stopParts(): Promise<void> {
    const { session, receiver, credentials, route, store, ownPresence, history, activity } = this.#parts;
    const { host, reporter } = session;
    reporter.stop();
    ownPresence.stop();
    activity.calls.stop();
    await history.stop();
    await receiver.stop();
    await credentials.stop();
    await route.close().catch((error) => host.log.warn({ err: error }, 'failed to close the route to WhatsApp'));
    store.close();
  }
}
