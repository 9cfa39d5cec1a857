import type { Audience, BusinessActions, PrivacyActions } from '../connectors/contract/account.ts';
import type { CallKey } from '../connectors/contract/calls.ts';
import type { ChannelActions } from '../connectors/contract/channels.ts';
import type { ChatActions, LabelActions } from '../connectors/contract/chatActions.ts';
import type { Connection } from '../connectors/contract/connection.ts';
import type { Vote } from '../connectors/contract/contentParts.ts';
import type { NetworkEvent } from '../connectors/contract/events.ts';
import type { CommunityActions, JoinRequestActions } from '../connectors/contract/groupActions.ts';
import type { GroupActions, NetworkGroup } from '../connectors/contract/groups.ts';
import type { HistoryRequest } from '../connectors/contract/history.ts';
import type { SessionHost } from '../connectors/contract/host.ts';
import type { MessageKey, NetworkChat } from '../connectors/contract/messageKey.ts';
import type { NetworkMedia } from '../connectors/contract/networkMedia.ts';
import type { OutgoingMessage } from '../connectors/contract/outgoing.ts';
import type { OwnPresence, SetPresence, TypingState } from '../connectors/contract/presence.ts';
import type { ProfileActions } from '../connectors/contract/profiles.ts';
import type { Forecast, PlannedMessage, PlannedTemplate } from '../connectors/contract/standing.ts';
import type { StatusActions } from '../connectors/contract/status.ts';
import { RingingCalls } from '../connectors/ringingCalls.ts';
import { AppError } from '../errors.ts';
import type { MessageType } from '../events/networkTypes.ts';
import { SandboxAccount } from './account.ts';
import { BlockList } from './blockList.ts';
import { SandboxChannels } from './channels.ts';
import { chatEventOf, createChatActions, createLabelActions, isChatAction } from './chats.ts';
import { SandboxCommunities } from './communities.ts';
import { requireAdmin, requireVoice, SandboxGroups } from './groups.ts';
import { openHistoryFile, playOlder, SandboxHistory } from './history.ts';
import { SandboxJoinRequests } from './joinRequests.ts';
import { SandboxLimits } from './limits.ts';
import type { Phone } from './mailboxReader.ts';
import { isTyping, type SandboxNetwork } from './network.ts';
import { SandboxPairing } from './pairing.ts';
import type { Simulation } from './simulatedActions.ts';
import { SimulatedPeople } from './simulatedPeople.ts';
import { eventOf, isReported, type Reported } from './simulation.ts';
import { isWanted, SandboxStatus } from './status.ts';
import type { SandboxEvent } from './store.ts';
import { SandboxTemplates } from './templates.ts';

const RECONNECT_RETRY_MS = 1000;
/** They also arrive while the session is offline. */
const changesOfMessages: ReadonlySet<string> = new Set([
  'edit',
  'delete',
  'react',
  'vote',
  'receipt',
  'event_answer',
  'move',
  'better_media',
  'live_photo',
]);
/** A session on the network: a phone that its account uses, and that a simulation can use as well. */
export class SandboxConnection implements Connection, Phone {
  readonly groups: GroupActions;
  readonly profiles: ProfileActions;
  readonly chats: ChatActions;
  readonly labels: LabelActions;
  readonly joinRequests: JoinRequestActions;
  readonly communities: CommunityActions;
  readonly privacy: PrivacyActions;
  readonly business: BusinessActions;
  readonly #account: SandboxAccount;
  readonly templates: SandboxTemplates;
  readonly status: StatusActions;
  readonly channels: ChannelActions;
  readonly #calls: RingingCalls;
  readonly #network: SandboxNetwork;
  readonly #host: SessionHost;
  readonly #limits: SandboxLimits;
  readonly #history: SandboxHistory;
  readonly #blockList: BlockList;
  readonly #pairing: SandboxPairing;
  readonly #people: SimulatedPeople;
  #number: string;
  #name: string | null = null;
  #isOnline = false;
  #isClosed = false;
  #cancelTimer = () => {};
  #onlineSince = 0;

  constructor(network: SandboxNetwork, host: SessionHost) {
    this.#network = network;
    this.#host = host;
    this.#limits = new SandboxLimits(host);
    this.#history = new SandboxHistory(host);
    this.#blockList = new BlockList(host, network.steady);
    this.#calls = new RingingCalls(host);
    this.#pairing = new SandboxPairing(host);
    this.#people = new SimulatedPeople(network, () => host.clock.now());
    this.#number = host.phoneNumber ?? '';
    this.groups = new SandboxGroups(network, this);
    this.chats = createChatActions(() => this.requireOnline());
    this.labels = createLabelActions(() => this.requireOnline());
    this.templates = new SandboxTemplates(host, () => this.requireOnline());
    this.status = new SandboxStatus(network, this);
    this.channels = new SandboxChannels(network, this);
    this.profiles = {
      read: async (phoneNumber) => {
        this.requireOnline();
        const { about, picture, privacy } = await network.profile(phoneNumber);
        const shows = (audience: Audience | undefined) => network.isOpenTo(this.#number, phoneNumber, audience);
        return {
          about: (await shows(privacy?.about)) ? about : null,
          picture: (await shows(privacy?.profilePicture)) ? picture : null,
        };
      },
      update: async (change) => {
        this.requireOnline();
        await network.store.changeProfile(this.address, change);
        if (change.name !== undefined) this.#name = change.name;
      },
      readOwn: async () => {
        this.requireOnline();
        const { name, about, picture, business = null } = await network.profile(this.#number);
        return { name, about, picture, business };
      },
    };
    this.joinRequests = new SandboxJoinRequests(network, this);
    this.communities = new SandboxCommunities(network, this);
    this.#account = new SandboxAccount(network, host, this);
    this.privacy = this.#account.privacy;
    this.business = this.#account.business;
  }

  previewInvite(invite: string) {
    return new SandboxCommunities(this.#network, this).preview(invite);
  }

  async removeAsAdmin(message: MessageKey): Promise<void> {
    this.requireOnline();
    requireAdmin(await this.#network.group(message.chat.id), this.#number);
    await this.remove(message);
  }

  linkedDevices() {
    return this.#account.linkedDevices();
  }

  lookUpPeople({ phoneNumbers, lids }: { readonly phoneNumbers: readonly string[]; readonly lids: readonly string[] }) {
    return this.#account.lookUp(phoneNumbers, lids);
  }

  get sessionId(): string {
    return this.#host.sessionId;
  }

  get number(): string {
    return this.#number;
  }

  get address(): string {
    return this.#network.addressOf(this.#number);
  }

  get name(): string | null {
    return this.#name;
  }

  async receive(
    { event, sentAt, directFrom }: SandboxEvent,
    hasWaited = (sentAt ?? this.#onlineSince) < this.#onlineSince,
  ): Promise<boolean> {
    if (directFrom && this.#blockList.keepsOut(directFrom, sentAt ?? 0)) return false;
    if (!isWanted(event, this.#host.options)) return true;
    if (hasWaited && isTyping(event)) return true; // it is over by now
    await this.#host.onEvent(hasWaited && event.type === 'message' ? { ...event, isReplayed: true } : event);
    return true;
  }

  async open(): Promise<void> {
    const isLinked = (await this.#host.store.get('linked')) === 'yes';
    if (this.#host.options['pairing'] === true && !isLinked) await this.#pairing.start();
    else await this.#join();
  }

  async #join(): Promise<void> {
    await this.#limits.start();
    if (this.#number === '') this.#number = await this.#network.freeNumber();
    this.#name = (await this.#network.profile(this.#number)).name;
    await this.#calls.start();
    await this.#network.mailboxes.join(this);
    try {
      await this.#comeOnline();
    } catch (error) {
      // Senders would otherwise wait for a phone that nobody has.
      this.#network.mailboxes.leave(this);
      this.#isOnline = false;
      throw error;
    }
  }

  async #comeOnline(): Promise<void> {
    // Closed while it was being opened.
    if (this.#isClosed) return this.#leave();
    this.#isOnline = true;
    this.#onlineSince = this.#network.steady.now();
    await this.#host.onEvent({ type: 'connected', phoneNumber: this.#number });
    await this.#network.restoreGroups(await this.#host.groups());
    await this.#blockList.load();
    for (const message of await this.#host.undelivered()) {
      const { type, id } = message.chat;
      const group = type === 'group' ? await this.#network.findGroup(id) : undefined;
      this.#network.send(this, message, message.sentAt ?? this.#now(), group);
    }
    this.#network.mailboxes.catchUp(this);
    this.#history.resume();
  }

  #reconnectAfter(ms: number): void {
    this.#cancelTimer = this.#host.clock.after(ms, () => {
      if (this.#isClosed) return;
      this.#join().catch((error) => {
        this.#host.log.warn({ err: error }, 'failed to reconnect; trying again');
        if (!this.#isClosed) this.#reconnectAfter(RECONNECT_RETRY_MS);
      });
    });
  }

  #leave(): void {
    this.#cancelTimer();
    this.#network.mailboxes.leave(this);
    this.#calls.stop();
    this.#isOnline = false;
    this.#pairing.stop();
  }

  async requestPairingCode(phoneNumber: string) {
    const code = this.#pairing.requestCode();
    this.#number = phoneNumber;
    return code;
  }

  async send(message: OutgoingMessage) {
    this.requireOnline();
    const { type, id } = message.chat;
    const group = await this.#groupOf(message.chat);
    await this.templates.requireSendable(message);
    if (type === 'direct' && !(await this.#network.onNetwork([id])).has(id))
      throw new AppError('recipient_not_on_network');
    await this.#limits.admit(message.chat);
    const timestamp = this.#now();
    this.#network.send(this, message, timestamp, group);
    return { timestamp };
  }

  /** @throws {AppError} `not_found`, `network_denied` if the session may not write to it */
  async #groupOf({ type, id }: NetworkChat): Promise<NetworkGroup | undefined> {
    if (type === 'direct') return undefined;
    const group = await this.#network.group(id);
    requireVoice(group, this.#number);
    return group;
  }

  async markRead(_chat: unknown, messages: readonly { networkId: string; from: string }[]): Promise<void> {
    this.requireOnline();
    if (await this.#account.sendsReadReceipts()) await this.#network.read(this, messages);
  }

  async setTyping(chat: NetworkChat, presence: TypingState): Promise<void> {
    this.requireOnline();
    const from = this.#number;
    const event = { type: 'presence', chat: this.#seenByOthers(chat), from, presence, timestamp: this.#now() } as const;
    await this.#network.showTyping(this, chat, event);
  }

  async react({ networkId, chat }: MessageKey, emoji: string | null): Promise<void> {
    await this.#deliver(chat, { type: 'reaction', networkId, from: this.#number, emoji, timestamp: this.#now() });
  }

  async edit({ networkId, chat }: MessageKey, text: string): Promise<void> {
    await this.#deliver(chat, { type: 'edited', networkId, from: this.#number, text, timestamp: this.#now() });
  }

  async vote({ networkId, chat }: MessageKey, { options }: Vote): Promise<void> {
    await this.#deliver(chat, { type: 'vote', networkId, from: this.#number, options, timestamp: this.#now() });
  }

  async remove({ networkId, chat }: MessageKey): Promise<void> {
    await this.#deliver(chat, { type: 'deleted', networkId, from: this.#number, timestamp: this.#now() });
  }

  async star(): Promise<void> {
    this.requireOnline();
  }

  async removeForMe(): Promise<void> {
    this.requireOnline();
  }

  async pin({ networkId, chat }: MessageKey, seconds: number | null): Promise<void> {
    const timestamp = this.#now();
    const until = seconds === null ? null : timestamp + seconds * 1000;
    const event = { type: 'message_pinned', networkId, from: this.#number, until, timestamp } as const;
    await this.#deliver(chat, { ...event, chat: this.#seenByOthers(chat) });
  }

  async setDisappearing(chat: NetworkChat, seconds: number | null): Promise<void> {
    await this.#deliver(chat, { type: 'disappearing', chat: this.#seenByOthers(chat), seconds });
  }

  /** For the other side, a direct chat has the number of the session. */
  #seenByOthers(chat: NetworkChat): NetworkChat {
    return chat.type === 'group' ? chat : { type: 'direct', id: this.#number };
  }

  async preflight(
    messages: readonly PlannedMessage[],
    _: MessageType,
    template?: PlannedTemplate,
  ): Promise<readonly Forecast[]> {
    this.requireOnline();
    const refusal = template && (await this.templates.refusalOf(template));
    if (refusal !== undefined)
      return messages.map(() => ({ outcome: 'template_unavailable', reason: refusal.message }));
    return this.#limits.forecast(messages);
  }

  async checkNumbers(phoneNumbers: readonly string[]): Promise<ReadonlySet<string>> {
    this.requireOnline();
    return this.#network.onNetwork(phoneNumbers);
  }

  async setPresence(presence: OwnPresence): Promise<SetPresence> {
    this.requireOnline();
    await this.#network.store.changeProfile(this.address, { presence });
    const { followers = [] } = await this.#network.profile(this.#number);
    for (const follower of followers) await this.#showPresence(this.#number, presence, follower);
    return { presence, until: null };
  }

  async followPresence(phoneNumber: string): Promise<void> {
    this.requireOnline();
    const [address, follower] = [this.#network.addressOf(phoneNumber), this.#number];
    await this.#network.store.changeProfile(address, { follower });
    const { presence } = await this.#network.profile(phoneNumber);
    if (presence !== undefined) await this.#showPresence(phoneNumber, presence, follower);
  }

  async #showPresence(from: string, presence: OwnPresence, to: string): Promise<void> {
    const chat: NetworkChat = { type: 'direct', id: from };
    const event: NetworkEvent = { type: 'presence', chat, from, presence, timestamp: this.#now() };
    await this.#network.mailboxes.deliver({ to: [this.#network.addressOf(to)], event, sender: this });
  }

  async rejectCall({ callId }: CallKey): Promise<void> {
    this.requireOnline();
    if (!(await this.#calls.end(callId, 'rejected'))) throw noSuchCall(callId);
  }

  async setBlocked(phoneNumber: string, blocked: boolean): Promise<void> {
    this.requireOnline();
    await this.#blockList.set(phoneNumber, blocked);
  }

  /** The address book is the stored contacts themselves. */
  async saveContact(): Promise<void> {
    this.requireOnline();
  }

  async requestHistory(request: HistoryRequest): Promise<void> {
    this.requireOnline();
    await playOlder(this.#host, request);
  }

  async openRemoteFile(reference: string): Promise<NetworkMedia> {
    this.requireOnline();
    return openHistoryFile(reference, (hash) => this.#network.store.openFile(hash));
  }

  async #deliver(chat: NetworkChat, event: NetworkEvent): Promise<void> {
    this.requireOnline();
    await this.#network.deliver(this, chat, await this.#groupOf(chat), event);
  }

  #now(): number {
    return this.#host.clock.now();
  }

  async simulate(action: Simulation): Promise<void> {
    if (this.#blockList.keepsOutAction(action)) return;
    if (isReported(action)) return this.#report(action);
    if (isChatAction(action)) {
      this.requireOnline();
      if (action.action === 'disappearing' && action.chat.type === 'group')
        return this.#people.setDisappearing(action.chat.id, action.from, action.seconds ?? 0);
      return this.#host.onEvent(chatEventOf(action, this.#now()));
    }
    switch (action.action) {
      case 'pair':
        await this.#pairing.finish(() => this.#join());
        await this.#host.store.set('linked', 'yes');
        return;
      case 'disconnect': {
        this.requireOnline();
        const { reason, reconnectAfterMs } = action;
        this.#leave();
        await this.#history.stop();
        await this.#host.onEvent({ type: 'disconnected', reason, willReconnect: reconnectAfterMs !== null });
        if (reconnectAfterMs !== null) this.#reconnectAfter(reconnectAfterMs);
        return;
      }
      case 'logout':
        await this.logout();
        return this.#host.onEvent({ type: 'logged_out', reason: 'The device was unlinked on the phone' });
      case 'template_review':
        this.requireOnline();
        return this.#host.onEvent(await this.templates.review(action.templateId, action.status, action.reason));
      case 'block_report':
        return this.#host.onEvent({ type: 'warned', warning: 'block_report', timestamp: this.#now() });
      case 'standing': {
        const { action: _, ...changed } = action;
        return this.#host.onEvent(await this.#limits.setStanding(changed));
      }
      case 'history':
        this.requireOnline();
        return this.#history.play(action);
      case 'business_profile':
        this.requireOnline();
        return this.#account.define(action);
      case 'channel_create': {
        this.requireOnline();
        const networkId = await this.#people.createChannel(action.from, action.name);
        const channel = await this.channels.follow(networkId);
        return this.#host.onEvent({ type: 'channel', channel });
      }
      case 'group_create':
      case 'community_create':
        this.requireOnline();
        return this.#people.play(action, this.#number);
      default:
        return this.#people.play(action, this.#number);
    }
  }

  async #report(action: Reported): Promise<void> {
    if (!changesOfMessages.has(action.action)) this.requireOnline();
    if (action.action === 'incoming' && action.group !== null) await this.#network.group(action.group);
    const event = eventOf(action, this.#now(), this.#number);
    if (!isWanted(event, this.#host.options)) return;
    if (event.type === 'call_ended') {
      if (!(await this.#calls.end(event.callId, event.outcome))) throw noSuchCall(event.callId);
      return;
    }
    if (event.type === 'call') {
      if (this.#calls.get(event.callId) !== undefined)
        throw new AppError('session_state', `The call ${event.callId} rings already`);
      await this.#calls.add({ event });
    }
    await this.#host.onEvent(event);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#leave();
    await this.#history.stop();
  }

  async logout(): Promise<void> {
    await this.close();
    await this.#calls.endAll();
    await this.#network.store.release(this.sessionId);
    await this.#host.store.clear();
  }

  /** @throws {AppError} `session_not_connected` */
  requireOnline(): void {
    if (!this.#isOnline) throw new AppError('session_not_connected');
  }
}

const noSuchCall = (callId: string) => new AppError('not_found', `The call ${callId} does not ring`);
