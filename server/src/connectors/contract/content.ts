import type { MessageType, ReceivedType } from '../../events/networkTypes.ts';
import type { ContactCard, ContentParts, LivePosition } from './contentParts.ts';
import type { NetworkMedia } from './networkMedia.ts';

export const mediaTypes = ['image', 'video', 'audio', 'voice', 'document', 'sticker'] as const;

export const messageTypes = [
  'text',
  ...mediaTypes,
  'location',
  'contact',
  'poll',
  'template',
  'interactive',
  'event',
] as const satisfies readonly MessageType[];

/** Types of messages that a session can receive, and not send. */
const receivedTypes = ['product', 'order', 'group_invite', 'unsupported'] as const satisfies readonly ReceivedType[];

export const allMessageTypes = [...messageTypes, ...receivedTypes] as const;

/** The content of a message: its text, and the parts that its type adds. */
export interface MessageContent extends ContentParts {
  readonly type: MessageType;
  /** The text, the caption of the media, the question of the poll, or the name of the event or product. */
  readonly text: string;
  readonly media?: NetworkMedia;
  readonly location?: Location;
  readonly contact?: ContactCard;
  readonly poll?: Poll;
  readonly template?: Template;
  readonly interactive?: Interactive;
  /** Digits of the mentioned people. */
  readonly mentions?: readonly string[];
  readonly isForwarded?: boolean;
  /** The payload of the chosen button or list entry, if the message is such a choice. */
  readonly payload?: string;
}

export interface Location {
  /** Degrees, WGS 84. */
  readonly latitude: number;
  readonly longitude: number;
  readonly name?: string;
  readonly address?: string;
  /** If the sender shares a position that moves. */
  readonly live?: LivePosition;
}

export interface Poll {
  readonly options: readonly string[];
  /** How many of them one person can choose. */
  readonly maxSelections: number;
}

export const templateHeaders = ['image', 'video', 'document'] as const;
export type TemplateHeader = (typeof templateHeaders)[number];

/** A text that the network has approved in advance, with values to fill in. */
export interface Template {
  readonly name: string;
  /** Such as `en_US`. */
  readonly language: string;
  /** Type of the message's `media`, which fills the header. Only with the capability `template_files`. */
  readonly header?: TemplateHeader;
  /** The values, in the network's own format. */
  readonly components?: readonly Readonly<Record<string, unknown>>[];
}

/** The choices below a text: buttons, the rows of a list, a link, a request, or products. */
export interface Interactive {
  readonly header?: string;
  readonly footer?: string;
  readonly buttons?: readonly Choice[];
  readonly list?: {
    /** Text of the button that opens the list. */
    readonly title: string;
    readonly rows: readonly (Choice & { readonly description?: string; readonly section?: string })[];
  };
  readonly link?: { readonly title: string; readonly url: string };
  /** A request with a button of the network. Only with the capability `interactive_requests`. */
  readonly request?: 'contact_info' | 'call_permission';
  /** One product. The text can be empty. Only with the capability `catalog_messages`, like all products. */
  readonly product?: { readonly catalogId: string; readonly retailerId: string };
  readonly products?: {
    readonly catalogId: string;
    readonly items: readonly { readonly retailerId: string; readonly section?: string }[];
  };
  /** A button that opens the catalog, below the image of a product. */
  readonly catalog?: { readonly retailerId: string };
}

/** Choosing it sends a message with its title as text and its id as `payload`. */
export interface Choice {
  readonly id: string;
  readonly title: string;
}

/** The timers of disappearing messages that phones offer, in seconds. A caller can set only these. */
export const DISAPPEARING_SECONDS: readonly number[] = [86_400, 604_800, 7_776_000];

/** People that a message can mention. The host leaves out the others. */
export const MAX_MENTIONS = 1024;
