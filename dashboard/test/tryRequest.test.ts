import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { MAX_TEXT_BYTES, sendRequest } from '../src/pages/reference/tryRequest.ts';

describe('the response to a request of the API reference', () => {
  /** Sends a request that gets this response. */
  async function contentOf(test: TestContext, response: Response) {
    const { mock } = test.mock.method(globalThis, 'fetch', async () => response);
    try {
      return (await sendRequest(new Request('http://localhost'), test.signal, () => {})).content;
    } finally {
      mock.restore(); // two mocks of one test would be restored in the wrong order
    }
  }
  const headers = { 'content-type': 'application/problem+json' };

  it('is a value if it is JSON, and text if the JSON is broken', async (test) => {
    assert.deepEqual(await contentOf(test, Response.json({ a: 1 })), { kind: 'json', value: { a: 1 } });
    const broken = await contentOf(test, new Response('{"a":', { headers }));
    assert.deepEqual(broken, { kind: 'text', text: '{"a":', isCut: false });
  });

  it('is cut if it is JSON of any size', async (test) => {
    const chunk = new TextEncoder().encode('[1234567'.repeat(8192));
    let isCancelled = false;
    const endless = new ReadableStream<Uint8Array<ArrayBuffer>>({
      pull: (controller) => controller.enqueue(chunk),
      cancel: () => {
        isCancelled = true;
      },
    });
    const content = await contentOf(test, new Response(endless, { headers }));
    assert.ok(content.kind === 'text' && content.isCut);
    assert.equal(content.text.length, MAX_TEXT_BYTES);
    assert.ok(isCancelled, 'the rest is not read');
  });
});
