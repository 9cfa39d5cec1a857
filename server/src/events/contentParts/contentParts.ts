import { type Static, type TSchema, Type } from 'typebox';
import type { AlbumPart, ContentParts } from '../../connectors/contract/contentParts.ts';
import { Count, Flag, Text } from '../fields.ts';
import { eventPart } from './calendarEvent.ts';
import { choicePart } from './choice.ts';
import { orderPart, productPart } from './commerce.ts';
import { count, flag, id, type Limits, limited, wholeId } from './limits.ts';
import { linkPreviewPart } from './linkPreview.ts';
import { definePart, type Part } from './part.ts';
import { contactsPart, groupInvitePart } from './people.ts';
import { quotedPart } from './quoted.ts';
import { referralPart } from './referral.ts';

const ALBUM_FILES = 100;

const albumPart = definePart({
  field: 'album',
  schema: Type.Optional(
    Type.Object({
      albumId: Type.String({ description: 'The same for all files of the album.' }),
      images: Count('How many images the album has, if it is known.'),
      videos: Count('How many videos the album has, if it is known.'),
      index: Count("Position of the file in the album, from 0 on, if the sender's app numbers them."),
    }),
  ),
  limit: (album: AlbumPart) => {
    const kept = limited(album, { albumId: wholeId, images: albumCount, videos: albumCount, index: albumCount });
    return kept.albumId === undefined ? undefined : kept;
  },
  show: (album) => ({ ...album }),
});

const albumCount = (value: number) => (value <= ALBUM_FILES ? count(value) : undefined);

const flagPart = <N extends string>(field: N, description: string) =>
  definePart({
    field,
    schema: Flag(description),
    limit: (value: boolean) => flag(value),
    show: (value) => flag(value),
  });

/** All parts that networks add to texts, files, places and polls, by their fields in `ContentParts`. */
const parts = {
  quoted: quotedPart,
  linkPreview: linkPreviewPart,
  isViewOnce: flagPart('viewOnce', 'Present if the file can be opened only once.'),
  isGif: flagPart('gif', 'Present if the video plays like a GIF: in a loop, without sound.'),
  isVideoNote: flagPart('videoNote', 'Present if the video is a round video note.'),
  isAnimated: flagPart('animated', 'Present if the sticker is animated.'),
  mentionsAll: flagPart('mentionsAll', 'Present if everybody in the group is mentioned.'),
  album: albumPart,
  contacts: contactsPart,
  event: eventPart,
  product: productPart,
  order: orderPart,
  groupInvite: groupInvitePart,
  choice: choicePart,
  referral: referralPart,
  rawType: definePart({
    field: 'rawType',
    schema: Text("The network's name of this kind of message. Only of messages of the type `unsupported`."),
    limit: (value: string) => id(value),
    show: (value) => value,
  }),
  isAwaited: flagPart(
    'awaited',
    'Present while the content is missing, because it could not be decrypted. Only of messages of the type `unsupported`.',
  ),
} as const satisfies { readonly [K in keyof ContentParts]-?: Part<NonNullable<ContentParts[K]>, string, TSchema> };

type Parts = typeof parts;
type Schemas = { [K in keyof Parts as Parts[K]['field']]: Parts[K]['schema'] };
type Shown = { [K in keyof Parts as Parts[K]['field']]?: Static<Parts[K]['schema']> };

/** Schemas of the parts, by their fields in events and the API. */
export const contentPartSchemas = Object.fromEntries(
  Object.values(parts).map(({ field, schema }) => [field, schema]),
) as Schemas; // made of `parts`, as the type is

/** Calls each part only with the values of its field. */
const rows = Object.entries(parts) as [keyof ContentParts, Part<unknown, string, TSchema>][];

/** Returns the present parts, each with its row. */
function presentIn(content: ContentParts) {
  return rows.flatMap(([name, part]) => {
    const value = content[name];
    return value === undefined || value === null ? [] : [{ part, value }];
  });
}

const limits = Object.fromEntries(rows.map(([name, { limit }]) => [name, limit])) as Limits<ContentParts>;

/** Returns the parts of a network's message within their limits. */
export const partsWithinLimits = (content: ContentParts): ContentParts => limited(content, limits);

/** Returns the texts that the search finds. */
export function searchTexts(content: ContentParts): (string | undefined)[] {
  return presentIn(content).flatMap(({ part, value }) => part.texts?.(value) ?? []);
}

/** Returns the parts as the API and events show them. */
export function shownParts(content: ContentParts): Shown {
  const shown = presentIn(content).map(({ part, value }) => [part.field, part.show(value)] as const);
  // Each value is of its schema.
  return Object.fromEntries(shown.filter(([, value]) => value !== undefined)) as Shown;
}
