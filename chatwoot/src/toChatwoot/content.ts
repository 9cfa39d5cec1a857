import type { EventData } from '@switchboard/sdk/api';
import { toMarkdown } from '../text/markdown.ts';
import { type Card, toVcard } from '../text/vcard.ts';

/** The fields of `message.incoming`. A `message.sent` from the phone has the same ones. */
export type MessageData = EventData['message.incoming'];

export interface Content {
  /** Markdown. */
  readonly text: string;
  /** File of Switchboard to copy. */
  readonly media?: {
    readonly mediaId: string;
    readonly mimeType: string;
    readonly name: string;
    readonly size: number;
  };
  /** File that is still on the network. */
  readonly isRemote?: true;
  readonly card?: { readonly blob: Blob; readonly name: string };
}

const MAX_TEXT = 100_000;
/** Most file systems accept no longer name. The end has the type. */
const MAX_FILE_NAME = 200;

/** Writes a message of any type as Markdown and a file. */
export function contentOf(data: MessageData): Content {
  const lines = [quoteOf(data), ...bodyOf(data)].filter((line) => line !== '');
  const card = cardsOf(data);
  return {
    text: lines.join('\n').slice(0, MAX_TEXT),
    ...(data.media && { media: { ...data.media, name: fileNameOf(data.media, data.type) } }),
    ...(data.media === undefined && data.remoteMedia && { isRemote: true }),
    ...(card.length > 0 && {
      card: { blob: new Blob(card.map(toVcard), { type: 'text/vcard' }), name: 'contact.vcf' },
    }),
  };
}

function bodyOf(data: MessageData): readonly string[] {
  const text = toMarkdown(data.message);
  const { location, poll, event, product, order, groupInvite, choice } = data;
  if (location !== undefined) {
    const place = [location.name, location.address].filter((part) => part !== undefined && part !== '').join(', ');
    const kind = location.live === undefined ? '📍' : '📍 Live location:';
    return [`${kind} ${toMarkdown(place)}`.trim(), mapUrl(location.latitude, location.longitude), text];
  }
  if (poll !== undefined) return [`📊 **${text}**`, ...poll.options.map((option) => `- ${toMarkdown(option)}`)];
  if (event !== undefined)
    return [`📅 **${text}**`, event.startsAt ?? '', toMarkdown(event.description ?? ''), event.joinLink ?? ''];
  if (groupInvite !== undefined) return [`👥 Invitation to the group ${toMarkdown(groupInvite.subject ?? '')}`, text];
  const cards = cardsOf(data);
  if (cards.length > 0)
    return cards.map(
      ({ name, phoneNumbers }) => `👤 ${toMarkdown(name)}: ${phoneNumbers.map((n) => `+${n}`).join(', ')}`,
    );
  if (order !== undefined) return [`🛒 Order ${order.orderId ?? ''}: ${order.itemCount ?? '?'} items`, text];
  if (product !== undefined)
    return [`🛍️ ${toMarkdown(product.title ?? product.retailerId ?? 'Product')}`, product.url ?? '', text];
  if (choice?.description !== undefined) return [text, toMarkdown(choice.description)];
  if (data.awaited) return ['⏳ _This message has not arrived completely. Open WhatsApp on the phone to read it._'];
  if (data.type === 'unsupported' && data.message === '')
    return ['⚠️ _This message cannot be shown here. Open WhatsApp on the phone to read it._'];
  return [data.viewOnce ? `_View once_ ${text}`.trim() : text];
}

/** Only if the quoted message is not linked: replies to known messages show it in Chatwoot. */
function quoteOf({ quoted, replyTo }: MessageData): string {
  if (replyTo !== undefined || quoted?.text === undefined) return '';
  return `> ${toMarkdown(quoted.text.slice(0, 300)).replace(/\n/g, '\n> ')}\n`;
}

function cardsOf({ contact, contacts }: MessageData): readonly Card[] {
  return contacts ?? (contact === undefined ? [] : [contact]);
}

/** The form that the bridge reads as a location when an agent sends it. */
export const mapUrl = (latitude: number, longitude: number) => `https://www.google.com/maps?q=${latitude},${longitude}`;

function fileNameOf(media: NonNullable<MessageData['media']>, type: string | undefined): string {
  if (media.fileName !== null && media.fileName !== '') return media.fileName.slice(-MAX_FILE_NAME).toWellFormed();
  const extension = /^[\w-]+\/(?:x-)?([\w-]+)/.exec(media.mimeType)?.[1] ?? 'bin';
  const usual: Readonly<Record<string, string>> = { jpeg: 'jpg', mpeg: 'mp3', quicktime: 'mov', plain: 'txt' };
  return `${type ?? 'file'}.${usual[extension] ?? extension}`;
}
