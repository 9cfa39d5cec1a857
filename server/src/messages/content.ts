import { type Location, MAX_MENTIONS, type MessageContent, type Poll } from '../connectors/contract/content.ts';
import type { RemoteFile } from '../connectors/contract/history.ts';
import type { MediaFacts } from '../connectors/contract/media.ts';
import type { ArrivedMessage } from '../connectors/contract/messageKey.ts';
import type { NetworkMedia } from '../connectors/contract/networkMedia.ts';
import type { MediaTable, MessageRow } from '../db/schema.ts';
import { partsWithinLimits, searchTexts, shownParts } from '../events/contentParts/contentParts.ts';
import { cut, wholeId } from '../events/contentParts/limits.ts';
import { liveWithinLimits } from '../events/contentParts/live.ts';
import { cardWithinLimits } from '../events/contentParts/people.ts';
import { factsOf, type Media } from '../media/media.ts';

/** The parts of a message besides its text, as stored in `content`. */
export interface StoredContent extends Omit<MessageContent, 'type' | 'text' | 'media' | 'livePhoto'> {
  readonly media?: StoredMedia;
  readonly livePhoto?: StoredMedia;
  /** The file of a message from the history, until it is fetched. */
  readonly remoteMedia?: Omit<RemoteFile, 'reference'>;
  /** URLs that the server fetches once the message is approved. */
  readonly toFetch?: ToFetch;
  /** The network's address that the message arrived with, if the connector reported it. Never shown. */
  readonly address?: string;
}

/** Requests that wait for the approval of a message, because a URL can carry data. */
export interface ToFetch {
  /** URL of the file. */
  readonly fileUrl?: string;
  /** Name of that file; if unset, the name is the one that its host gives. */
  readonly fileName?: string;
  /** Whether the first link of the text gets a preview. */
  readonly preview?: true;
  /** URL of the image of `linkPreview`. */
  readonly previewImageUrl?: string;
}

/** A file of the account, as a message refers to it. */
export interface StoredMedia {
  readonly mediaId: string;
  /** SHA-256, the key of the content. */
  readonly hash: string;
  readonly mimeType: string;
  /** Bytes. */
  readonly size: number;
  readonly fileName: string | null;
  readonly facts?: MediaFacts;
}

export function storedMedia(row: MediaTable): StoredMedia {
  const { media_id: mediaId, hash, mime_type: mimeType, size, file_name: fileName } = row;
  const facts = factsOf(row);
  return { mediaId, hash, mimeType, size, fileName, ...(facts && { facts }) };
}

export function contentOf({ content }: Pick<MessageRow, 'content'>): StoredContent {
  return content === null ? {} : JSON.parse(content);
}

/** The value of the `content` column; null if there is nothing to store. */
export function contentColumn(content: StoredContent): string | null {
  return Object.keys(content).length === 0 ? null : JSON.stringify(content);
}

/** The value of the `ad_id` column. */
export const adColumn = ({ referral }: StoredContent): string | null => (referral ? (referral.adId ?? '') : null);

export function toNetworkContent(row: Omit<MessageRow, 'seq' | 'turn' | 'late_at'>, media: Media): MessageContent {
  const { media: stored, livePhoto: _, remoteMedia: __, toFetch: ___, address: ____, ...content } = contentOf(row);
  return {
    type: row.type,
    text: row.body,
    ...content,
    ...(stored !== undefined && { media: toNetworkMedia(stored, media) }),
  };
}

export function toNetworkMedia(
  { hash, mimeType, size, fileName, facts }: Omit<StoredMedia, 'mediaId'>,
  media: Media,
): NetworkMedia {
  const open = () => media.open(hash);
  const thumbnail = () => media.thumbnail(hash);
  return { mimeType, size, fileName, hash, open, ...(facts && { facts, thumbnail }) };
}

/** Returns the address that a message arrived with as part of its stored content. */
export function addressPart({ address }: ArrivedMessage): Pick<StoredContent, 'address'> {
  const kept = address === undefined ? undefined : wholeId(address);
  return kept === undefined ? {} : { address: kept };
}

const NAME_CHARACTERS = 200;
const ADDRESS_CHARACTERS = 500;
const POLL_OPTIONS = 12;
const OPTION_CHARACTERS = 100;
const PAYLOAD_CHARACTERS = 1024;
const PART_CHARACTERS = 65_536;

/**
 * Returns the parts of a network's message that the API knows, within its limits: a modified app of the network can
 * send anything. A location with impossible coordinates becomes a text.
 */
export function withinLimits(content: MessageContent): MessageContent {
  const { type, text, media, location, contact, poll, template, interactive, mentions, isForwarded, payload } = content;
  const unlimited = {
    ...(media && { media }),
    ...(isSmall(template) && { template }),
    ...(isSmall(interactive) && { interactive }),
    ...(isForwarded === true && { isForwarded }),
    ...partsWithinLimits(content),
  };
  const isValidPosition =
    location === undefined || (Math.abs(location.latitude) <= 90 && Math.abs(location.longitude) <= 180);
  if (!isValidPosition) return { ...unlimited, type: 'text', text: text || cut(location.name ?? '', NAME_CHARACTERS) };
  return {
    ...unlimited,
    type,
    text,
    ...(location && { location: locationWithinLimits(location) }),
    ...(contact && { contact: cardWithinLimits(contact) }),
    ...(poll && { poll: pollWithinLimits(poll) }),
    ...(mentions && mentions.length > 0 && { mentions: mentions.slice(0, MAX_MENTIONS) }),
    ...(payload !== undefined && { payload: cut(payload, PAYLOAD_CHARACTERS) }),
  };
}

/**
 * Returns the content of a message that someone wrote with one of the account's own devices. Such a person came through
 * no ad, but can send the preview of one.
 */
export const ownWithinLimits = ({ referral: _, ...content }: MessageContent): MessageContent => withinLimits(content);

/** A template or buttons in the network's format are kept whole, or not at all. */
function isSmall<T extends object>(part: T | undefined): part is T {
  return part !== undefined && JSON.stringify(part).length <= PART_CHARACTERS;
}

function locationWithinLimits({ latitude, longitude, name, address, live }: Location): Location {
  return {
    latitude,
    longitude,
    ...(name !== undefined && { name: cut(name, NAME_CHARACTERS) }),
    ...(address !== undefined && { address: cut(address, ADDRESS_CHARACTERS) }),
    ...(live !== undefined && { live: liveWithinLimits(live) }),
  };
}

function pollWithinLimits({ options, maxSelections }: Poll): Poll {
  const kept = options.slice(0, POLL_OPTIONS).map((option) => cut(option, OPTION_CHARACTERS));
  return { options: kept, maxSelections: Math.min(Math.max(1, maxSelections), Math.max(1, kept.length)) };
}

export function searchText(body: string, content: StoredContent): string {
  const { media, remoteMedia, location, contact, poll, template } = content;
  return [
    body,
    media?.fileName,
    remoteMedia?.fileName,
    location?.name,
    location?.address,
    contact?.name,
    ...(contact?.phoneNumbers ?? []),
    ...(poll?.options ?? []),
    template?.name,
    ...searchTexts(content),
  ]
    .filter((part) => part !== undefined && part !== null)
    .join('\n');
}

/** A file in the form of the API and of events. */
export function mediaPart({ mediaId, mimeType, size, fileName }: StoredMedia, files: Media) {
  return { mediaId, mimeType, size, fileName, url: files.urlOf(mediaId) };
}

/** The parts of a message besides its text, in the API and in events. */
export function contentParts(content: StoredContent, files: Media) {
  const { media, livePhoto, location, contact, poll, template, interactive } = content;
  const { mentions, isForwarded, payload } = content;
  return {
    ...(media !== undefined && { media: mediaPart(media, files) }),
    ...(livePhoto !== undefined && { livePhoto: mediaPart(livePhoto, files) }),
    ...(location !== undefined && { location: { ...location } }),
    ...(contact !== undefined && { contact: { name: contact.name, phoneNumbers: [...contact.phoneNumbers] } }),
    ...(poll !== undefined && { poll: { options: [...poll.options], maxSelections: poll.maxSelections } }),
    ...(template !== undefined && { template: { ...template, components: [...(template.components ?? [])] } }),
    ...(interactive !== undefined && { interactive: { ...interactive } }),
    ...(mentions !== undefined && { mentions: [...mentions] }),
    ...(isForwarded === true && { forwarded: true as const }),
    ...(payload !== undefined && { payload }),
    ...shownParts(content),
  };
}
