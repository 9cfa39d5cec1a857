import assert from 'node:assert/strict';
import { it } from 'node:test';
import { picture, samples, upload } from '../support/media/media.ts';
import { ADA, cloudSession } from '../support/networks/cloudSession.ts';

/* https://developers.facebook.com/documentation/business-messaging/whatsapp/templates/components#media-headers */

it('sends a template with a file in its header, uploaded once', async (t) => {
  const { graph, call, server, token } = await cloudSession(t);
  graph.templates.add({ name: 'sale' });
  const bytes = picture();
  const { mediaId } = (await upload(server, token, bytes)).body;
  const body = { type: 'body', parameters: [{ type: 'text', text: 'Ada' }] };
  const send = (header: object, components: readonly object[] = [body]) =>
    call('POST', '/messages/send-template', { to: ADA, name: 'sale', language: 'en_US', components, header });
  const sent = await send({ type: 'image', mediaId });
  assert.equal(sent.status, 201, JSON.stringify(sent.body));
  assert.partialDeepStrictEqual(sent.body, {
    type: 'template',
    template: { name: 'sale', header: 'image', components: [body] },
    media: { mediaId },
  });
  const [header, ...others] = graph.sent.at(-1)?.body.template.components ?? [];
  assert.deepEqual(others, [body]);
  const { id } = header.parameters[0].image;
  assert.deepEqual(header, { type: 'header', parameters: [{ type: 'image', image: { id } }] });
  assert.deepEqual(graph.files.get(id)?.bytes, bytes);
  await send({ type: 'image', mediaId });
  assert.equal(graph.sent.at(-1)?.body.template.components[0].parameters[0].image.id, id);
  graph.lose(id);
  assert.equal((await send({ type: 'image', mediaId })).status, 201, 'uploaded again');

  const document = (await upload(server, token, samples.document, { query: '?fileName=list.txt' })).body.mediaId;
  const pdf = (await upload(server, token, Buffer.from('%PDF-1.7\n%%EOF\n'), { query: '?fileName=list.pdf' })).body
    .mediaId;
  assert.equal((await send({ type: 'document', mediaId: pdf, fileName: 'menu.pdf' })).status, 201);
  const { parameters } = graph.sent.at(-1)?.body.template.components[0] ?? {};
  assert.equal(parameters[0].document.filename, 'menu.pdf');

  const count = graph.sent.length;
  for (const [given, components, field] of [
    [{ type: 'image' }, [], 'header.mediaId'],
    [{ type: 'image', mediaId, url: 'https://example.com/a.png' }, [], 'header.mediaId'],
    [{ type: 'image', mediaId: document }, [], 'type'],
    [{ type: 'audio', mediaId }, [], 'header.type'],
    [{ type: 'image', mediaId }, [{ type: 'header', parameters: [] }], 'header'],
  ] as const) {
    const refused = await send(given, components);
    assert.deepEqual([refused.status, refused.body.errors?.[0]?.field], [400, field], JSON.stringify(refused.body));
  }
  for (const other of [mediaId, document]) {
    const { status, body: problem } = await send({ type: 'document', mediaId: other });
    assert.deepEqual([status, problem.code], [415, 'unsupported_media_type'], JSON.stringify(problem));
    assert.match(problem.detail, /application\/pdf in a template header of the type document/);
  }
  assert.equal((await send({ type: 'image', mediaId: 'med_none' })).status, 404);
  assert.equal(graph.sent.length, count);
});

it('creates a template whose header has a file, with an example for the review', async (t) => {
  const { graph, call, server, token, sessionId } = await cloudSession(t);
  const { mediaId } = (await upload(server, token, picture())).body;
  const path = `/sessions/${sessionId}/templates`;
  const body = { type: 'BODY', text: 'The sale begins.' };
  const draft = { name: 'sale', language: 'en_US', category: 'marketing' };
  const create = (components: readonly object[], headerMediaId?: string) =>
    call('POST', path, { ...draft, components, ...(headerMediaId !== undefined && { headerMediaId }) });
  const image = { type: 'HEADER', format: 'IMAGE' };
  const lacking = await create([image, body]);
  assert.deepEqual([lacking.status, lacking.body.code], [400, 'validation_failed']);
  const made = await create([image, body], mediaId);
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const [header] = made.body.components;
  assert.match(header.example.header_handle[0], /^4::/);
  assert.deepEqual(made.body.components.slice(1), [body]);
  const one = `${path}/${made.body.templateId}`;
  const changed = await call('PATCH', one, { components: [body, image], headerMediaId: mediaId });
  assert.equal(changed.status, 200, JSON.stringify(changed.body));
  assert.notEqual(changed.body.components[1].example.header_handle[0], header.example.header_handle[0]);
  assert.equal((await call('PATCH', one, { category: 'utility', headerMediaId: mediaId })).status, 400);
  const text = (await upload(server, token, samples.document)).body.mediaId;
  const uploads = () => graph.calls.filter((line) => line.endsWith('/uploads')).length;
  const before = uploads();
  assert.equal((await create([body], mediaId)).body.errors?.[0]?.field, 'headerMediaId');
  assert.equal((await create([{ ...image, format: 'DOCUMENT' }, body], text)).body.code, 'unsupported_media_type');
  assert.equal(uploads(), before);
});
