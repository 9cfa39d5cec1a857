import assert from 'node:assert/strict';
import { type BinaryNode, proto } from 'baileys';
import type { Phone, ReceivedMessage } from '../../support/fakeWhatsapp/index.ts';
import { createLog } from '../../support/fakeWhatsapp/log.ts';
import { childOf, childrenOf, STATUS } from '../../support/fakeWhatsapp/stanza.ts';
import { samples, upload } from '../../support/media/media.ts';
import { wireIdOf } from '../../support/networks/wireId.ts';
import { type Answer, eventOf } from '../../support/server.ts';
import { linkSession, nextPhone, type Setting } from '../support.ts';

/** An outgoing message on the wire. */
export interface Sent {
  /** The decrypted protobuf as JSON: enum values by name, bytes in base64, long numbers as text. */
  readonly message: object;
  /** Attributes of the stanza that describe the message, by path. */
  readonly stanza: Readonly<Record<string, string>>;
}

/** A phone's deadline for a message, on a machine that is busy with other work. */
const PATIENCE_MS = 60_000;
/**
 * Parts of a stanza that do not describe the message. Baileys computes the reporting token over padded bytes, which it
 * can often not read, so the token is there in some runs only.
 */
const TRANSPORT = ['participants', 'enc', 'device-identity', 'tctoken', 'plaintext', 'reporting'];

/** Sends every kind of message with the API, and collects what reaches the phones. */
export class Capture {
  readonly #setting: Setting;
  readonly #stanzas = createLog<BinaryNode>('message stanzas', ({ attrs }) => JSON.stringify(attrs));
  readonly #kinds = new Map<string, Sent>();
  readonly #seen = new Set<string>();
  #me!: Phone;
  #bob!: Phone;
  #sessionId = '';
  #group = { groupId: '', networkGroupId: '' };

  constructor(setting: Setting) {
    this.#setting = setting;
  }

  /** @returns the messages by kind, with names in place of addresses and ids */
  async run(): Promise<ReadonlyMap<string, Sent>> {
    await this.#prepare();
    await this.#sendToGroup();
    await this.#sendTexts();
    await this.#sendFiles();
    await this.#sendStructured();
    await this.#changeMessages();
    await this.#publish();
    return this.#kinds;
  }

  async #prepare(): Promise<void> {
    const { whatsapp, call } = this.#setting;
    whatsapp.watchMessages((_, stanza) => this.#stanzas.add(stanza));
    this.#me = nextPhone(whatsapp, 'Me');
    this.#bob = nextPhone(whatsapp, 'Bob');
    this.#sessionId = await linkSession(call, this.#me);
    this.#group = await this.#call('POST', '/groups', { subject: 'All', phoneNumbers: [this.#bob.number] });
  }

  async #sendToGroup(): Promise<void> {
    const { groupId, networkGroupId } = this.#group;
    const { number } = this.#bob;
    const send = (kind: string, body: object, target?: string) =>
      this.#send(kind, 'send', { to: groupId, ...body }, target);
    await send('text in a group', { message: 'Hello' });
    await send('mention', { message: `Hi @${number}`, mentions: [number] });
    await send('mention of everyone', { message: 'Hi all', mentionAll: true });
    const { messageId, networkId } = await this.#receive(networkGroupId, { conversation: 'Tea?' });
    await send('reply in a group', { message: 'Yes', replyTo: messageId }, networkId);
    await this.#change('reaction in a group', 'PUT', `${messageId}/reaction`, { emoji: '👍' }, networkId);
    await this.#change('deletion by an admin', 'DELETE', messageId, {}, networkId);
  }

  async #sendTexts(): Promise<void> {
    await this.#send('text', 'send', { message: 'Hello' });
    const linkPreview = { title: 'Teas', description: 'Green', image: await this.#upload('image', 'image/png') };
    await this.#send('link preview', 'send', { message: 'See https://example.com/tea', linkPreview });
    const { messageId, networkId } = await this.#receive(this.#me.number, { conversation: 'Tea?' });
    await this.#send('reply', 'send', { message: 'Yes', replyTo: messageId }, networkId);
    await this.#send('forwarded text', `${messageId}/forward`, {});
  }

  async #sendFiles(): Promise<void> {
    const image = await this.#upload('image', 'image/png');
    const video = await this.#upload('video', 'video/mp4');
    const document = await this.#upload('document', 'text/plain');
    const send = (kind: string, body: object) => this.#send(kind, 'send-media', body);
    await send('image', { type: 'image', mediaId: image, caption: 'Look' });
    await send('view once image', { type: 'image', mediaId: image, viewOnce: true });
    await send('video', { type: 'video', mediaId: video, caption: 'Look' });
    await send('gif', { type: 'video', mediaId: video, gif: true });
    await send('video note', { type: 'video', mediaId: video, videoNote: true });
    await send('audio', { type: 'audio', mediaId: await this.#upload('audio', 'audio/mpeg') });
    await send('voice', { type: 'voice', mediaId: await this.#upload('voice', 'audio/ogg') });
    await send('document', { type: 'document', mediaId: document, fileName: 'tea.txt' });
    await send('document with caption', { type: 'document', mediaId: document, fileName: 'tea.txt', caption: 'Read' });
    await send('sticker', { type: 'sticker', mediaId: await this.#upload('sticker', 'image/webp') });
    const files = [
      { type: 'image', mediaId: image },
      { type: 'video', mediaId: video },
    ];
    const album = await this.#call('POST', '/messages/send-album', { to: this.#bob.number, files });
    const head = wireIdOf(album.albumId);
    await this.#remember('album', ({ id }) => id === head);
    const [first] = album.messages;
    await this.#remember('image of an album', ({ id }) => id === wireIdOf(first.messageId), head);
  }

  async #sendStructured(): Promise<void> {
    await this.#send('location', 'send-location', { latitude: 52.5, longitude: 13.4, name: 'Gate', address: 'Berlin' });
    await this.#send('contact', 'send-contact', { name: 'Ann', phoneNumbers: ['15550001234'] });
    const poll = { question: 'Tea?', options: ['Yes', 'No'] };
    await this.#send('poll', 'send-poll', { ...poll, maxSelections: 1 });
    await this.#send('poll of several choices', 'send-poll', { ...poll, maxSelections: 2 });
    const times = { startsAt: '2030-07-01T12:00:00Z', endsAt: '2030-07-01T13:00:00Z' };
    await this.#send('event', 'send-event', {
      name: 'Lunch',
      description: 'Tea',
      location: { name: 'Gate' },
      ...times,
    });
    const { messageId, networkId } = await this.#receive(this.#me.number, {
      pollCreationMessageV3: {
        name: 'Tea?',
        options: [{ optionName: 'Yes' }, { optionName: 'No' }],
        selectableOptionsCount: 1,
      },
      messageContextInfo: { messageSecret: Buffer.alloc(32, 5) },
    });
    await this.#change('vote', 'POST', `${messageId}/vote`, { options: ['Yes'] }, networkId);
  }

  async #changeMessages(): Promise<void> {
    const { number } = this.#bob;
    const { messageId, networkId } = await this.#receive(this.#me.number, { conversation: 'Tea?' });
    await this.#change('reaction', 'PUT', `${messageId}/reaction`, { emoji: '👍' }, networkId);
    await this.#change('removed reaction', 'PUT', `${messageId}/reaction`, { emoji: '' }, networkId);
    await this.#change('pin', 'POST', `${messageId}/pin`, { duration: '24h' }, networkId);
    await this.#change('removed pin', 'DELETE', `${messageId}/pin`, {}, networkId);
    const text = await this.#call('POST', '/messages/send', { to: number, message: 'Helo' });
    const target = wireIdOf(text.messageId);
    await this.#change('edit', 'PATCH', text.messageId, { message: 'Hello' }, target);
    await this.#change('deletion', 'DELETE', text.messageId, {}, target);
    const image = { type: 'image', mediaId: await this.#upload('image', 'image/png'), caption: 'Lok' };
    const file = await this.#call('POST', '/messages/send-media', { to: number, ...image });
    await this.#change('edited caption', 'PATCH', file.messageId, { message: 'Look' }, wireIdOf(file.messageId));
    const timer = { sessionId: this.#sessionId, disappearingSeconds: 86_400 };
    await this.#change('disappearing timer', 'PATCH', `/chats/${number}`, timer);
    await this.#send('text in a disappearing chat', 'send', { message: 'Hello' });
  }

  async #publish(): Promise<void> {
    const phoneNumbers = [this.#bob.number];
    const color = { backgroundColor: '#1F6F5C', font: 2 };
    const isStatus = ({ chat }: ReceivedMessage) => chat === STATUS;
    const status = await this.#call('POST', '/status', { message: 'Hello', ...color, phoneNumbers });
    await this.#remember('text status', isStatus);
    const mediaId = await this.#upload('image', 'image/png');
    await this.#call('POST', '/status', { type: 'image', mediaId, message: 'Look', phoneNumbers });
    await this.#remember('image status', isStatus);
    await this.#call('DELETE', `/status/${status.statusId}`);
    await this.#remember('deleted status', isStatus, wireIdOf(status.statusId.replace('sts_', 'msg_')));
    const { channelId, networkChannelId } = await this.#call('POST', '/channels', { name: 'News' });
    await this.#postTo(channelId, networkChannelId, 'channel post', { message: 'Hello' });
    await this.#postTo(channelId, networkChannelId, 'image in a channel', { type: 'image', mediaId, message: 'Look' });
  }

  async #postTo(channelId: string, jid: string, kind: string, body: object): Promise<void> {
    await this.#call('POST', `/channels/${channelId}/messages`, body);
    const post = this.#me.channel(jid).posts.at(-1);
    assert.ok(post, kind);
    await this.#keep(kind, post.id, proto.Message.decode(post.content), jid);
  }

  async #call(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: object,
  ): Promise<Answer['body']> {
    const isOfSession = method === 'POST' && !/\/(msg|chn)_/.test(path);
    const answer = await this.#setting.call(
      method,
      path,
      isOfSession ? { sessionId: this.#sessionId, ...body } : body && Object.keys(body).length > 0 ? body : undefined,
    );
    assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  async #send(kind: string, path: string, body: object, target?: string): Promise<void> {
    const sent = await this.#call('POST', `/messages/${path}`, { to: this.#bob.number, ...body });
    await this.#remember(kind, ({ id }) => id === wireIdOf(sent.messageId), target);
  }

  /** Changes a message. The phone gets the change as its next message. */
  async #change(
    kind: string,
    method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body: object,
    target?: string,
  ) {
    const before = new Set(this.#bob.messages.all.map(({ id }) => id));
    await this.#call(method, path.startsWith('/') ? path : `/messages/${path}`, body);
    await this.#remember(kind, ({ id }) => !before.has(id), target);
  }

  /** Sends as Bob. @returns the event of the message */
  async #receive(to: string, message: proto.IMessage): Promise<Answer['body']> {
    const id = await this.#bob.send(to, message);
    return eventOf(this.#setting.call, 'message.incoming', ({ networkId }) => networkId === id);
  }

  async #remember(kind: string, fits: (received: ReceivedMessage) => boolean, target?: string): Promise<void> {
    const isNew = (received: ReceivedMessage) => !this.#seen.has(received.id) && fits(received);
    const { id, message } = await this.#bob.messages.waitFor(isNew, PATIENCE_MS).catch((cause) => {
      throw new Error(`${kind}: nothing arrived`, { cause });
    });
    this.#seen.add(id);
    await this.#keep(kind, id, proto.Message.fromObject(message), target);
  }

  async #keep(kind: string, id: string, message: proto.Message, target?: string): Promise<void> {
    const stanza = await this.#stanzas.waitFor(({ attrs }) => attrs['id'] === id, PATIENCE_MS);
    const { senderKeyDistributionMessage: _, ...content } = message.toJSON();
    const names = this.#names(target);
    this.#kinds.set(kind, { message: renamed(content, names), stanza: renamed(summaryOf(stanza), names) });
  }

  #names(target: string | undefined): readonly (readonly [string, string])[] {
    const people = [
      [this.#me, 'me'],
      [this.#bob, 'Bob'],
    ] as const;
    return [
      ...people.flatMap(([phone, name]) => [
        [phone.lid, `${name}-lid`] as const,
        [phone.number, `${name}-number`] as const,
      ]),
      [this.#group.networkGroupId, 'group'],
      ...(target === undefined ? [] : [[target, 'target'] as const]),
    ];
  }

  async #upload(type: keyof typeof samples, mimeType: string): Promise<string> {
    const { server, token } = this.#setting;
    const { body } = await upload(server, token, samples[type], { headers: { 'content-type': mimeType } });
    return body.mediaId;
  }
}

function renamed<T extends object>(value: T, names: readonly (readonly [string, string])[]): T {
  const rename = (_: string, part: unknown) =>
    typeof part === 'string' ? names.reduce((text, [from, to]) => text.replaceAll(from, to), part) : part;
  return JSON.parse(JSON.stringify(value, rename));
}

function summaryOf(stanza: BinaryNode): Record<string, string> {
  const summary: Record<string, string> = {};
  const add = (prefix: string, node: BinaryNode | undefined, names: readonly string[]) => {
    for (const name of names) if (node?.attrs[name] !== undefined) summary[`${prefix}${name}`] = node.attrs[name];
  };
  add('', stanza, ['to', 'type', 'edit', 'media_id']);
  const [device] = childrenOf(childOf(stanza, 'participants'), 'to');
  add('enc.', childOf(stanza, 'enc') ?? childOf(device, 'enc'), ['mediatype', 'decrypt-fail']);
  add('plaintext.', childOf(stanza, 'plaintext'), ['mediatype']);
  for (const node of Array.isArray(stanza.content) ? stanza.content : []) {
    if (TRANSPORT.includes(node.tag)) continue;
    if (Object.keys(node.attrs).length === 0) summary[node.tag] = '';
    add(`${node.tag}.`, node, Object.keys(node.attrs));
  }
  return summary;
}
