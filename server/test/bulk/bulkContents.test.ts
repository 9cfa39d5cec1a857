import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { picture, upload } from '../support/media/media.ts';
import {
  type Answer,
  bearer,
  type Call,
  connectSession,
  newNumber,
  startServer,
  type TestServer,
} from '../support/server.ts';

const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();

describe('the content of a bulk send', () => {
  let server: TestServer;
  let call: Call;
  let token: string;
  let sessionId: string;
  before(async () => {
    server = await startServer();
    ({ call, token } = await server.account());
    sessionId = await connectSession(call, newNumber());
  });
  after(() => server.stop());

  const send = (input: object) =>
    call('POST', '/messages/send-bulk', { sessionId, intervalMs: 1000, sendAt: inAnHour(), ...input });
  async function sent(input: object): Promise<Answer['body']> {
    const { status, body } = await send(input);
    assert.equal(status, 202, JSON.stringify(body));
    return body;
  }
  async function refused(input: object): Promise<string> {
    const { status, body } = await send(input);
    assert.equal(status, 400, JSON.stringify(body));
    return body.errors[0].field;
  }
  const messageOf = async (id: string) => (await call('GET', `/messages/${id}`)).body;
  const to = [newNumber(), newNumber()];
  const values = [{ name: 'Ada' }, { name: 'Ben' }];

  it('can be an event', async () => {
    const event = {
      name: 'Lunch with {{name}}',
      description: 'For {{name}}',
      startsAt: '2030-07-01T12:00:00Z',
      location: { name: 'Home of {{name}}' },
    };
    const { results } = await sent({ to, event, values });
    const shown = await messageOf(results[1].messageId);
    assert.deepEqual([shown.type, shown.message], ['event', 'Lunch with Ben']);
    assert.deepEqual([shown.event.description, shown.event.location.name], ['For Ben', 'Home of Ben']);
    assert.equal(await refused({ to, event: { ...event, endsAt: '2030-07-01T11:00:00Z' }, values }), 'event.endsAt');
    assert.equal(await refused({ to, event: { ...event, location: { latitude: 1 } }, values }), 'event.location');
    assert.equal(await refused({ to, event: { ...event, startsAt: '{{name}}' }, values }), 'event.startsAt');
  });

  it('can be an album, whose files are messages', async () => {
    const { mediaId } = (await upload(server, token, picture())).body;
    const files = [
      { type: 'image', mediaId, caption: 'For {{name}}' },
      { type: 'image', mediaId },
    ];
    const given = { to: [...to, 'nobody'], album: { files }, values: [...values, {}] };
    const { accepted, refused: count, batchId, results } = await sent({ ...given, idempotencyKey: `a-${to[0]}` });
    assert.deepEqual([accepted, count], [4, 1]);
    const [[first, second], [third, fourth]] = await Promise.all(
      results.slice(0, 2).map(({ messageIds }: { messageIds: string[] }) => Promise.all(messageIds.map(messageOf))),
    );
    assert.equal(results[0].messageId, first.messageId);
    assert.deepEqual(
      [first, second, third, fourth].map(({ message, to: at, album: { index } }) => [message, at, index]),
      [
        ['For Ada', to[0], 0],
        ['', to[0], 1],
        ['For Ben', to[1], 0],
        ['', to[1], 1],
      ],
    );
    assert.equal(first.album.albumId, second.album.albumId);
    assert.notEqual(first.album.albumId, third.album.albumId);
    assert.ok(Date.parse(second.timestamp) > Date.parse(first.timestamp));
    const batch = (await call('GET', `/batches/${batchId}`)).body;
    assert.deepEqual([batch.accepted, batch.refused, batch.counts.scheduled], [4, 1, 4]);
    assert.equal((await call('POST', `/batches/${batchId}/cancel`, {})).body.counts.cancelled, 4);
    const many = Array.from({ length: 501 }, (_, index) => `49171${3_000_000 + index}`);
    assert.equal(await refused({ to: many, album: { files } }), 'to');
    assert.equal(
      await refused({ to, album: { files: [{ type: 'image', mediaId: '{{name}}' }, files[1]] }, values }),
      'album.files.0.mediaId',
    );
  });

  it('counts and holds the messages of a full batch of albums', async () => {
    const { mediaId } = (await upload(server, token, picture())).body;
    const files = Array.from({ length: 30 }, () => ({ type: 'image', mediaId }));
    const many = Array.from({ length: 33 }, (_, index) => `49171${4_000_000 + index}`);
    const { batchId, accepted } = await sent({ to: many, album: { files }, intervalMs: 0 });
    assert.equal(accepted, 990);
    assert.equal((await call('POST', `/batches/${batchId}/pause`, {})).body.counts.scheduled, 990);
    assert.equal((await call('POST', `/batches/${batchId}/cancel`, {})).body.counts.cancelled, 990);
  });

  it('can mention people, and everybody in a group', async () => {
    const ann = '491711111111';
    const { results } = await sent({ to, message: 'Ask @491711111111, {{name}}', mentions: [ann], values });
    const shown = await messageOf(results[0].messageId);
    assert.deepEqual([shown.message, shown.mentions], ['Ask @491711111111, Ada', [ann]]);
    const { body: group } = await call('POST', '/groups', { sessionId, subject: 'Team', phoneNumbers: [newNumber()] });
    const mixed = await sent({ to: [to[0], group.groupId], message: 'Hello all', mentionAll: true });
    assert.deepEqual([mixed.accepted, mixed.refused], [1, 1]);
    assert.match(mixed.results[0].error, /only for groups/);
    assert.equal((await messageOf(mixed.results[1].messageId)).mentionsAll, true);
    assert.equal(await refused({ to, mentions: [ann], poll: { question: 'Tea?', options: ['a', 'b'] } }), 'mentions');
  });

  it('can have a link preview with placeholders', async () => {
    const message = 'Track https://example.com/{{name}}';
    const linkPreview = { title: 'Order of {{name}}', description: 'Hello {{name}}' };
    const { results } = await sent({ to, message, linkPreview, values });
    const { linkPreview: shown } = await messageOf(results[1].messageId);
    assert.deepEqual(
      [shown.url, shown.title, shown.description],
      ['https://example.com/Ben', 'Order of Ben', 'Hello Ben'],
    );
    assert.equal(await refused({ to, message, linkPreview: true, values }), 'linkPreview');
    const { mediaId } = (await upload(server, token, picture())).body;
    const pictured = await sent({ to, message, linkPreview: { ...linkPreview, image: mediaId }, values });
    assert.equal(pictured.accepted, 2);
    const image = '{{name}}';
    assert.equal(await refused({ to, message, linkPreview: { ...linkPreview, image }, values }), 'linkPreview.image');
  });

  it('can be a file that is opened once', async () => {
    const { mediaId } = (await upload(server, token, picture())).body;
    const media = { type: 'image', mediaId, caption: 'For {{name}}', viewOnce: true, mentions: ['491711111111'] };
    const { results } = await sent({ to, media, values });
    const shown = await messageOf(results[1].messageId);
    assert.deepEqual([shown.message, shown.viewOnce, shown.mentions], ['For Ben', true, ['491711111111']]);
    assert.equal(await refused({ to, media: { ...media, type: 'document' }, values }), 'media.viewOnce');
  });

  it('waits for approval, with the pictures of its previews', async () => {
    const { body: key } = await call('POST', '/api-keys/create', { name: 'held', requiresApproval: true });
    const held = bearer(server.url, key.key);
    const image = 'https://example.com/a.png';
    const linkPreview = { title: 'For {{name}}', image };
    const bulk = { sessionId, to, message: 'https://example.com/{{name}}', linkPreview, values };
    const { status, body } = await held('POST', '/messages/send-bulk', bulk);
    assert.deepEqual([status, body.pendingApproval], [202, true], JSON.stringify(body));
    const shown = await messageOf(body.results[1].messageId);
    assert.equal(shown.linkPreview.title, 'For Ben');
    assert.equal(JSON.stringify(shown.toFetch).includes(image), true);
  });
});
