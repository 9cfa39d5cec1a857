import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import type { INodeExecutionData } from 'n8n-workflow';
import { execute } from './support/contexts.ts';
import { switchboard } from './support/nodes.ts';

const CONTENT = 'a,b';
const encoded = Buffer.from(CONTENT).toString('base64');
const itemOf = (mimeType: string, isStored = false): INodeExecutionData => ({
  json: {},
  binary: { data: isStored ? { data: 'filesystem-v2', id: encoded, mimeType } : { data: encoded, mimeType } },
});

interface Upload {
  readonly type: string | undefined;
  readonly body: string;
}

/**
 * Uploads the file of an item to a server that responds with these statuses, and then with 201. It drops the connection
 * for 0. @returns the requests
 */
async function uploadTo(statuses: number[], item: INodeExecutionData): Promise<Upload[]> {
  const uploads: Upload[] = [];
  const server = createServer(async (request, response) => {
    uploads.push({ type: request.headers['content-type'], body: await text(request) });
    const status = statuses.shift() ?? 201;
    if (status === 0) return void response.destroy();
    response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '0' });
    response.end(JSON.stringify(status === 201 ? { mediaId: 'med_1' } : { code: 'too_busy', detail: 'busy' }));
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  try {
    const credential = { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, apiKey: 'key' };
    const upload = { resource: 'file', operation: 'upload' };
    const [result] = await execute(switchboard, credential, upload, { items: [item] });
    assert.equal(result?.json['mediaId'], 'med_1');
    return uploads;
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

describe('uploads of the nodes for n8n', () => {
  for (const isStored of [false, true]) {
    it(`repeats a ${isStored ? 'streamed' : 'buffered'} upload without a response, or to a busy server`, async () => {
      const uploads = await uploadTo([0, 503, 429, 503], itemOf('text/csv', isStored));
      assert.deepEqual(
        uploads,
        Array.from({ length: 5 }, () => ({ type: 'text/csv', body: CONTENT })),
      );
    });
  }

  it('ends after five attempts', async () => {
    const statuses = [503, 503, 503, 503, 503, 503];
    await assert.rejects(uploadTo(statuses, itemOf('text/csv')), /busy/);
    assert.equal(statuses.length, 1);
  });

  it('sends a general type for one that is not valid or would be encoded', async () => {
    for (const [mimeType, sent = 'application/octet-stream'] of [
      ['text/csv', 'text/csv'],
      ['IMAGE/PNG', 'IMAGE/PNG'],
      ['image/svg+xml', 'image/svg+xml'],
      ['text/csv; charset="utf-8"', 'text/csv; charset="utf-8"'],
      ['application/vnd.api+json', 'application/vnd.api+json'],
      [''],
      ['foo'],
      ['/'],
      ['text/'],
      ['text/a b'],
      ['multipart/form-data'],
      ['multipart/form-data; boundary=x'],
      ['Application/JSON'],
      ['application/json;charset=utf-8'],
      ['application/x-www-form-urlencoded'],
      ['text/plain; x="a\nb"'],
      ['text/plain\r\nX-Other: 1'],
      ['text/plain; name=größe'],
    ] as const) {
      const [upload] = await uploadTo([], itemOf(mimeType));
      assert.equal(upload?.type, sent, JSON.stringify(mimeType));
    }
  });
});
