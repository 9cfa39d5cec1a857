import { isPlaceholder } from '../../contract/people.ts';
import { nameOf } from '../link/credentials.ts';
import { translateErrors } from '../link/errors.ts';
import { jidOf, lidOfPlaceholder, MAPPING } from '../people/addresses.ts';
import type { Session } from '../session.ts';

/** Limit of the look-up of unknown LIDs, including the wait for a connection. */
const ASK_MS = 20_000;
/** A person may get a LID later, but a status must not look up the same numbers again and again. */
const ASKED_MS = 24 * 3600 * 1000;
const ASKED_KEPT = 5000;

/** Lists of addresses for one status. The first one is used, the second one if WhatsApp refuses the first with 479. */
export type StatusAddresses = readonly [readonly string[], ...(readonly string[])[]];

/**
 * The people who see a status, by LID: WhatsApp refuses it with 479 if a migrated account sends it to numbers
 * (WhiskeySockets/Baileys#2794). Its client leaves out people who have no LID (oxidezap/whatsapp-rust#568).
 */
export class StatusAudience {
  readonly #session: Session;
  /** Numbers without a LID, and the time of their look-up. */
  readonly #asked = new Map<string, number>();

  constructor(session: Session) {
    this.#session = session;
  }

  /**
   * Returns the addresses of a status for these people and the session's own devices. Asks WhatsApp for unknown LIDs
   * in one query.
   */
  async addressesOf(audience: readonly string[]): Promise<StatusAddresses> {
    const { self, host } = this.#session;
    const byNumber = [...new Set([self.jid, ...audience.map(jidOf)])];
    // An account without a LID has not been migrated.
    if (self.lidJid === '') return [byNumber];
    const numbers = audience.filter((digits) => !isPlaceholder(digits) && digits !== self.phoneNumber);
    const lids = await this.#lidsOf(numbers);
    const leftOut = numbers.filter((number) => !lids.has(number)).length;
    const hidden = audience.filter((digits) => isPlaceholder(digits)).map(jidOf);
    const others = [...[...lids.values()].map((lid) => `${lid}@lid`), ...hidden];
    if (others.length === 0 && leftOut > 0) return [byNumber];
    if (leftOut > 0) host.log.warn({ people: leftOut }, 'WhatsApp has no LID of some people; posting without them');
    return [[...new Set([self.lidJid, ...others])], byNumber];
  }

  /** Returns the people of an audience that none of these users is: digits of numbers or LIDs. */
  async notAmong(users: ReadonlySet<string>, audience: readonly string[]): Promise<string[]> {
    const { self } = this.#session;
    const others = [...new Set(audience)].filter((digits) => digits !== self.phoneNumber);
    const lids = await this.#stored(others);
    const isAmong = (digits: string) =>
      users.has(isPlaceholder(digits) ? lidOfPlaceholder(digits) : digits) || users.has(lids.get(digits) ?? digits);
    return others.filter((digits) => !isAmong(digits));
  }

  async #lidsOf(numbers: readonly string[]): Promise<Map<string, string>> {
    const lids = await this.#stored(numbers);
    const unknown = numbers.filter((number) => !lids.has(number) && this.#mayAsk(number));
    if (unknown.length === 0) return lids;
    await this.#ask(unknown);
    return this.#stored(numbers);
  }

  async #stored(numbers: readonly string[]): Promise<Map<string, string>> {
    const found = await this.#session.store.getMany(numbers.map((number) => nameOf(MAPPING, number)));
    return new Map(
      numbers.flatMap((number): [string, string][] => {
        const text = found.get(nameOf(MAPPING, number));
        return text === undefined ? [] : [[number, JSON.parse(text)]];
      }),
    );
  }

  #mayAsk(number: string): boolean {
    const now = this.#session.host.clock.now();
    return now - (this.#asked.get(number) ?? Number.NEGATIVE_INFINITY) > ASKED_MS;
  }

  /** @throws {AppError} `session_not_connected`, `rate_limited`, `send_failed` */
  async #ask(numbers: readonly string[]): Promise<void> {
    const { link, requests, host, baileys } = this.#session;
    // `getLIDsForPNs` of Baileys 7.0.0-rc14 fails when the server answers about a number with another one.
    const query = new baileys.USyncQuery().withLIDProtocol().withContext('background');
    for (const number of numbers) query.withUser(new baileys.USyncUser().withId(jidOf(number)));
    const socket = await link.whenOpen(ASK_MS);
    const ask = async () => {
      const found = (await socket.executeUSyncQuery(query))?.list ?? [];
      const pairs = found.flatMap(({ id, lid }) => (typeof lid === 'string' ? [{ pn: id, lid }] : []));
      await socket.signalRepository.lidMapping.storeLIDPNMappings(pairs);
    };
    await translateErrors(() => requests.run(socket, ask, ASK_MS));
    this.#remember(numbers, host.clock.now());
  }

  #remember(numbers: readonly string[], now: number): void {
    for (const number of numbers) {
      this.#asked.delete(number);
      this.#asked.set(number, now);
    }
    for (const number of this.#asked.keys()) {
      if (this.#asked.size <= ASKED_KEPT) break;
      this.#asked.delete(number);
    }
  }
}
