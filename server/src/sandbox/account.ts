import type {
  BusinessActions,
  BusinessProfile,
  LinkedDevice,
  PersonIds,
  PrivacyActions,
  PrivacySettings,
} from '../connectors/contract/account.ts';
import type { OwnBusinessProfile } from '../connectors/contract/business.ts';
import type { SessionHost } from '../connectors/contract/host.ts';
import { isPlaceholder, type NetworkPerson } from '../connectors/contract/people.ts';
import type { Member } from './groups.ts';
import type { SandboxNetwork } from './network.ts';
import type { AccountSimulation } from './simulatedActions.ts';

const BUSINESS = 'business:';

/** The settings of an account that never changed them. */
const DEFAULTS: PrivacySettings = {
  lastSeen: 'everyone',
  online: 'everyone',
  profilePicture: 'everyone',
  about: 'everyone',
  readReceipts: true,
  groupAdd: 'everyone',
  calls: 'everyone',
  disappearingSeconds: 0,
};

/** A business that a simulation has defined. The own number has its profile on the network, where others see it. */
interface Business extends Pick<AccountSimulation, 'collections'> {
  readonly profile: BusinessProfile | null;
}

/** The account of a session: its privacy settings, and what it sees of businesses: sessions, or simulated ones. */
export class SandboxAccount {
  readonly #network: SandboxNetwork;
  readonly #host: SessionHost;
  readonly #self: Member & { readonly address: string };
  readonly privacy: PrivacyActions;
  readonly business: BusinessActions;

  constructor(network: SandboxNetwork, host: SessionHost, self: Member & { readonly address: string }) {
    this.#network = network;
    this.#host = host;
    this.#self = self;
    this.privacy = {
      read: async () => {
        self.requireOnline();
        return this.#privacy();
      },
      update: async (change) => {
        self.requireOnline();
        await network.store.changeProfile(self.address, { privacy: { ...(await this.#privacy()), ...change } });
      },
    };
    this.business = {
      profile: async (number) =>
        (await this.#business(number))?.profile ?? shownToOthers((await network.profile(number)).business),
      catalog: async (number, limit, after) => {
        const all = (await this.#business(number))?.collections.flatMap(({ products }) => products) ?? [];
        const start = after === null ? 0 : all.findIndex(({ id }) => id === after) + 1;
        const products = all.slice(start, start + limit);
        return { products, next: start + limit < all.length ? (products.at(-1)?.id ?? null) : null };
      },
      collections: async (number) => (await this.#business(number))?.collections ?? [],
    };
  }

  async sendsReadReceipts(): Promise<boolean> {
    return (await this.#privacy()).readReceipts;
  }

  async linkedDevices(): Promise<readonly LinkedDevice[]> {
    this.#self.requireOnline();
    return [
      { id: 0, isPhone: true, isOwn: false, isHosted: false, keyIndex: null },
      { id: 1, isPhone: false, isOwn: true, isHosted: false, keyIndex: 1 },
    ];
  }

  /** The LIDs of this network are made of the number, so that nothing has to be stored. */
  async lookUp(phoneNumbers: readonly string[], lids: readonly string[]): Promise<readonly PersonIds[]> {
    this.#self.requireOnline();
    const present = await this.#network.onNetwork([...phoneNumbers, ...lids.flatMap((lid) => numberOf(lid) ?? [])]);
    return [
      ...phoneNumbers.map((phoneNumber) => ({
        phoneNumber,
        lid: present.has(phoneNumber) ? lidOf(phoneNumber) : null,
      })),
      ...lids.map((lid) => {
        const number = numberOf(lid);
        return { phoneNumber: number !== undefined && present.has(number) ? number : null, lid };
      }),
    ];
  }

  async define({ from, profile, collections }: AccountSimulation): Promise<void> {
    const isOwn = from === this.#self.number;
    if (isOwn) {
      const { description, category, address, email, websites } = profile;
      const texts = { description, address, email, vertical: category };
      const change = Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, text ?? '']));
      await this.#network.store.changeProfile(this.#self.address, { business: { ...change, websites } });
    }
    const business: Business = { profile: isOwn ? null : profile, collections };
    await this.#host.store.set(BUSINESS + from, JSON.stringify(business));
  }

  async #privacy(): Promise<PrivacySettings> {
    return (await this.#network.profile(this.#self.number)).privacy ?? DEFAULTS;
  }

  async #business(number: string): Promise<Business | undefined> {
    this.#self.requireOnline();
    const text = await this.#host.store.get(BUSINESS + number);
    return text === undefined ? undefined : JSON.parse(text);
  }
}

function shownToOthers(business: OwnBusinessProfile | undefined): BusinessProfile | null {
  if (business === undefined) return null;
  const { vertical, ...shown } = business;
  return { ...shown, category: vertical, hours: null };
}

const LID_PREFIX = '77';
/** A placeholder is three zeros and the LID. */
const ZEROS = 3;

const reversed = (digits: string) => [...digits].toReversed().join('');
const lidOf = (number: string): string => LID_PREFIX + reversed(number);
const numberOf = (lid: string): string | undefined =>
  lid.startsWith(LID_PREFIX) ? reversed(lid.slice(LID_PREFIX.length)) : undefined;

/** The number of a person whose LID a lookup has returned. The sandbox hides numbers only of people with other LIDs. */
export function personOf(digits: string): NetworkPerson {
  const phoneNumber = isPlaceholder(digits) ? (numberOf(digits.slice(ZEROS)) ?? digits) : digits;
  return { phoneNumber, networkIds: [phoneNumber] };
}
