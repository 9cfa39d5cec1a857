/* The parts of a message that networks add to plain texts, files, places and polls. */

import type { MessageType } from '../../events/networkTypes.ts';

export interface ContentParts {
  /** The message that this one replies to, as the network describes it. */
  readonly quoted?: Quoted;
  /** The preview of a link in a text; null for none, where the network would make one itself. */
  readonly linkPreview?: LinkPreview | null;
  /** The file can be opened once. */
  readonly isViewOnce?: boolean;
  /** The video plays like a GIF: in a loop, without sound. */
  readonly isGif?: boolean;
  /** The video is a round video note. */
  readonly isVideoNote?: boolean;
  /** The sticker moves. */
  readonly isAnimated?: boolean;
  /** Everybody in the group is mentioned. */
  readonly mentionsAll?: boolean;
  readonly album?: AlbumPart;
  /** All cards of a message with several. `contact` then has the numbers of all of them. */
  readonly contacts?: readonly ContactCard[];
  /** Of the type `event`; its name is the text. */
  readonly event?: EventDetails;
  readonly product?: Product;
  readonly order?: Order;
  readonly groupInvite?: PersonalInvite;
  /** The choice of the sender, if the message answers buttons, a list, a template or a form. */
  readonly choice?: Choosing;
  readonly referral?: Referral;
  /** The network's name of a kind of message that has no type here. Only of the type `unsupported`. */
  readonly rawType?: string;
  /** The network cannot pass on the content yet. A later report with the same `networkId` replaces the message. */
  readonly isAwaited?: boolean;
}

/** A quoted message. Nothing else may be known about it. */
export interface Quoted {
  /** Our id. The host sets it if the session has the message. */
  readonly messageId?: string;
  /** Our id of a status. The host sets it if the session has the status. */
  readonly statusId?: string;
  /** The id that the network uses. */
  readonly networkId: string;
  /** Digits of its sender, or a placeholder. */
  readonly from?: string;
  readonly type?: MessageType;
  /** Text, caption or question, as the reply repeats it. */
  readonly text?: string;
  /** It is a status. */
  readonly isStatus?: boolean;
}

export interface ContactCard {
  readonly name: string;
  /** Digits. */
  readonly phoneNumbers: readonly string[];
}

export interface LinkPreview {
  /** The link as it occurs in the text. */
  readonly url: string;
  /** Without it, the network makes the preview. */
  readonly title?: string;
  readonly description?: string;
  /** A small JPEG in base64. Only in messages that are sent. */
  readonly thumbnail?: string;
}

/** The place of a file among those that are shown as one album. */
export interface AlbumPart {
  /** Shared by all files of the album. Opaque. */
  readonly albumId: string;
  /** How many files the album has, if it is known. */
  readonly images?: number;
  readonly videos?: number;
  /** Position of the file, from 0 on, if the sender's app numbers them. */
  readonly index?: number;
}

export interface EventDetails {
  readonly description?: string;
  /** Milliseconds since the epoch. */
  readonly startsAt?: number;
  readonly endsAt?: number;
  readonly location?: EventPlace;
  /** Link to a call. */
  readonly joinLink?: string;
  readonly isCanceled?: boolean;
  readonly allowsExtraGuests?: boolean;
}

/** Coordinates, a name, or both. */
export interface EventPlace {
  /** Degrees, WGS 84. */
  readonly latitude?: number;
  readonly longitude?: number;
  readonly name?: string;
  readonly address?: string;
}

export interface Product {
  readonly productId?: string;
  /** The seller's own id of the product. */
  readonly retailerId?: string;
  readonly catalogId?: string;
  readonly title?: string;
  readonly description?: string;
  /** In units of the currency. */
  readonly price?: number;
  /** Such as `EUR`. */
  readonly currency?: string;
  readonly url?: string;
  /** Digits. */
  readonly seller?: string;
}

export interface Order {
  readonly orderId?: string;
  readonly catalogId?: string;
  readonly title?: string;
  readonly itemCount?: number;
  /** In units of the currency. */
  readonly total?: number;
  readonly currency?: string;
  /** Digits. */
  readonly seller?: string;
  readonly items?: readonly OrderItem[];
}

export interface OrderItem {
  readonly retailerId: string;
  readonly quantity: number;
  /** Of one, in units of the currency. */
  readonly price?: number;
  readonly currency?: string;
}

/** An invite to a group for the recipient only. */
export interface PersonalInvite {
  /** The network's id of the group. */
  readonly networkId: string;
  readonly subject?: string;
  readonly code: string;
  readonly expiresAt?: number;
}

export interface Choosing {
  readonly kind: 'button' | 'list' | 'template' | 'form';
  /** The network's name of the form. */
  readonly name?: string;
  readonly description?: string;
  /** The answers in the form, as JSON. */
  readonly response?: string;
}

/** The ad or post that a person tapped before writing. Every field comes from the network, or from the sender's app. */
export interface Referral {
  /** The network's id of the ad or post. */
  readonly adId?: string;
  /** Page of the ad or post. */
  readonly url?: string;
  readonly headline?: string;
  readonly body?: string;
  /** Id of the click, for Meta's Conversions API. */
  readonly clickId?: string;
  /** The network's name of the place that was tapped, such as `ad`, `post` or `ctwa_ad`. */
  readonly entryPoint?: string;
  /** Image or video of the ad. */
  readonly mediaUrl?: string;
}

/** A place that moves while its sender shares it. */
export interface LivePosition {
  readonly accuracyInMeters?: number;
  readonly metersPerSecond?: number;
  /** Degrees clockwise from north. */
  readonly heading?: number;
  /** Grows with every position of the same message. */
  readonly sequence?: number;
}

export const eventAnswers = ['going', 'not_going', 'maybe'] as const;
export type EventAnswer = (typeof eventAnswers)[number];

/** The part of a connection that votes. */
export interface Vote {
  /** All options of the poll, as they were sent. */
  readonly poll: readonly string[];
  /** The chosen ones; none withdraws the vote. */
  readonly options: readonly string[];
}
