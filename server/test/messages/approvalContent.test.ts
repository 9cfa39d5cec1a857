import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { outgoingParts } from '../../../dashboard/src/model/outgoingParts.ts';
import { picture, upload } from '../support/media/media.ts';
import { guarded } from '../support/operations/operationInputs.ts';
import { requestOf } from '../support/operations/restRequest.ts';
import { bearer, type Call, connectSession, startServer, type TestServer } from '../support/server.ts';

const to = '491707654321';

interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly pattern?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly minItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: object;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

/** Fields that choose where, when and how a message is sent, and are no part of it. */
const ENVELOPE = ['sessionId', 'to', 'sendAt', 'idempotencyKey', 'messageId', 'replyTo'];
/** Alternatives of one another, each of which is tested alone. */
const VARIANTS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  'messages.send_media': [
    ['content', 'url', 'mimeType', 'gif', 'videoNote', 'viewOnce', 'mentionAll'],
    ['mediaId', 'content', 'mimeType', 'gif', 'videoNote', 'viewOnce', 'mentionAll'],
  ],
  'messages.send_interactive': [
    ['list', 'link', 'request', 'product', 'products', 'catalog'],
    ['buttons', 'link', 'request', 'product', 'products', 'catalog'],
    ['buttons', 'list', 'request', 'product', 'products', 'catalog'],
    ['buttons', 'list', 'link', 'header', 'footer', 'product', 'products', 'catalog'],
    ['buttons', 'list', 'link', 'request', 'header', 'products', 'catalog'],
    ['buttons', 'list', 'link', 'request', 'product', 'catalog'],
    ['buttons', 'list', 'link', 'request', 'header', 'product', 'products'],
  ],
  'messages.send_template': [['header.mediaId'], ['header.url', 'header.fileName']],
  'messages.send': [['mentionAll']],
};

describe('a message that waits for approval', () => {
  let server: TestServer;
  let call: Call;
  let agent: Call;
  let mediaId: string;
  let messageId: string;
  before(async () => {
    server = await startServer();
    const account = await server.account();
    ({ call } = account);
    await connectSession(call);
    mediaId = (await upload(server, account.token, picture())).body.mediaId;
    messageId = (await call('POST', '/messages/send', { to, message: 'The quoted PIN is 4711' })).body.messageId;
    agent = bearer(
      server.url,
      (await call('POST', '/api-keys/create', { name: 'held', requiresApproval: true })).body.key,
    );
  });
  after(() => server.stop());

  /** Returns a value for a schema, with a distinct text or number in each leaf, and notes each of them. */
  function sampleOf(schema: Schema, path: string, marks: Map<string, string>, left: readonly string[] = []): unknown {
    const mark = (value: unknown, shown = String(value)) => {
      marks.set(path, shown);
      return value;
    };
    const n = marks.size + 1;
    const name = path.split('.').at(-1) ?? '';
    if (name === 'mediaId') return mediaId;
    if (schema.const !== undefined) return schema.const;
    if (schema.enum !== undefined) return path === 'type' ? 'image' : mark(schema.enum[0]);
    if (name === 'url' && path.startsWith('linkPreview')) return mark('https://example.com/link');
    if (name === 'image') return mark('https://example.com/preview.png');
    if (name === 'url') return mark(`https://example.com/${n}`);
    if (name === 'message') return mark('Text mark with https://example.com/link');
    if (/phoneNumbers|mentions/.test(path) && schema.type !== 'array') return mark(`49170${1_000_000 + n}`);
    if (name === 'maxSelections') return mark(1);
    if (name === 'startsAt') return mark('2030-01-01T00:00:00.000Z');
    if (name === 'endsAt') return mark('2030-01-02T00:00:00.000Z');
    if (schema.anyOf !== undefined) {
      const part = schema.anyOf.find(({ type }) => type === 'object') ?? schema.anyOf[0];
      return part && sampleOf(part, path, marks, left);
    }
    if (schema.type === 'object' && schema.properties === undefined) {
      const leaf = `leaf${n}`;
      mark({ [leaf]: { deeper: [`deep${n}`] } }, `deep${n}`);
      return { [leaf]: { deeper: [`deep${n}`] } };
    }
    if (schema.type === 'object')
      return Object.fromEntries(
        Object.entries(schema.properties ?? {})
          .filter(([field]) => !left.includes(`${path}.${field}`))
          .map(([field, part]) => [field, sampleOf(part, `${path}.${field}`, marks, left)]),
      );
    if (schema.type === 'array')
      return Array.from({ length: Math.max(schema.minItems ?? 1, 2) }, (_, at) =>
        sampleOf(schema.items ?? {}, `${path}.${at}`, marks),
      );
    if (schema.type === 'boolean') return true;
    if (schema.type === 'integer' || schema.type === 'number') return mark((schema.minimum ?? 0) + 10 + n);
    return mark(`${name.slice(0, 8)} ${n}`.slice(0, schema.maxLength ?? 100));
  }

  const held = guarded.filter(({ id, approval }) => approval === 'held' && id !== 'messages.forward');

  it('shows every field that goes out, in the API and on the approvals page', async () => {
    assert.ok(held.length >= 10);
    for (const { id, input } of held) {
      if (id === 'messages.send_album' || id === 'messages.send_bulk') continue; // below
      for (const left of VARIANTS[id] ?? [[]]) {
        const marks = new Map<string, string>();
        const fields = Object.entries(input.properties as Record<string, Schema>).filter(
          ([field]) => !ENVELOPE.includes(field) && !left.includes(field),
        );
        const body = Object.fromEntries(fields.map(([field, schema]) => [field, sampleOf(schema, field, marks, left)]));
        const request = requestOf(id, { to, replyTo: messageId, ...body });
        const { status, body: asked } = await agent(request.method, request.path, request.body);
        assert.equal(status, 201, `${id}: ${JSON.stringify(asked)}`);
        await assertShown(id, asked.messageId, marks);
      }
    }
  });

  async function assertShown(id: string, asked: string, marks: ReadonlyMap<string, string>) {
    const pending = (await call('GET', '/messages?status=pending_approval&limit=200')).body.data;
    const message = pending.find((one: { messageId: string }) => one.messageId === asked);
    assert.ok(message, id);
    const page = [message.message, ...outgoingParts(message).map(([, value]) => value)];
    for (const [path, mark] of marks) {
      assert.ok(JSON.stringify(message).includes(mark), `${id}: the API does not show ${path} (${mark})`);
      assert.ok(
        page.some((value) => value.includes(mark)),
        `${id}: the page does not show ${path} (${mark})`,
      );
    }
    assert.deepEqual(
      [message.quoted?.message, message.quoted?.chatId, message.quoted?.messageId],
      ['The quoted PIN is 4711', to, messageId],
      id,
    );
    assert.match(message.quoted.from, /^\d+$/);
  }

  it('shows each file of an album, and each text of a bulk message', async () => {
    const files = [1, 2].map((n) => ({ type: 'image', mediaId, caption: `caption ${n}` }));
    const album = (await agent('POST', '/messages/send-album', { to, replyTo: messageId, files })).body;
    for (const [at, { messageId: id }] of album.messages.entries()) {
      const message = (await call('GET', `/messages/${id}`)).body;
      assert.deepEqual([message.message, message.media.mediaId], [`caption ${at + 1}`, mediaId]);
      assert.ok(outgoingParts(message).some(([, value]) => value === mediaId));
    }
    const bulk = (await agent('POST', '/messages/send-bulk', { to: [to], message: 'to all' })).body;
    assert.equal((await call('GET', `/messages/${bulk.results[0].messageId}`)).body.message, 'to all');
  });

  it('shows the image of its link preview, and the quote only while it waits', async () => {
    const linkPreview = { title: 'Chosen', image: mediaId };
    const input = { to, message: 'https://example.com/a', replyTo: messageId, linkPreview };
    const asked = (await agent('POST', '/messages/send', input)).body;
    assert.deepEqual([...Buffer.from(asked.previewImage, 'base64').subarray(0, 2)], [0xff, 0xd8]);
    const approved = (await call('POST', `/messages/${asked.messageId}/approve`)).body;
    assert.deepEqual([approved.previewImage, approved.quoted], [undefined, undefined]);
  });
});
