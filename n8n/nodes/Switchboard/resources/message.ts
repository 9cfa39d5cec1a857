import type { IDataObject } from 'n8n-workflow';
import { kindOf, upload } from '../shared/files.ts';
import { entriesOf, type ItemCall, type Operation, present } from '../shared/itemCall.ts';
import { envelope, send, textFields, timeOf } from '../shared/sending.ts';
import { path } from '../shared/transport.ts';
import { textOf } from '../shared/values.ts';
import { askInPlace } from '../shared/waiting.ts';

/* Operations on messages. */

const sendMedia: Operation = async (item) => {
  const { caption, fileName, gif, viewOnce } = item.param<IDataObject>('options', {});
  // Before the upload: a mistake must not leave a file behind.
  const fields = envelope(item);
  const chosen = item.choice('mediaType', 'Send As', MEDIA_TYPES);
  const { file, mimeType } = await sourceOf(item, chosen === 'auto');
  return send(item, 'send-media', {
    ...fields,
    ...file,
    type: chosen === 'auto' ? kindOf(mimeType ?? '') : chosen,
    caption: textOf(caption),
    fileName: textOf(fileName).trim(),
    gif: item.boolean(gif, 'GIF') || undefined,
    viewOnce: item.boolean(viewOnce, 'View Once') || undefined,
  });
};

const MEDIA_TYPES = ['auto', 'audio', 'document', 'image', 'sticker', 'video', 'voice'] as const;

async function sourceOf(item: ItemCall, isAutomatic: boolean): Promise<{ file: IDataObject; mimeType?: string }> {
  const source = item.choice('source', 'Source', ['binary', 'media', 'url']);
  if (source === 'url') {
    if (isAutomatic)
      throw item.error('Choose "Send As" for a URL', 'The type of the file is only known once it is downloaded.');
    return { file: { url: item.text('url') } };
  }
  if (source === 'media') {
    const mediaId = item.required('mediaId', 'Media ID');
    if (!isAutomatic) return { file: { mediaId } };
    const { mimeType } = await item.call({ path: path`/media/${mediaId}` });
    return { file: { mediaId }, mimeType: String(mimeType) };
  }
  const { mediaId, mimeType } = await upload(item, item.text('binaryProperty') ?? 'data');
  return { file: { mediaId }, mimeType: String(mimeType) };
}

const sendTemplate: Operation = (item) => {
  const { components } = item.param<IDataObject>('options', {});
  const values = valuesOf(item);
  const body = { type: 'body', parameters: values.map((text) => ({ type: 'text', text })) };
  return send(item, 'send-template', {
    ...envelope(item),
    name: item.required('templateName', 'Template'),
    language: item.text('language'),
    components: textOf(components) === '' ? (values.length > 0 ? [body] : []) : componentsOf(item, components),
  });
};

/** Returns the values of the placeholders. An empty one stays, because the next one would take its place. */
function valuesOf(item: ItemCall): string[] {
  const values = item.param<unknown>('values', []);
  return Array.isArray(values) ? values.map(textOf) : entriesOf(values);
}

function componentsOf(item: ItemCall, components: unknown): IDataObject[] {
  let parsed: unknown = components;
  try {
    if (typeof components === 'string') parsed = JSON.parse(components);
  } catch {
    parsed = undefined;
  }
  if (!Array.isArray(parsed)) throw item.error('"Components" must be a list in JSON');
  return parsed;
}

const getAll: Operation = (item) => {
  const { afterTime, beforeTime, q, ...filters } = item.param<IDataObject>('filters', {});
  return item.listAll(
    '/messages',
    present({
      ...item.session,
      chatId: item.locator('chatId'),
      ...filters,
      q: textOf(q).trim(),
      afterTime: timeOf(item, afterTime),
      beforeTime: timeOf(item, beforeTime),
    }),
  );
};

export const messageOperations: Readonly<Record<string, Operation>> = {
  sendText: (item) => send(item, 'send', textFields(item)),
  schedule: async (item) => {
    const sendAt = timeOf(item, item.param('sendAt', ''));
    // Without a time, the message would be sent now.
    if (sendAt === undefined) throw item.error('"Send At" is required');
    return send(item, 'send', { ...textFields(item), sendAt });
  },
  ask: askInPlace,
  sendMedia,
  sendLocation: async (item) => {
    const { name, address } = item.param<IDataObject>('options', {});
    const place = {
      latitude: item.number(item.param('latitude'), 'Latitude'),
      longitude: item.number(item.param('longitude'), 'Longitude'),
    };
    return send(item, 'send-location', { ...envelope(item), ...place, name: textOf(name), address: textOf(address) });
  },
  sendContact: (item) =>
    send(item, 'send-contact', {
      ...envelope(item),
      name: item.text('contactName'),
      phoneNumbers: item.list('phoneNumbers'),
    }),
  sendPoll: async (item) => {
    const { maxSelections } = item.param<IDataObject>('options', {});
    const answers = { question: item.text('question'), options: item.list('answers') };
    return send(item, 'send-poll', {
      ...envelope(item),
      ...answers,
      maxSelections: item.number(maxSelections, 'Max Selections'),
    });
  },
  sendTemplate,
  react: (item) =>
    item.call({
      method: 'PUT',
      path: path`/messages/${item.required('messageId', 'Message ID')}/reaction`,
      body: { emoji: item.text('emoji') ?? '' },
    }),
  edit: async (item) =>
    item.call({
      method: 'PATCH',
      path: path`/messages/${item.required('messageId', 'Message ID')}`,
      body: { message: item.message() },
    }),
  delete: (item) =>
    item.call({
      method: 'DELETE',
      path: path`/messages/${item.required('messageId', 'Message ID')}`,
      query: { for: item.choice('for', 'Delete For', ['everyone', 'me']) },
    }),
  cancel: (item) =>
    item.call({ method: 'POST', path: path`/messages/${item.required('messageId', 'Message ID')}/cancel` }),
  get: (item) => item.call({ path: path`/messages/${item.required('messageId', 'Message ID')}` }),
  getAll,
};
