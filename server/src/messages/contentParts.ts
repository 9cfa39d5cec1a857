import { isoTime } from '../clock.ts';
import type {
  Choosing,
  ContentParts,
  EventDetails,
  EventPlace,
  LinkPreview,
  LivePosition,
  Order,
  OrderItem,
  PersonalInvite,
  Product,
} from '../connectors/contract/contentParts.ts';

/* The parts of `connectors/contract/contentParts.ts`: their limits, their search words, and their form in the API. */

const NAME_CHARACTERS = 200;
const ID_CHARACTERS = 200;
const TEXT_CHARACTERS = 2048;
const URL_CHARACTERS = 2048;
const RESPONSE_CHARACTERS = 16_384;
const CARDS = 50;
const CARD_NUMBERS = 10;
const NUMBER_CHARACTERS = 40;
const ITEMS = 100;
const CURRENCY_CHARACTERS = 10;
const FILES = 100;
/** The year 9999. Later times have another form in ISO 8601. */
const LAST_MOMENT = 253_402_300_799_999;

/** Does not split a surrogate pair. */
export const cut = (text: string, characters: number) => text.slice(0, characters).replace(/[\ud800-\udbff]$/, '');

/** Copies the fields whose value the limit accepts. */
type Limits<T> = { readonly [K in keyof T]-?: (value: NonNullable<T[K]>) => T[K] | undefined };

function limited<T extends object>(part: T, limits: Limits<T>): T {
  const kept: Partial<T> = {};
  for (const name of Object.keys(limits) as (keyof T)[]) {
    const value = part[name];
    const within = value === undefined || value === null ? undefined : limits[name](value as NonNullable<T[keyof T]>);
    if (within !== undefined) kept[name] = within;
  }
  return kept as T;
}

const characters = (longest: number) => (text: string) => cut(text, longest);
const name = characters(NAME_CHARACTERS);
const id = characters(ID_CHARACTERS);
const longText = characters(TEXT_CHARACTERS);
const currency = characters(CURRENCY_CHARACTERS);
const flag = (value: boolean) => value === true || undefined;
const finite = (value: number) => (Number.isFinite(value) ? value : undefined);
const count = (value: number) => (Number.isSafeInteger(value) && value >= 0 ? value : undefined);
const moment = (value: number) => (value >= 0 && value <= LAST_MOMENT ? Math.trunc(value) : undefined);
const digits = (value: string) => (/^\d{1,40}$/.test(value) ? value : undefined);
/** Cutting a URL would make another one. */
const url = (value: string) => (value.length <= URL_CHARACTERS && /^https?:\/\//i.test(value) ? value : undefined);
const degrees = (most: number) => (value: number) => (Math.abs(value) <= most ? value : undefined);

const placeLimits: Limits<EventPlace> = {
  latitude: degrees(90),
  longitude: degrees(180),
  name,
  address: characters(500),
};
const eventLimits: Limits<EventDetails> = {
  description: longText,
  startsAt: moment,
  endsAt: moment,
  location: (place) => limited(place, placeLimits),
  joinLink: url,
  isCanceled: flag,
  allowsExtraGuests: flag,
};
const productLimits: Limits<Product> = {
  productId: id,
  retailerId: id,
  catalogId: id,
  title: name,
  description: longText,
  price: finite,
  currency,
  url,
  seller: digits,
};
const itemLimits: Limits<OrderItem> = { retailerId: id, quantity: finite, price: finite, currency };
const orderLimits: Limits<Order> = {
  orderId: id,
  catalogId: id,
  title: name,
  itemCount: count,
  total: finite,
  currency,
  seller: digits,
  items: (items) => items.slice(0, ITEMS).map((item) => limited(item, itemLimits)),
};
const inviteLimits: Limits<PersonalInvite> = { networkId: id, subject: name, code: id, expiresAt: moment };
const choiceLimits: Limits<Choosing> = {
  kind: (kind) => kind,
  name,
  description: longText,
  // Cut JSON would be no JSON.
  response: (text) => (text.length <= RESPONSE_CHARACTERS ? text : undefined),
};
const previewLimits: Limits<LinkPreview> = {
  url: characters(URL_CHARACTERS),
  title: name,
  description: longText,
  thumbnail: () => undefined,
};
export const liveLimits: Limits<LivePosition> = {
  accuracyInMeters: finite,
  metersPerSecond: finite,
  heading: finite,
  sequence: count,
};
const partLimits: Limits<ContentParts> = {
  linkPreview: (preview) => limited(preview, previewLimits),
  isViewOnce: flag,
  isGif: flag,
  isVideoNote: flag,
  isAnimated: flag,
  mentionsAll: flag,
  album: ({ albumId, images, videos }) =>
    albumId === '' || albumId.length > ID_CHARACTERS
      ? undefined
      : { albumId, ...(isCount(images) && { images }), ...(isCount(videos) && { videos }) },
  contacts: (cards) =>
    cards.slice(0, CARDS).map((card) => ({
      name: name(card.name),
      phoneNumbers: card.phoneNumbers.filter((number) => number.length <= NUMBER_CHARACTERS).slice(0, CARD_NUMBERS),
    })),
  event: (event) => limited(event, eventLimits),
  product: (product) => limited(product, productLimits),
  order: (order) => limited(order, orderLimits),
  groupInvite: (invite) => limited(invite, inviteLimits),
  choice: (choice) => limited(choice, choiceLimits),
  rawType: id,
};

const isCount = (value: number | undefined): value is number =>
  count(value ?? -1) !== undefined && Number(value) <= FILES;

/** Returns the parts of a network's message within their limits: a modified app of the network can send anything. */
export const partsWithinLimits = (content: ContentParts): ContentParts => limited(content, partLimits);

export const liveWithinLimits = (live: LivePosition): LivePosition => limited(live, liveLimits);

/** The texts by which the parts are found. */
export function searchedParts({ event, product, order, groupInvite, contacts, linkPreview }: ContentParts) {
  return [
    linkPreview?.title,
    event?.description,
    event?.location?.name,
    event?.location?.address,
    product?.title,
    product?.description,
    product?.retailerId,
    order?.title,
    ...(order?.items ?? []).map(({ retailerId }) => retailerId),
    groupInvite?.subject,
    ...(contacts ?? []).map((card) => card.name),
  ];
}

/** The parts in the API and in events. */
export function shownParts(content: ContentParts) {
  const { linkPreview, album, contacts, event, product, order, groupInvite, choice, rawType } = content;
  return {
    ...(linkPreview && { linkPreview: shownPreview(linkPreview) }),
    ...(content.isViewOnce === true && { viewOnce: true as const }),
    ...(content.isGif === true && { gif: true as const }),
    ...(content.isVideoNote === true && { videoNote: true as const }),
    ...(content.isAnimated === true && { animated: true as const }),
    ...(content.mentionsAll === true && { mentionsAll: true as const }),
    ...(album !== undefined && { album: { ...album } }),
    ...(contacts !== undefined && {
      contacts: contacts.map((card) => ({ name: card.name, phoneNumbers: [...card.phoneNumbers] })),
    }),
    ...(event !== undefined && { event: shownEvent(event) }),
    ...(product !== undefined && { product: { ...product } }),
    ...(order !== undefined && { order: shownOrder(order) }),
    ...(groupInvite !== undefined && { groupInvite: shownInvite(groupInvite) }),
    ...(choice !== undefined && { choice: { ...choice } }),
    ...(rawType !== undefined && { rawType }),
  };
}

function shownPreview({ thumbnail, ...text }: LinkPreview) {
  return { ...text, ...(thumbnail !== undefined && { hasImage: true as const }) };
}

function shownEvent({ startsAt, endsAt, location, isCanceled, allowsExtraGuests, ...rest }: EventDetails) {
  return {
    ...rest,
    ...(startsAt !== undefined && { startsAt: isoTime(startsAt) }),
    ...(endsAt !== undefined && { endsAt: isoTime(endsAt) }),
    ...(location !== undefined && { location: { ...location } }),
    ...(isCanceled === true && { canceled: true as const }),
    ...(allowsExtraGuests === true && { extraGuests: true as const }),
  };
}

function shownOrder({ items, ...order }: Order) {
  return { ...order, ...(items !== undefined && { items: items.map((item) => ({ ...item })) }) };
}

function shownInvite({ networkId, expiresAt, ...invite }: PersonalInvite) {
  return { networkGroupId: networkId, ...invite, ...(expiresAt !== undefined && { expiresAt: isoTime(expiresAt) }) };
}
