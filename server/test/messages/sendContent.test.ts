import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createLog } from '../../src/log.ts';
import { describeOnEachDeployment } from '../support/databases/databases.ts';
import { callTool, mcpClient } from '../support/mcp/mcp.ts';
import { picture } from '../support/media/media.ts';
import { bearer, connectSession, newNumber, startServer } from '../support/server.ts';

describeOnEachDeployment('a file in the request itself', (_, database) => {
  it('is sent, typed by its content, and appears in no log and no stored request', async (test) => {
    const lines: string[] = [];
    const log = createLog('debug', { write: (line: string) => void lines.push(line) });
    const server = await startServer({ database, log });
    test.after(() => server.stop());
    const { call, token } = await server.account();
    await connectSession(call);
    const bytes = picture();
    const content = bytes.toString('base64');
    const input = { to: newNumber(), type: 'image', content, fileName: 'chart.png', idempotencyKey: 'chart' };
    const sent = await call('POST', '/messages/send-media', input);
    assert.deepEqual(
      [sent.status, sent.body.media.mimeType, sent.body.media.fileName],
      [201, 'image/png', 'chart.png'],
    );
    const repeated = await call('POST', '/messages/send-media', input);
    assert.equal(repeated.body.messageId, sent.body.messageId);
    const file = await fetch(`${server.url}/api/v1/media/${sent.body.media.mediaId}/content`, {
      headers: { authorization: `Bearer ${token}` },
    });
    assert.deepEqual(Buffer.from(await file.arrayBuffer()), bytes);

    const client = await mcpClient(server, token, '2026-07-28');
    const viaTool = await callTool(client, 'messages_send_media', { ...input, idempotencyKey: 'again' });
    assert.deepEqual([viaTool.isError, viaTool.output.status], [false, 'sent']);
    const refused = await callTool(client, 'messages_send_media', { ...input, type: 'video', idempotencyKey: 'video' });
    assert.deepEqual([refused.isError, refused.output.errors[0].field], [true, 'type']);
    await client.close();

    const keys = await server.app.services.database.reader.kysely.selectFrom('idempotency_keys').selectAll().execute();
    assert.ok(keys.length > 0);
    const part = content.slice(40, 80);
    assert.ok(![JSON.stringify(keys), ...lines].some((text) => text.includes(part)));
  });

  it('has the given type if it is a text, and may have line breaks in its base64', async (test) => {
    const server = await startServer({ database });
    test.after(() => server.stop());
    const { call } = await server.account();
    await connectSession(call);
    const table = Buffer.from(`name,number\n${'Ada,1\n'.repeat(40)}`).toString('base64');
    const content = table.replace(/.{76}/g, '$&\r\n');
    const send = (fields: object) =>
      call('POST', '/messages/send-media', { to: newNumber(), type: 'document', content, ...fields });
    assert.equal((await send({ mimeType: 'text/csv' })).body.media.mimeType, 'text/csv');
    const page = Buffer.from('<html><script>alert(1)</script></html>').toString('base64');
    assert.equal((await send({ content: page, mimeType: 'image/png' })).body.media.mimeType, 'text/plain');
  });

  it('is refused with a clear error if it is too large, no base64, empty, or given twice', async (test) => {
    const server = await startServer({ database });
    test.after(() => server.stop());
    const { call } = await server.account();
    await connectSession(call);
    const send = async (fields: object) => {
      const { status, body } = await call('POST', '/messages/send-media', {
        ...{ to: newNumber(), type: 'document' },
        ...fields,
      });
      const named: string[] = (body.errors ?? []).map((error: { field: string }) => error.field);
      return { status, code: body.code, field: named[0], fields: named, detail: body.detail };
    };
    const largest = Buffer.alloc((700_000 / 4) * 3, 'x').toString('base64');
    assert.equal((await send({ content: largest })).status, 201);
    const tooLarge = await send({ content: `${largest}AAAA` });
    assert.deepEqual([tooLarge.status, tooLarge.code, tooLarge.field], [413, 'payload_too_large', 'content']);
    assert.match(tooLarge.detail, /^content has 700004 characters, more than 700000; pass an https `url` instead/);
    for (const content of ['data:text/plain;base64,YWJj', 'YWJ', 'Y=Jj', 'äöü!', '    ', 'YWJj====']) {
      const { status, field, detail } = await send({ content });
      assert.deepEqual([status, field], [400, 'content'], content);
      assert.match(detail, /base64/);
    }
    assert.deepEqual(await send({ content: '' }), {
      ...{
        status: 400,
        code: 'validation_failed',
        field: 'content',
        fields: ['content'],
        detail: 'content must not be empty',
      },
    });
    const url = 'https://example.com/a';
    for (const [fields, named] of [
      [{}, ['mediaId']],
      [{ content: 'YWJj', url }, ['url', 'content']],
      [{ content: 'YWJj', mediaId: 'med_1' }, ['mediaId', 'content']],
    ] as const) {
      const refused = await send(fields);
      assert.match(refused.detail, /exactly one of `mediaId`, `url` and `content`/);
      assert.deepEqual(refused.fields, named);
    }
    assert.equal((await send({ url: 'https://example.com/a', mimeType: 'text/csv' })).field, 'mimeType');
  });

  it('is not stored if the send is refused', async (test) => {
    const server = await startServer({ database, env: { MAX_PENDING_APPROVALS: '1', MAX_SCHEDULED_MESSAGES: '1' } });
    test.after(() => server.stop());
    const { call } = await server.account();
    const sessionId = await connectSession(call);
    const { sessionId: unlinked } = (await call('POST', '/sessions')).body;
    const keyWith = async (limits: object) =>
      bearer(server.url, (await call('POST', '/api-keys/create', { name: 'agent', ...limits })).body.key);
    const [limited, unapproved] = [await keyWith({ sendQuota: 1 }), await keyWith({ requiresApproval: true })];
    const send = async (as: typeof call, fields: object) => {
      const file = { type: 'image', content: picture().toString('base64') };
      const { status, body } = await as('POST', '/messages/send-media', {
        ...{ sessionId, to: newNumber(), ...file },
        ...fields,
      });
      return status === 201 ? status : body.code;
    };
    const sendAt = new Date(Date.now() + 3_600_000).toISOString();
    const once = { content: picture().toString('base64'), to: newNumber(), idempotencyKey: 'once' };
    for (const [as, fields] of [
      [limited, once],
      [unapproved, {}],
      [call, { sendAt }],
    ] as const)
      assert.equal(await send(as, fields), 201);
    const { kysely } = server.app.services.database.reader;
    const files = async () => (await kysely.selectFrom('media').select('media_id').execute()).length;
    const before = await files();

    for (const [as, fields, code] of [
      [call, { to: 'grp_unknown' }, 'not_found'],
      [call, { replyTo: 'msg_unknown' }, 'validation_failed'],
      [call, { sendAt: '2020-01-01T00:00:00Z' }, 'validation_failed'],
      [call, { mentions: ['1'] }, 'validation_failed'],
      [call, { type: 'video' }, 'validation_failed'],
      [call, { sessionId: unlinked }, 'session_not_connected'],
      [call, { sessionId: unlinked, sendAt }, 'session_not_connected'],
      [call, { sendAt }, 'too_many'],
      [unapproved, {}, 'too_many'],
      [limited, {}, 'quota_exceeded'],
    ] as const)
      assert.equal(await send(as, fields), code, JSON.stringify(fields));
    assert.equal(await files(), before);
    assert.equal(await send(limited, once), 201, 'a repeat is still answered');
    assert.equal(await files(), before);
  });

  it('has a name without folders and marks that reorder it, wherever the name comes from', async (test) => {
    const server = await startServer({ database });
    test.after(() => server.stop());
    const { call } = await server.account();
    await connectSession(call);
    const text = { to: newNumber(), type: 'document', content: 'YWJj' };
    const nameOf = async (fields: object) =>
      (await call('POST', '/messages/send-media', { ...text, ...fields })).body.media.fileName;
    const { mediaId } = (await call('POST', '/messages/send-media', { ...text, fileName: 'first.txt' })).body.media;
    const stored = { content: undefined, mediaId };
    for (const [given, kept] of [
      ['../../etc/passwd', 'passwd'],
      ['C:\\temp\\a.txt', 'a.txt'],
      ['photo\u202egpj.exe', 'photogpj.exe'],
      ['a\r\nb.txt', 'ab.txt'],
      ['x'.repeat(255), 'x'.repeat(200)],
      ['..', 'first.txt'],
    ] as const) {
      assert.equal(await nameOf({ fileName: given }), kept);
      assert.equal(await nameOf({ ...stored, fileName: given }), kept);
    }
    assert.equal(await nameOf(stored), 'first.txt');
  });
});
