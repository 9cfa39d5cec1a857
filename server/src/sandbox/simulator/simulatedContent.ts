import type { Static, TObject } from 'typebox';
import { allMessageTypes, type Location } from '../../connectors/contract/content.ts';
import {
  type ContentParts,
  type EventDetails,
  eventAnswers,
  type LivePosition,
  type Quoted,
} from '../../connectors/contract/contentParts.ts';
import type { NetworkMedia } from '../../connectors/contract/networkMedia.ts';
import type { MessageType } from '../../events/networkTypes.ts';
import {
  boolean,
  integer,
  list,
  number,
  oneOf,
  optional,
  strictObject,
  strictPart,
  string,
  time,
} from '../../invoke/input/fields.ts';
import { phoneNumber, SimulatedNumberInput } from '../../invoke/input/phoneNumbers.ts';
import { ref } from '../../invoke/input/references.ts';
import { parseTime } from '../../invoke/input/validate.ts';
import type { Context } from '../../invoke/operation.ts';
import { storedMedia, toNetworkMedia } from '../../messages/content.ts';

/* The kinds of messages that a simulation can send besides texts, files, places, contacts and polls. */

const Name = (description: string) => optional(string(description, { minLength: 1, maxLength: 200 }));
/** An id that has a meaning only for the network. */
const ForeignId = (description: string) =>
  optional(string(description, { ...ref('other'), minLength: 1, maxLength: 200 }));
const Long = (description: string) => optional(string(description, { minLength: 1, maxLength: 2048 }));
const Amount = (description: string) => optional(number(description, { minimum: 0 }));
const Currency = optional(string('Currency, such as `EUR`.', { minLength: 3, maxLength: 3 }));
const Latitude = optional(number('Degrees north (WGS 84).', { minimum: -90, maximum: 90 }));
const Longitude = optional(number('Degrees east (WGS 84).', { minimum: -180, maximum: 180 }));

/** The moving position of a location. */
export const LiveInput = optional(
  strictPart('Makes it a live location, whose position the action `move` changes.', {
    accuracyInMeters: Amount('How exact the position is.'),
    metersPerSecond: Amount('Speed of the sender.'),
    heading: optional(number('Degrees clockwise from north.', { minimum: 0, maximum: 360 })),
    sequence: optional(integer('Higher than that of the position before.', { minimum: 0 })),
  }),
);

export const contentInputs = {
  viewOnce: optional(boolean('Whether the file can be opened only once.')),
  gif: optional(boolean('Whether the video plays like a GIF.')),
  videoNote: optional(boolean('Whether the video is a round video note.')),
  animated: optional(boolean('Whether the sticker is animated.')),
  mentionAll: optional(boolean('Whether everybody in the group is mentioned.')),
  albumId: ForeignId('The same for all files of an album.'),
  event: optional(
    strictPart('Event to send; its name is in `message`.', {
      description: Long('Description of the event.'),
      startsAt: time('When it begins.'),
      endsAt: optional(time('When it ends.')),
      location: optional(
        strictPart('Where it is.', { name: Name('Name of the place.'), latitude: Latitude, longitude: Longitude }),
      ),
      joinLink: Long('Link to its call.'),
      canceled: optional(boolean('Whether it was canceled.')),
    }),
  ),
  product: optional(
    strictPart('Product to send.', {
      productId: ForeignId("The network's id of the product."),
      retailerId: ForeignId("The seller's own id of the product."),
      title: Name('Name of the product.'),
      description: Long('Description of the product.'),
      price: Amount('Price, in units of the currency.'),
      currency: Currency,
      url: Long('Page of the product.'),
    }),
  ),
  order: optional(
    strictPart('Order to send.', {
      orderId: ForeignId("The network's id of the order."),
      title: Name('Title of the order.'),
      total: Amount('Total price, in units of the currency.'),
      currency: Currency,
      items: optional(
        list(
          strictObject({
            retailerId: string("The seller's own id of the product.", {
              ...ref('other'),
              minLength: 1,
              maxLength: 200,
            }),
            quantity: number('How many of it are ordered.', { minimum: 0 }),
            price: Amount('Price of one, in units of the currency.'),
            currency: Currency,
          }),
          'The ordered products.',
          { minItems: 1, maxItems: 100 },
        ),
      ),
    }),
  ),
  groupInvite: optional(
    strictPart('Invite to a group, to send.', {
      networkGroupId: string('Address of the group at the network.', { ...ref('other'), minLength: 1, maxLength: 200 }),
      subject: Name('Name of the group.'),
      code: string('Code of the invite.', { minLength: 1, maxLength: 200 }),
      expiresAt: optional(time('When it expires.')),
    }),
  ),
  choice: optional(
    strictPart('Answers buttons, a list, a template or a form; the title of the choice is in `message`.', {
      kind: oneOf(['button', 'list', 'template', 'form'], 'Kind of the message that the sender answers.'),
      id: Name('Id of the choice, which the session gets as `payload`.'),
      name: Name("The network's name of the form."),
      response: Long('The answers in the form, as JSON.'),
    }),
  ),
  referral: optional(
    strictPart('Says that the sender tapped an ad or post before writing.', {
      adId: ForeignId("The network's id of the ad or post."),
      url: Long('Page of the ad or post.'),
      headline: Name('Headline of the ad.'),
      body: Long('Text of the ad.'),
      clickId: ForeignId("Id of the click, for Meta's Conversions API."),
      entryPoint: Name('Place that was tapped, such as `ad`.'),
      mediaUrl: Long('Image or video of the ad.'),
    }),
  ),
  quoted: optional(
    strictPart('Message that the session does not have, such as an older one or a status, to reply to.', {
      networkId: string("The network's id of the message.", { ...ref('other'), minLength: 1, maxLength: 200 }),
      from: optional(SimulatedNumberInput('Number of its sender.')),
      type: optional(oneOf(allMessageTypes, 'Type of the message.')),
      text: Long('Its text, caption or question, as the reply repeats it.'),
      isStatus: optional(boolean('Whether it is a status.')),
    }),
  ),
  rawType: Name("The network's name of a kind of message that the server does not know."),
  answer: optional(oneOf(eventAnswers, 'Whether the person comes to the event.')),
};

type Fields<T> = { readonly [K in keyof T]?: T[K] | undefined };

export type ContentInput = Static<TObject<typeof contentInputs>>;

/** The fields that have a value. */
const given = <T extends object>(fields: object): T =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;

const liveOf = (live: Fields<LivePosition> | undefined) => live && { live: given<LivePosition>(live) };

/** Fields that a simulated message of any type can have. */
export function additions(input: ContentInput) {
  const { viewOnce, gif, videoNote, animated, mentionAll, albumId, choice, referral, quoted } = input;
  return {
    ...(quoted && { quoted: quotedOf(quoted) }),
    ...(viewOnce === true && { isViewOnce: true }),
    ...(gif === true && { isGif: true }),
    ...(videoNote === true && { isVideoNote: true }),
    ...(animated === true && { isAnimated: true }),
    ...(mentionAll === true && { mentionsAll: true }),
    ...(albumId !== undefined && { album: { albumId } }),
    ...(choice !== undefined && choiceOf(choice)),
    ...(referral !== undefined && { referral: given<NonNullable<ContentParts['referral']>>(referral) }),
  };
}

function quotedOf({ from, isStatus, ...quoted }: NonNullable<ContentInput['quoted']>): Quoted {
  const number = from === undefined ? undefined : phoneNumber('quoted.from', from);
  return given({ ...quoted, from: number, ...(isStatus === true && { isStatus }) });
}

function choiceOf({ id, ...choice }: NonNullable<ContentInput['choice']>) {
  return { choice: given<NonNullable<ContentParts['choice']>>(choice), ...(id !== undefined && { payload: id }) };
}

/** The type and the part of a simulated message, if one of these fields was passed. */
export function simulatedPart(input: ContentInput): ({ readonly type: MessageType } & ContentParts) | undefined {
  const { event, product, order, groupInvite: invite, rawType } = input;
  if (event !== undefined) return { type: 'event', event: eventOf(event) };
  if (product !== undefined) return { type: 'product', product: given(product) };
  if (order !== undefined) return { type: 'order', order: orderOf(order) };
  if (invite !== undefined) {
    const { networkGroupId: networkId, code, subject, expiresAt } = invite;
    const until = expiresAt === undefined ? undefined : parseTime('groupInvite.expiresAt', expiresAt);
    return { type: 'group_invite', groupInvite: given({ networkId, code, subject, expiresAt: until }) };
  }
  return rawType === undefined ? undefined : { type: 'unsupported', rawType };
}

function eventOf({ startsAt, endsAt, location, canceled, ...event }: NonNullable<ContentInput['event']>): EventDetails {
  return given({
    ...event,
    startsAt: parseTime('event.startsAt', startsAt),
    ...(endsAt !== undefined && { endsAt: parseTime('event.endsAt', endsAt) }),
    ...(location !== undefined && { location: given(location) }),
    ...(canceled === true && { isCanceled: true }),
  });
}

function orderOf(order: { readonly items?: readonly object[] | undefined }): NonNullable<ContentParts['order']> {
  const { items } = order;
  return given({ ...order, ...(items && { items: items.map((item) => given(item)), itemCount: items.length }) });
}

interface GivenLocation extends Fields<Pick<Location, 'name' | 'address'>>, Pick<Location, 'latitude' | 'longitude'> {
  readonly live?: Fields<LivePosition> | undefined;
}

export function toLocation({ latitude, longitude, name, address, live }: GivenLocation): Location {
  return {
    latitude,
    longitude,
    ...(name !== undefined && { name }),
    ...(address !== undefined && { address }),
    ...liveOf(live),
  };
}

/** Returns an uploaded file as the network passes it on. */
export async function simulatedFile(ctx: Context<'media'>, mediaId: string): Promise<NetworkMedia> {
  return toNetworkMedia(storedMedia(await ctx.media.find(ctx.accountId, mediaId)), ctx.media);
}
