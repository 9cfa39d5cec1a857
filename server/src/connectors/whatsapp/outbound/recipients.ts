import type { WASocket } from 'baileys';
import { LRUCache } from 'lru-cache';
import { AppError } from '../../../errors.ts';
import { isStandIn } from '../../connector.ts';
import { jidOf } from '../people/addresses.ts';
import type { NetworkLimits } from './networkLimits.ts';
import type { Pacing } from './pacing.ts';

/*
 * Under which number somebody answers is not always the one that was asked for: in Brazil and Mexico numbers have got
 * another digit, and the network goes on knowing them without it. What is sent goes to the number that the network
 * knows, for that is where answers come from.
 */

/** Whom a session may write to. */
export interface Recipients {
  /**
   * Makes sure that a number is on the network and that a chat with it may be begun: a message to nobody would seem
   * sent, for the server takes it and says nothing.
   * @returns the number that the network knows it by
   * @throws {AppError} `recipient_not_on_network`, `rate_limited`
   */
  require(socket: WASocket, phoneNumber: string): Promise<string>;
  /**
   * Finds out by which number the network knows somebody, there or there once.
   * @throws {AppError} `recipient_not_on_network`
   */
  find(socket: WASocket, phoneNumber: string): Promise<string>;
  /** By which number the network knows one that was written to, or found, before. */
  numberOf(phoneNumber: string): string | undefined;
  /** Which of these numbers are on the network. */
  present(socket: WASocket, phoneNumbers: readonly string[]): Promise<ReadonlySet<string>>;
}

/** A cache takes its room when it is made, in each of many sessions. Who falls out of it is looked up again. */
const KNOWN_KEPT = 1000;
/** Numbers that are not there may be next week; asking often is held against who asks. */
const KNOWN_MS = 24 * 3600 * 1000;

/**
 * @param isHidden whether digits stand in for somebody: whether that is there cannot be asked
 * @param onOtherNumber the network knows a number by another one, to which a message is about to go
 */
export function createRecipients({
  pacing,
  limits,
  isHidden,
  onOtherNumber,
}: {
  pacing: Pacing;
  limits: NetworkLimits;
  isHidden: (digits: string) => boolean;
  onOtherNumber: (asked: string, answered: string) => Promise<void>;
}): Recipients {
  /** By which number the network knows a number; false for those it does not know. */
  const known = new LRUCache<string, string | false>({ max: KNOWN_KEPT, ttl: KNOWN_MS });
  /** Those that were written to, now or ever, and where. */
  const written = new LRUCache<string, string>({ max: KNOWN_KEPT });

  /** Those that were found under another number, which was told. */
  const others = new LRUCache<string, string>({ max: KNOWN_KEPT });

  /** Those whose chat is counted as begun, until they are written to. */
  const begun = new Set<string>();

  async function present(socket: WASocket, phoneNumbers: readonly string[]): Promise<ReadonlySet<string>> {
    const unknown = [...new Set(phoneNumbers)].filter((number) => !known.has(number));
    const found = unknown.length === 0 ? [] : await ask(socket, unknown);
    const there = new Set(found);
    // Those under another number: which of them it is, the client does not say of several.
    let others = found.length - unknown.filter((number) => there.has(number)).length;
    for (const number of unknown) {
      if (there.has(number)) known.set(number, number);
      else if (others === 0) known.set(number, false);
      else {
        const [other] = unknown.length === 1 ? found : await ask(socket, [number]);
        known.set(number, other ?? false);
        if (other !== undefined) others--;
      }
    }
    return new Set(phoneNumbers.filter((number) => typeof known.get(number) === 'string'));
  }

  /** Under which numbers those of these that are there answer. */
  async function ask(socket: WASocket, phoneNumbers: readonly string[]): Promise<string[]> {
    const found = await socket.onWhatsApp(...phoneNumbers.map(jidOf));
    // Baileys answers with nothing when the server does not.
    if (found === undefined)
      throw new AppError('send_failed', 'WhatsApp did not say whether the number has an account; try again');
    return found.flatMap(({ jid, exists }) => (exists ? (jid.split('@')[0] ?? []) : []));
  }

  /** Who has a conversation with us is there, and has been written to. */
  const hasConversation = async ({ signalRepository }: WASocket, address: string) =>
    (await signalRepository.validateSession(address)).exists;

  /** From what is stored: asked about a number with another address, Baileys 7.0.0-rc14 trips over the server's answer. */
  async function lidOf(socket: WASocket, phoneNumber: string): Promise<string | undefined> {
    const { [phoneNumber]: lid } = await socket.authState.keys.get('lid-mapping', [phoneNumber]);
    return lid;
  }

  async function addressOf(socket: WASocket, phoneNumber: string): Promise<string> {
    if (isHidden(phoneNumber)) return phoneNumber;
    if (isStandIn(phoneNumber))
      throw new AppError(
        'recipient_not_on_network',
        'This placeholder for a hidden number is unknown; use the one from a message of that person',
      );
    const lid = await lidOf(socket, phoneNumber);
    if (lid !== undefined && (await hasConversation(socket, `${lid}@lid`))) return phoneNumber;
    await present(socket, [phoneNumber]);
    const answered = known.get(phoneNumber);
    if (typeof answered !== 'string') throw new AppError('recipient_not_on_network');
    return answered;
  }

  async function begin(socket: WASocket, phoneNumber: string): Promise<string> {
    const answered = await addressOf(socket, phoneNumber);
    const jid = jidOf(answered);
    const { lidMapping } = socket.signalRepository;
    const address = isHidden(answered) ? jid : ((await lidMapping.getLIDForPN(jid)) ?? jid);
    if (!(await hasConversation(socket, address))) {
      limits.requireNewChat();
      // Once, also where the connection ends meanwhile and all of this begins again.
      if (!begun.has(answered)) {
        begun.add(answered);
        await pacing.beginChat().catch((error) => {
          begun.delete(answered);
          throw error;
        });
      }
    }
    begun.delete(answered);
    written.set(phoneNumber, answered);
    written.set(answered, answered);
    return answered;
  }

  return {
    present,
    async find(socket, phoneNumber) {
      if ((await lidOf(socket, phoneNumber)) !== undefined) return phoneNumber;
      const answered = await addressOf(socket, phoneNumber);
      if (answered !== phoneNumber) {
        await onOtherNumber(phoneNumber, answered);
        others.set(phoneNumber, answered);
      }
      return answered;
    },
    numberOf: (phoneNumber) => written.get(phoneNumber) ?? others.get(phoneNumber),
    async require(socket, phoneNumber) {
      const answered = written.get(phoneNumber) ?? (await begin(socket, phoneNumber));
      if (answered !== phoneNumber) await onOtherNumber(phoneNumber, answered);
      return answered;
    },
  };
}
