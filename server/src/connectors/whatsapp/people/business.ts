import type { Product, WABusinessProfile, WASocket } from 'baileys';
import type {
  BusinessActions,
  BusinessDay,
  BusinessHours,
  BusinessProfile,
  CatalogProduct,
} from '../../contract/account.ts';
import type { Session } from '../session.ts';
import { type Addresses, jidOf } from './addresses.ts';
import { unlessHidden } from './profiles.ts';

/* A business writes everything here itself, so all of it is bounded. */

const MAX_TEXT = 5000;
const MAX_URL = 2000;
const MAX_CURSOR = 2500;
const MAX_COLLECTIONS = 50;
const MAX_PRODUCTS = 100;
const MINUTES_OF_DAY = 1440;

export function createBusinessActions({ requests }: Session, addresses: Addresses): BusinessActions {
  /** Returns null if there is nothing: WhatsApp answers 404 for the catalog of somebody who has none. */
  const ask = <T>(phoneNumber: string, request: (socket: WASocket, jid: string) => Promise<T>): Promise<T | null> => {
    addresses.requireKnown(phoneNumber);
    const jid = jidOf(phoneNumber);
    return requests.ask((socket) => unlessHidden(() => request(socket, jid)), {
      forbidden: 'WhatsApp does not let this number',
    });
  };
  return {
    async profile(phoneNumber) {
      const found = await ask(phoneNumber, (socket, jid) => socket.getBusinessProfile(jid));
      // WhatsApp answers for a person as well, with an empty profile.
      return found ? toProfile(found) : null;
    },
    async catalog(phoneNumber, limit, after) {
      const found = await ask(phoneNumber, (socket, jid) =>
        socket.getCatalog({ jid, limit, ...(after !== null && { cursor: after }) }),
      );
      const next = found?.nextPageCursor;
      return {
        products: (found?.products ?? []).slice(0, MAX_PRODUCTS).map(toProduct),
        next: next && next.length <= MAX_CURSOR ? next : null,
      };
    },
    async collections(phoneNumber) {
      const found = await ask(phoneNumber, (socket, jid) => socket.getCollections(jid, MAX_COLLECTIONS));
      return (found?.collections ?? []).slice(0, MAX_COLLECTIONS).map(({ id, name, products }) => ({
        id: id ?? '',
        name: text(name) ?? '',
        products: products.slice(0, MAX_PRODUCTS).map(toProduct),
      }));
    },
  };
}

function toProfile({
  description,
  category,
  address,
  email,
  website,
  business_hours: hours,
}: WABusinessProfile): BusinessProfile {
  return {
    description: text(description),
    category: text(category),
    address: text(address),
    email: text(email),
    websites: [website].flat().flatMap((url) => text(url, MAX_URL) ?? []),
    hours: toHours(hours),
  };
}

const DAYS: readonly string[] = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] satisfies BusinessDay['day'][];
const MODES: ReadonlyMap<string, BusinessDay['mode']> = new Map([
  ['specific_hours', 'hours'],
  ['open_24h', 'always'],
  ['appointment_only', 'appointment'],
]);

function toHours(hours: WABusinessProfile['business_hours']): BusinessHours | null {
  const days = (hours?.business_config ?? []).slice(0, 2 * DAYS.length).flatMap((each): BusinessDay[] => {
    // Baileys passes on the attributes of the network, all of them texts.
    const { day_of_week: day, mode: name, open_time: opens, close_time: closes }: Record<string, unknown> = { ...each };
    const mode = MODES.get(String(name));
    if (typeof day !== 'string' || !DAYS.includes(day) || mode === undefined) return [];
    const times = mode === 'hours' ? { ...minutes('opens', opens), ...minutes('closes', closes) } : {};
    return [{ day: day as BusinessDay['day'], mode, ...times }];
  });
  return days.length === 0 ? null : { timeZone: text(hours?.timezone), days };
}

function minutes<K extends string>(name: K, given: unknown): { [name in K]?: number } {
  const value = Number(given);
  const isTime = given !== undefined && Number.isInteger(value) && value >= 0 && value <= MINUTES_OF_DAY;
  return isTime ? ({ [name]: value } as { [name in K]: number }) : {};
}

function toProduct(product: Product): CatalogProduct {
  const { id, name, description, price, currency, retailerId, url, imageUrls, isHidden } = product;
  return {
    id: id ?? '',
    name: text(name) ?? '',
    description: text(description),
    price: Number.isFinite(price) && price > 0 ? price : null,
    currency: text(currency, 10),
    retailerId: text(retailerId),
    url: text(url, MAX_URL),
    imageUrl: text(imageUrls['original'] ?? imageUrls['requested'], MAX_URL),
    isHidden: isHidden === true,
  };
}

/** Returns null for an empty text, and the beginning of a long one. */
function text(given: string | null | undefined, max = MAX_TEXT): string | null {
  return given ? given.slice(0, max) : null;
}
