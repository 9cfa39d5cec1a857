import type { WASocket } from 'baileys';
import { LRUCache } from 'lru-cache';
import { AppError } from '../../../errors.ts';
import { type Forecast, limitForecast, type PlannedMessage, worst } from '../../contract/standing.ts';
import { type Addresses, jidOf, lidOf } from '../people/addresses.ts';
import type { Session } from '../session.ts';
import { NetworkLimits } from './networkLimits.ts';
import type { Pacing } from './pacing.ts';

/** Per session, so the limit is low. A number that was evicted is looked up again. */
const NUMBERS_KEPT = 1000;
/** A number that is not on the network now may join later. WhatsApp penalizes frequent lookups. */
const KNOWN_MS = 24 * 3600 * 1000;

/**
 * Somebody may reply from another number than the one that was written to: numbers in Brazil and Mexico got an
 * additional digit, and the network still knows them without it. Messages go to the number that the network knows,
 * because replies come from it.
 */
export class Recipients {
  readonly #pacing: Pacing;
  readonly #limits: NetworkLimits;
  readonly #addresses: Addresses;
  /** Number → the number that the network knows it by; false for a number that it does not know. */
  readonly #known = new LRUCache<string, string | false>({ max: NUMBERS_KEPT, ttl: KNOWN_MS });
  /** The same for numbers that a message was sent to. */
  readonly #written = new LRUCache<string, string>({ max: NUMBERS_KEPT });
  /** Numbers whose chat is counted as new, until a message is sent to them. */
  readonly #counted = new Set<string>();

  constructor(session: Session, pacing: Pacing, addresses: Addresses) {
    this.#pacing = pacing;
    this.#limits = new NetworkLimits(session);
    this.#addresses = addresses;
  }

  /**
   * The server accepts a message to a number that does not exist without an error, so the number is looked up first.
   * @returns the number that the network knows it by
   * @throws {AppError} `recipient_not_on_network`, `rate_limited`
   */
  async require(socket: WASocket, phoneNumber: string): Promise<string> {
    const networkNumber = this.#written.get(phoneNumber) ?? (await this.#startChat(socket, phoneNumber));
    if (networkNumber !== phoneNumber) await this.#addresses.identify(phoneNumber, networkNumber);
    return networkNumber;
  }

  /**
   * Looks up the number by which the network knows somebody.
   * @throws {AppError} `recipient_not_on_network`
   */
  async find(socket: WASocket, phoneNumber: string): Promise<string> {
    if ((await lidOf(socket, phoneNumber)) !== undefined) return phoneNumber;
    const networkNumber = await this.#numberOnNetwork(socket, phoneNumber);
    if (networkNumber !== phoneNumber) await this.#addresses.identify(phoneNumber, networkNumber);
    return networkNumber;
  }

  /** Looks these numbers up again before the next message, because they belong to other people now. */
  forget(...phoneNumbers: string[]): void {
    for (const known of [this.#known, this.#written])
      for (const [number, networkNumber] of [...known.entries()])
        if (phoneNumbers.some((one) => one === number || one === networkNumber)) known.delete(number);
  }

  /** Returns what would happen to a message to each of these people and groups, without asking the network. */
  async forecast(socket: WASocket, messages: readonly PlannedMessage[]): Promise<Forecast[]> {
    const { budget } = this.#pacing;
    const [newChats, today, excessMs] = [await budget.newChats(), await budget.messages(), this.#pacing.excessMs()];
    const late: Forecast | undefined =
      excessMs > 0
        ? { outcome: 'limit_reached', reason: 'Too many messages are waiting to be sent', retryAfterMs: excessMs }
        : undefined;
    let started = 0;
    const forecasts: Forecast[] = [];
    for (const [place, { chat, isNew }] of messages.entries()) {
      const begins = isNew && chat.type === 'direct' && !(await this.#isKnown(socket, chat.id));
      const all = [late, today && limitForecast(today, place, 'the messages of the day')];
      if (begins) {
        all.push(this.#limits.forecast(started), limitForecast(newChats, started, 'the new chats of the day'));
        started++;
      }
      forecasts.push(worst(all));
    }
    return forecasts;
  }

  /** Whether the session has written to a person, as far as that is known without asking the network. */
  async #isKnown(socket: WASocket, phoneNumber: string): Promise<boolean> {
    if (this.#written.has(phoneNumber)) return true;
    const lid = await lidOf(socket, phoneNumber);
    return lid !== undefined && hasConversation(socket, `${lid}@lid`);
  }

  /** Returns those of these numbers that are on the network. */
  async present(socket: WASocket, phoneNumbers: readonly string[]): Promise<ReadonlySet<string>> {
    const unknown = [...new Set(phoneNumbers)].filter((number) => !this.#known.has(number));
    const found = unknown.length === 0 ? [] : await lookUp(socket, unknown);
    const onNetwork = new Set(found);
    // Some are known by another number. If there are several, Baileys does not say which.
    let others = found.length - unknown.filter((number) => onNetwork.has(number)).length;
    for (const number of unknown) {
      if (onNetwork.has(number)) this.#known.set(number, number);
      else if (others === 0) this.#known.set(number, false);
      else {
        const [other] = unknown.length === 1 ? found : await lookUp(socket, [number]);
        this.#known.set(number, other ?? false);
        if (other !== undefined) others--;
      }
    }
    return new Set(phoneNumbers.filter((number) => typeof this.#known.get(number) === 'string'));
  }

  async #startChat(socket: WASocket, phoneNumber: string): Promise<string> {
    const networkNumber = await this.#numberOnNetwork(socket, phoneNumber);
    const jid = jidOf(networkNumber);
    const { lidMapping } = socket.signalRepository;
    const address = this.#addresses.isHidden(networkNumber) ? jid : ((await lidMapping.getLIDForPN(jid)) ?? jid);
    if (!(await hasConversation(socket, address))) {
      this.#limits.requireNewChat();
      await this.#count(networkNumber);
    }
    this.#counted.delete(networkNumber);
    this.#written.set(phoneNumber, networkNumber);
    this.#written.set(networkNumber, networkNumber);
    return networkNumber;
  }

  /** Counts a chat once, even if the connection ends meanwhile and `require` is called again. */
  async #count(phoneNumber: string): Promise<void> {
    if (this.#counted.has(phoneNumber)) return;
    this.#counted.add(phoneNumber);
    await this.#pacing.beginChat().catch((error) => {
      this.#counted.delete(phoneNumber);
      throw error;
    });
  }

  async #numberOnNetwork(socket: WASocket, phoneNumber: string): Promise<string> {
    this.#addresses.requireKnown(phoneNumber);
    // The network cannot be asked about a placeholder.
    if (this.#addresses.isHidden(phoneNumber)) return phoneNumber;
    const lid = await lidOf(socket, phoneNumber);
    if (lid !== undefined && (await hasConversation(socket, `${lid}@lid`))) return phoneNumber;
    await this.present(socket, [phoneNumber]);
    const networkNumber = this.#known.get(phoneNumber);
    if (typeof networkNumber !== 'string') throw new AppError('recipient_not_on_network');
    return networkNumber;
  }
}

/** Returns the network's numbers of those that it knows. */
async function lookUp(socket: WASocket, phoneNumbers: readonly string[]): Promise<string[]> {
  const found = await socket.onWhatsApp(...phoneNumbers.map(jidOf));
  // Baileys returns undefined when the server does not answer.
  if (found === undefined)
    throw new AppError('send_failed', 'WhatsApp did not say whether the number has an account; try again');
  return found.flatMap(({ jid, exists }) => (exists ? (jid.split('@')[0] ?? []) : []));
}

/** A person with an encrypted conversation is on the network, and has been written to. */
async function hasConversation({ signalRepository }: WASocket, address: string): Promise<boolean> {
  return (await signalRepository.validateSession(address)).exists;
}
