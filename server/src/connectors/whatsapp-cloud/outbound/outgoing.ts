import { AppError, invalidField } from '../../../errors.ts';
import { type Interactive, type MessageContent, mediaTypes, type TemplateHeader } from '../../contract/content.ts';
import type { NetworkMedia } from '../../contract/networkMedia.ts';
import type { OutgoingMessage } from '../../contract/outgoing.ts';
import { wamidOf } from '../inbound/incoming.ts';

const MAX_TEXT_LENGTH = 4096;
const MAX_CAPTION_LENGTH = 1024;

/** https://developers.facebook.com/documentation/business-messaging/whatsapp/groups: text, media and templates of both. */
const GROUP_TYPES: ReadonlySet<string> = new Set(['text', ...mediaTypes, 'template']);

/**
 * Builds the body of `POST /{phone number id}/messages`.
 * @throws {AppError} if the network does not support the content
 */
export async function toGraph(
  { networkId, chat, content, replyTo }: OutgoingMessage,
  address: Readonly<Record<string, string>>,
  upload: (media: NetworkMedia) => Promise<string>,
): Promise<Record<string, unknown>> {
  if (chat.type === 'group' && !GROUP_TYPES.has(content.type))
    throw new AppError('not_supported', 'The WhatsApp Cloud API sends only text, files and templates to groups');
  return {
    messaging_product: 'whatsapp',
    ...address,
    ...(replyTo !== null && { context: { message_id: wamidOf(replyTo) } }),
    // Returned with every status, and so identifies a message whose network id is unknown.
    biz_opaque_callback_data: networkId,
    ...(await body(content, upload)),
  };
}

async function body(content: MessageContent, upload: (media: NetworkMedia) => Promise<string>) {
  const { type, text, media, location, contact, template, interactive, linkPreview } = content;
  switch (type) {
    case 'text':
      requireLength('message', text, MAX_TEXT_LENGTH);
      if (linkPreview?.title !== undefined)
        throw new AppError('not_supported', 'WhatsApp makes the preview of a link itself');
      return { type, text: { body: text, preview_url: linkPreview !== null && /https?:\/\//.test(text) } };
    case 'image':
    case 'video':
    case 'document': {
      requireLength('caption', text, MAX_CAPTION_LENGTH);
      const file = needed(media);
      const id = await upload(file);
      const fileName = type === 'document' && file.fileName !== null && { filename: file.fileName };
      return { type, [type]: { id, ...(text !== '' && { caption: text }), ...fileName } };
    }
    case 'audio':
    case 'voice':
    case 'sticker': {
      if (text !== '')
        throw new AppError(
          'not_supported',
          `WhatsApp does not support captions on messages of type ${type}; remove the caption`,
        );
      const id = await upload(needed(media));
      return type === 'voice' ? { type: 'audio', audio: { id, voice: true } } : { type, [type]: { id } };
    }
    case 'location': {
      const { latitude, longitude, name, address } = needed(location);
      return { type, location: { latitude, longitude, ...(name && { name }), ...(address && { address }) } };
    }
    case 'contact': {
      const { name, phoneNumbers } = needed(contact);
      const phones = phoneNumbers.map((digits) => ({ phone: `+${digits}`, wa_id: digits, type: 'CELL' }));
      // Meta requires one part of the name in addition to the whole.
      return { type: 'contacts', contacts: [{ name: { formatted_name: name, first_name: name }, phones }] };
    }
    case 'template': {
      const { name, language, header, components: given = [] } = needed(template);
      const filled = header && { type: 'header', parameters: [await fileParameter(header, needed(media), upload)] };
      const components = filled === undefined ? given : [filled, ...given];
      return { type, template: { name, language: { code: language }, ...(components.length > 0 && { components }) } };
    }
    case 'interactive':
      return { type, interactive: toInteractive(text, needed(interactive)) };
    default:
      throw new AppError('not_supported', `The WhatsApp Cloud API does not support messages of type ${type}`);
  }
}

/** https://developers.facebook.com/documentation/business-messaging/whatsapp/templates/components#media-headers */
async function fileParameter(
  type: TemplateHeader,
  file: NetworkMedia,
  upload: (media: NetworkMedia) => Promise<string>,
) {
  const fileName = type === 'document' && file.fileName !== null && { filename: file.fileName };
  return { type, [type]: { id: await upload(file), ...fileName } };
}

const MAX_BUTTON_LENGTH = 20;

/**
 * Meta's name of each request, which shows a button of WhatsApp:
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/business-scoped-user-ids and
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/calling/user-call-permissions
 */
const REQUESTS = { contact_info: 'request_contact_info', call_permission: 'call_permission_request' } as const;

function toInteractive(text: string, interactive: Interactive) {
  const { header, footer, buttons, list, link, request } = interactive;
  if (request !== undefined) {
    const name = REQUESTS[request];
    return { type: name, body: { text }, action: { name } };
  }
  const around = {
    ...(header !== undefined && { header: { type: 'text', text: header } }),
    ...(text !== '' && { body: { text } }),
    ...(footer !== undefined && { footer: { text: footer } }),
  };
  const shown = productsOf(interactive);
  if (shown !== undefined) return { ...around, ...shown };
  if (buttons !== undefined) {
    for (const [index, { title }] of buttons.entries())
      requireLength(`buttons.${index}.title`, title, MAX_BUTTON_LENGTH);
    return { type: 'button', ...around, action: { buttons: buttons.map((reply) => ({ type: 'reply', reply })) } };
  }
  if (list !== undefined) {
    const bySection = inSections(list.rows);
    const sections = bySection.map(([title, rows]) => ({
      ...title,
      rows: rows.map(({ section: _, ...row }) => row),
    }));
    if (bySection.length > 1 && list.rows.some(({ section }) => section === undefined))
      throw invalidField('list.rows', 'WhatsApp requires a section on every row if there are several sections');
    return { type: 'list', ...around, action: { button: list.title, sections } };
  }
  const { title, url } = needed(link);
  return {
    type: 'cta_url',
    ...around,
    action: { name: 'cta_url', parameters: { display_text: title, url } },
  };
}

/**
 * Products of the catalog that is connected to the business account:
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/catalogs/sell-products-and-services/share-products
 */
function productsOf({ product, products, catalog }: Interactive) {
  if (product !== undefined) {
    const { catalogId: catalog_id, retailerId: product_retailer_id } = product;
    return { type: 'product', action: { catalog_id, product_retailer_id } };
  }
  if (products !== undefined) {
    const sections = inSections(products.items).map(([title, items]) => ({
      ...title,
      product_items: items.map(({ retailerId: product_retailer_id }) => ({ product_retailer_id })),
    }));
    return { type: 'product_list', action: { catalog_id: products.catalogId, sections } };
  }
  if (catalog === undefined) return undefined;
  const parameters = { thumbnail_product_retailer_id: catalog.retailerId };
  return { type: 'catalog_message', action: { name: 'catalog_message', parameters } };
}

/** Groups the entries by section, in the order of their first entries. */
function inSections<Entry extends { readonly section?: string }>(
  entries: readonly Entry[],
): [title: { title?: string }, entries: Entry[]][] {
  const bySection = Map.groupBy(entries, ({ section }) => section);
  return [...bySection].map(([title, entriesOf]) => [title === undefined ? {} : { title }, entriesOf]);
}

function requireLength(field: string, text: string, longest: number): void {
  if (text.length > longest)
    throw invalidField(field, `WhatsApp accepts at most ${longest} characters here`, 'maxLength');
}

function needed<T>(part: T | undefined): T {
  if (part === undefined) throw new Error('the message lacks the part that its type requires');
  return part;
}
