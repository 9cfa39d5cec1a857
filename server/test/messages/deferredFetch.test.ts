import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type FileServer, startFileServer } from '../support/connections/fileServer.ts';
import { eventually } from '../support/eventually.ts';
import { picture } from '../support/media/media.ts';
import { bearer, type Call, connectSession, newNumber, startServer, type TestServer } from '../support/server.ts';

const PAGE = '<!doctype html><html><head><title>A page</title></head></html>';

describe('a URL in a message that needs approval', () => {
  let files: FileServer;
  let server: TestServer;
  let call: Call;
  let agent: Call;
  let answer: (request: IncomingMessage, response: ServerResponse) => void;
  before(async () => {
    files = await startFileServer((request, response) => answer(request, response));
    server = await startServer();
    ({ call } = await server.account());
    await connectSession(call);
    const { body } = await call('POST', '/api-keys/create', { name: 'held', requiresApproval: true });
    agent = bearer(server.url, body.key);
  });
  beforeEach(() => {
    files.visits.length = 0;
    answer = ({ url }, response) => {
      if (url?.startsWith('/page')) response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE);
      else response.writeHead(200, { 'content-type': 'image/png' }).end(picture());
    };
  });
  after(async () => {
    await server.stop();
    await files.close();
  });

  const ask = async (path: string, input: object) => {
    const { status, body } = await agent('POST', `/messages/${path}`, { to: newNumber(), ...input });
    assert.ok(status === 201 || status === 202, JSON.stringify(body));
    assert.deepEqual(files.visits, [], 'nothing was fetched');
    return body;
  };
  const approve = (messageId: string, body: object = {}) => call('POST', `/messages/${messageId}/approve`, body);
  const untilSent = (messageId: string) =>
    eventually(
      async () => (await call('GET', `/messages/${messageId}`)).body,
      ({ status }) => status === 'delivered',
    );

  it('of a file is fetched once it is approved', async () => {
    const url = `${files.url}/a.png?secret=4711`;
    const { messageId, toFetch, media } = await ask('send-media', { type: 'image', url, fileName: 'b.png' });
    assert.deepEqual([toFetch, media], [{ fileUrl: url, fileName: 'b.png' }, undefined]);
    assert.deepEqual((await call('GET', '/messages?status=pending_approval')).body.data[0].toFetch, toFetch);

    answer = (_, response) => response.writeHead(500).end();
    const failed = await approve(messageId);
    assert.deepEqual([failed.status, failed.body.code], [422, 'fetch_failed']);
    assert.equal((await call('GET', `/messages/${messageId}`)).body.status, 'pending_approval');

    answer = (_, response) => response.writeHead(200, { 'content-type': 'image/png' }).end(picture());
    const approved = await approve(messageId);
    assert.equal(approved.status, 200, JSON.stringify(approved.body));
    const sent = await untilSent(messageId);
    assert.deepEqual([sent.media.mimeType, sent.media.fileName, sent.toFetch], ['image/png', 'b.png', undefined]);
    assert.deepEqual(files.visits, ['/a.png?secret=4711', '/a.png?secret=4711']);
  });

  it('is never fetched if it is rejected or not allowed', async () => {
    const { messageId } = await ask('send-media', { type: 'image', url: `${files.url}/a.png` });
    assert.equal((await call('POST', `/messages/${messageId}/reject`)).status, 200);
    assert.equal((await approve(messageId)).status, 409);
    assert.deepEqual(files.visits, []);
    for (const url of ['http://example.com/a.png', 'https://10.0.0.1/a.png']) {
      const refused = await agent('POST', '/messages/send-media', { to: newNumber(), type: 'image', url });
      assert.deepEqual([refused.status, refused.body.errors?.[0].field], [400, 'url'], url);
    }
  });

  it('of an album is fetched for each file that is approved', async () => {
    const of = (n: number) => ({ type: 'image', url: `${files.url}/${n}.png` });
    const { messages } = await ask('send-album', { files: [of(1), of(2)] });
    assert.equal((await approve(messages[1].messageId)).status, 200);
    assert.deepEqual(files.visits, ['/2.png']);
    assert.equal((await untilSent(messages[1].messageId)).media.mimeType, 'image/png');
  });

  it('of a link preview or its image is fetched once it is approved', async () => {
    const link = `${files.url}/page?secret=4711`;
    const made = await ask('send', { message: `Look: ${link}`, linkPreview: true });
    assert.deepEqual([made.toFetch, made.linkPreview], [{ preview: true }, undefined]);
    assert.equal((await approve(made.messageId)).body.linkPreview.title, 'A page');
    assert.deepEqual(files.visits, ['/page?secret=4711']);

    files.visits.length = 0;
    const image = `${files.url}/image.png`;
    const chosen = await ask('send', { message: `Look: ${link}`, linkPreview: { title: 'Chosen', image } });
    assert.deepEqual(chosen.toFetch, { previewImageUrl: image });
    const { body } = await approve(chosen.messageId);
    assert.deepEqual(body.linkPreview, { url: link, title: 'Chosen', hasImage: true });
    assert.deepEqual(files.visits, ['/image.png']);
  });

  it('loses its preview if the approver removes the link', async () => {
    const link = `${files.url}/page`;
    const { messageId } = await ask('send', { message: `Look: ${link}`, linkPreview: { title: 'Chosen' } });
    assert.equal((await approve(messageId, { message: 'No link' })).body.linkPreview, undefined);
    const made = await ask('send', { message: `Look: ${link}`, linkPreview: true });
    assert.equal((await approve(made.messageId, { message: 'No link' })).body.linkPreview, undefined);
    assert.deepEqual(files.visits, []);
  });

  it('cannot be forwarded before it is approved', async () => {
    const { messageId } = await ask('send-media', { type: 'image', url: `${files.url}/a.png` });
    const { status, body } = await call('POST', `/messages/${messageId}/forward`, { to: newNumber() });
    assert.deepEqual([status, body.code], [409, 'message_state']);
  });
});
