import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { AppError } from '../../errors.ts';
import type { MessageType } from '../../events/networkTypes.ts';
import { redactSecrets } from '../../log.ts';
import type { TemplateActions } from '../contract/business.ts';
import type { CallbackAnswer, CallbackRequest } from '../contract/callbacks.ts';
import type { Connection } from '../contract/connection.ts';
import type { JoinRequestActions } from '../contract/groupActions.ts';
import type { GroupActions } from '../contract/groups.ts';
import type { SessionHost } from '../contract/host.ts';
import type { MessageKey, NetworkChat } from '../contract/messageKey.ts';
import type { NetworkMedia } from '../contract/networkMedia.ts';
import type { OutgoingMessage } from '../contract/outgoing.ts';
import type { TypingState } from '../contract/presence.ts';
import type { ProfileActions } from '../contract/profiles.ts';
import type { Forecast, PlannedMessage, PlannedTemplate } from '../contract/standing.ts';
import { ofProducts } from './errors.ts';
import { Graph, GraphError, type GraphSettings } from './graph.ts';
import { CloudGroups } from './groups/groupActions.ts';
import { GroupList } from './groups/groupList.ts';
import { GroupReports } from './groups/groupReports.ts';
import { CloudJoinRequests } from './groups/joinRequests.ts';
import { PendingChanges } from './groups/pendingChanges.ts';
import { AppDataRequest } from './inbound/coexistence.ts';
import { wamidOf } from './inbound/incoming.ts';
import { Receiver } from './inbound/receiver.ts';
import { MarketingChoices, STOPPED } from './marketing.ts';
import { findMedia } from './media.ts';
import { BusinessAccount } from './number/businessAccount.ts';
import { CallbackUrl } from './number/callbackUrl.ts';
import type { CloudNumber } from './number/cloudNumber.ts';
import { NumberDetails } from './number/numberDetails.ts';
import { FATAL_TO_SENDING, NumberMonitor } from './number/numberMonitor.ts';
import { createProfileActions } from './number/profile.ts';
import { forecastOf, forecastOfTemplate, warningOf } from './number/standing.ts';
import { createTemplateActions } from './number/templates.ts';
import type { CloudOptions } from './options.ts';
import { Sender } from './outbound/sender.ts';
import { People } from './people.ts';

/** Meta's code for an object that does not exist, or no longer. */
const NO_OBJECT = 100;

const DAY_SECONDS = 24 * 3600;

const Blocked = Compile(
  Type.Object({ block_users: Type.Object({ failed_users: Type.Optional(Type.Array(Type.Unknown())) }) }),
);

/** One phone number of the Cloud API: its actions, and the receiver of its callbacks. */
export class CloudConnection implements Connection {
  readonly groups: GroupActions;
  readonly joinRequests: JoinRequestActions;
  readonly profiles: ProfileActions;
  readonly templates: TemplateActions;
  attempt: Promise<void> = Promise.resolve();
  readonly #number: CloudNumber;
  readonly #sender: Sender;
  readonly #receiver: Receiver;
  readonly #callbackUrl: CallbackUrl;
  readonly #marketing: MarketingChoices;

  constructor(host: SessionHost, settings: GraphSettings) {
    // Validated against the schema when they were set.
    const options = host.options as CloudOptions;
    const { token, appSecret, verifyToken, phoneNumberId } = options;
    const redact = (text: string) => redactSecrets(text, [token, appSecret, verifyToken]);
    const graph = new Graph(settings, token, host.clock, redact);
    const account = new BusinessAccount(host, options);
    // Only after the check: a session with the id of another account's number must not receive its callbacks.
    const monitor = new NumberMonitor(host, graph, phoneNumberId, () => account.register());
    const number: CloudNumber = { host, options, graph, monitor, people: new People(host), account };
    const sender = new Sender(number);
    const details = new NumberDetails(number);
    const callbackUrl = new CallbackUrl(number);
    const appData = new AppDataRequest(number);
    const pendingChanges = new PendingChanges(host.clock);
    const groupReports = new GroupReports(number, pendingChanges);
    this.groups = new CloudGroups(number, pendingChanges, groupReports);
    const groupList = new GroupList(number, groupReports);
    this.joinRequests = new CloudJoinRequests(number);
    this.profiles = createProfileActions(number);
    this.templates = createTemplateActions(number);
    this.#number = number;
    this.#sender = sender;
    this.#marketing = new MarketingChoices(host, this.templates, (digits) => number.people.currentOf(digits));
    this.#receiver = new Receiver(number, { sender, details, marketing: this.#marketing, groups: groupReports });
    this.#callbackUrl = callbackUrl;
    monitor.on('answered', () => {
      // Not awaited: Meta immediately calls back to verify the address.
      void callbackUrl.set();
      void appData.send();
      details.check();
      void groupList.read();
    });
  }

  /** Checks the number for the first time. The result is reported as an event. */
  async open(): Promise<void> {
    await this.#number.people.start();
    this.attempt = this.#number.monitor.start();
  }

  async send(message: OutgoingMessage): Promise<{ timestamp: number; networkId: string }> {
    await this.#marketing.requireWanted(message);
    return this.#number.monitor.ask(
      () => this.#sender.send(message).catch((error) => this.#warn(error, message)),
      FATAL_TO_SENDING,
    );
  }

  numberOf(phoneNumber: string): string | undefined {
    return this.#number.people.formOf(phoneNumber);
  }

  async preflight(
    messages: readonly PlannedMessage[],
    type: MessageType,
    template?: PlannedTemplate,
  ): Promise<readonly Forecast[]> {
    const now = this.#number.host.clock.now();
    const ofTemplate = template && (await forecastOfTemplate(this.templates, template));
    const forecasts: Forecast[] = [];
    for (const message of messages) {
      const isUnwanted =
        template !== undefined &&
        ofTemplate === undefined &&
        (await this.#marketing.isUnwanted(message.chat, template));
      const ofPerson = isUnwanted ? ({ outcome: 'marketing_stopped', reason: STOPPED } as const) : undefined;
      forecasts.push(ofTemplate ?? ofPerson ?? forecastOf(message, type, now));
    }
    return forecasts;
  }

  /** Marks the last message, which marks every earlier message as well. */
  async markRead(chat: NetworkChat, messages: readonly { networkId: string }[]): Promise<void> {
    requireDirect(chat);
    const last = messages.at(-1);
    if (last !== undefined) await this.#post({ status: 'read', message_id: wamidOf(last.networkId) });
  }

  /** Shows for 25 s, or until a message arrives, and marks the message above it as read. */
  async setTyping(chat: NetworkChat, state: TypingState): Promise<void> {
    requireDirect(chat);
    if (state === 'recording')
      throw new AppError('not_supported', 'The WhatsApp Cloud API supports only `typing`, not `recording`');
    if (state === 'paused') return;
    const answered = await this.#number.host.lastIncoming(chat.id);
    if (answered === null)
      throw new AppError(
        'not_supported',
        'WhatsApp shows a typing indicator only after the contact has sent a message',
      );
    await this.#post({ status: 'read', message_id: wamidOf(answered), typing_indicator: { type: 'text' } });
  }

  async react({ networkId, chat }: MessageKey, emoji: string | null): Promise<void> {
    const reaction = { message_id: wamidOf(networkId), emoji: emoji ?? '' };
    await this.#number.monitor.ask(() => this.#sender.mark(chat, 'reaction', reaction));
  }

  /** https://developers.facebook.com/documentation/business-messaging/whatsapp/groups/groups-messaging */
  async pin({ networkId, chat }: MessageKey, seconds: number | null): Promise<void> {
    if (chat.type !== 'group')
      throw new AppError('not_supported', 'The WhatsApp Cloud API pins messages only in groups');
    const message_id = wamidOf(networkId);
    const pin =
      seconds === null
        ? { type: 'unpin', message_id }
        : { type: 'pin', message_id, expiration_days: Math.max(1, Math.round(seconds / DAY_SECONDS)) };
    await this.#number.monitor.ask(() => this.#sender.mark(chat, 'pin', pin));
  }

  async setBlocked(phoneNumber: string, blocked: boolean): Promise<void> {
    const { monitor, graph, options, people } = this.#number;
    const { to, recipient } = await people.addressOf({ type: 'direct', id: phoneNumber });
    const user = to === undefined ? { user_id: recipient } : { user: `+${to}` };
    const body = { messaging_product: 'whatsapp', block_users: [user] };
    const path = `${options.phoneNumberId}/block_users`;
    const answer = await monitor.ask(() => graph.call(blocked ? 'POST' : 'DELETE', path, body));
    if (!Blocked.Check(answer) || (answer.block_users.failed_users ?? []).length > 0)
      throw new AppError('not_supported', 'WhatsApp can block only contacts who have written within the last 24 hours');
  }

  /** A file of the history, which Meta keeps for some days. */
  async openRemoteFile(reference: string): Promise<NetworkMedia> {
    const { monitor, graph } = this.#number;
    try {
      return await monitor.ask(() => findMedia(graph, reference, null));
    } catch (error) {
      if (!(error instanceof GraphError) || error.code !== NO_OBJECT) throw error;
      throw new AppError('not_found', 'WhatsApp no longer has the file', { cause: error });
    }
  }

  takeCallback(request: CallbackRequest): Promise<CallbackAnswer> {
    return this.#receiver.receive(request);
  }

  async close(): Promise<void> {
    this.#number.monitor.stop();
    await this.#number.graph.close();
  }

  /** There is no device to unlink; Meta only forgets the callback URL. */
  async logout(): Promise<void> {
    if (this.#number.monitor.isOnline) await this.#callbackUrl.remove();
    await this.#number.account.unregister();
    await this.close();
  }

  /** Reports an error that comes before a restriction of the number, and throws it. */
  async #warn(error: unknown, { content }: OutgoingMessage): Promise<never> {
    const { host } = this.#number;
    const warning = error instanceof GraphError ? warningOf(error.code) : undefined;
    if (warning !== undefined) await host.onEvent({ type: 'warned', warning, timestamp: host.clock.now() });
    throw ofProducts(error, content.interactive);
  }

  async #post(body: object): Promise<void> {
    const { monitor, graph, options } = this.#number;
    const whole = { messaging_product: 'whatsapp', ...body };
    await monitor.ask(() => graph.call('POST', `${options.phoneNumberId}/messages`, whole));
  }
}

/** @throws {AppError} `not_supported` */
function requireDirect({ type }: NetworkChat): void {
  if (type === 'group') throw new AppError('not_supported', 'The WhatsApp Cloud API does not support this in groups');
}
