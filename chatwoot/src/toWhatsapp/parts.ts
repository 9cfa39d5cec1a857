import type { ChatwootAttachment, ChatwootMessage } from '../chatwoot/payload.ts';
import { parseVcard } from '../text/vcard.ts';
import { toWhatsappText } from '../text/whatsappText.ts';
import { type Template, templateOf } from './templates.ts';

/** One message of WhatsApp. */
export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'file'; readonly attachment: ChatwootAttachment; readonly caption: string }
  | {
      readonly kind: 'location';
      readonly latitude: number;
      readonly longitude: number;
      readonly name: string | undefined;
    }
  | { readonly kind: 'reaction'; readonly emoji: string }
  | { readonly kind: 'template'; readonly template: Template };

const WITH_CAPTION = new Set(['image', 'video', 'file']);
const EMOJI = /^(?:\p{RGI_Emoji}|\p{Emoji_Presentation}|\p{Extended_Pictographic}\uFE0F?)$/v;
const MAP_URL = /^https:\/\/(?:www\.)?google\.com\/maps\?q=(-?\d{1,2}(?:\.\d+)?),(-?\d{1,3}(?:\.\d+)?)$/;
const GEO = /^geo:(-?\d{1,2}(?:\.\d+)?),(-?\d{1,3}(?:\.\d+)?)$/;

/**
 * Returns the messages of WhatsApp for a message of Chatwoot. The text is the caption of the first file that can have
 * one, and otherwise comes first.
 */
export function partsOf(message: ChatwootMessage, agentName: string | undefined): readonly Part[] {
  const template = templateOf(message);
  if (template !== undefined) return [{ kind: 'template', template }];
  const plain = message.content.trim();
  const isReply = message.inReplyTo !== undefined || message.inReplyToSourceId !== undefined;
  if (isReply && message.attachments.length === 0 && EMOJI.test(plain)) return [{ kind: 'reaction', emoji: plain }];
  const [, latitude, longitude] = MAP_URL.exec(plain) ?? GEO.exec(plain) ?? [];
  if (latitude !== undefined && longitude !== undefined && message.attachments.length === 0)
    return [{ kind: 'location', latitude: Number(latitude), longitude: Number(longitude), name: undefined }];
  const text = textOf(message, agentName);
  const files = message.attachments.map(partOf);
  if (text === '') return files;
  const captioned = files.findIndex((part) => part.kind === 'file' && WITH_CAPTION.has(part.attachment.fileType));
  if (captioned === -1) return [{ kind: 'text', text }, ...files];
  return files.map((part, index) => (index === captioned && part.kind === 'file' ? { ...part, caption: text } : part));
}

/** The text for WhatsApp, below the name of the agent by the setting. */
export function textOf(message: ChatwootMessage, agentName: string | undefined): string {
  const text = toWhatsappText(message.content);
  return agentName === undefined || text === '' ? text : `*${agentName.replace(/[*\n]/g, ' ')}:*\n${text}`;
}

function partOf(attachment: ChatwootAttachment): Part {
  const { fileType, latitude, longitude, title } = attachment;
  if (fileType === 'location' && latitude !== undefined && longitude !== undefined)
    return { kind: 'location', latitude, longitude, name: title };
  return { kind: 'file', attachment, caption: '' };
}

export const isVcard = (type: string, name: string) => /^text\/(?:x-)?vcard/.test(type) || /\.vcf$/i.test(name);

/** Reads a card that an agent attached; undefined if it has no number, and is then an ordinary file. */
export async function cardOf(blob: Blob, name: string) {
  return isVcard(blob.type, name) && blob.size <= 65_536 ? parseVcard(await blob.text()) : undefined;
}
