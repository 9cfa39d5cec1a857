import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { after, before, beforeEach, describe, it } from 'node:test';
import { systemClock } from '../../src/clock.ts';
import { createTargetPolicy, type Lookup } from '../../src/egress/target.ts';
import { createUseFetched } from '../../src/media/fetch.ts';
import { type FileServer, startFileServer } from '../support/connections/fileServer.ts';
import { createFakeClock } from '../support/fakeClock.ts';
import { picture } from '../support/media/media.ts';
import { startServer, type TestServer } from '../support/server.ts';

const local = createTargetPolicy({ host: '127.0.0.1', allowedCidrs: [] });
const strict = createTargetPolicy({ host: '0.0.0.0', allowedCidrs: [] });

describe('a file given by URL', () => {
  let files: FileServer;
  let server: TestServer;
  let answer: (request: IncomingMessage, response: ServerResponse) => void;
  let accountId: string;
  before(async () => {
    files = await startFileServer((request, response) => answer(request, response));
    server = await startServer({ env: { MEDIA_MAX_BYTES: '100000' } });
    ({ accountId } = await server.account());
  });
  beforeEach(() => {
    files.visits.length = 0;
  });
  after(async () => {
    await server.stop();
    await files.close();
  });
  const fetchFile = (path: string) => server.app.services.media.fetch(accountId, files.url + path);

  it('is stored with the type of its content and the name that its server gives', async () => {
    const bytes = picture();
    answer = (_, response) =>
      response
        .writeHead(200, { 'content-type': 'text/html', 'content-disposition': 'inline; filename=a.png' })
        .end(bytes);
    const row = await fetchFile('/x');
    assert.deepEqual([row.mime_type, row.file_name, row.size], ['image/png', 'a.png', bytes.length]);
    assert.ok((await server.app.services.media.read(row.hash)).equals(bytes));
    answer = (_, response) => response.end(picture());
    assert.equal((await fetchFile('/some/caf%C3%A9.png?x=1')).file_name, 'café.png');
    assert.equal((await fetchFile('/')).file_name, null);
  });

  it('is fetched through three redirects, but not four', async () => {
    answer = ({ url = '' }, response) => {
      const left = Number(url.slice(1));
      if (left === 0) response.end('here');
      else response.writeHead(302, { location: `/${left - 1}` }).end();
    };
    assert.equal((await fetchFile('/3')).size, 4);
    await assert.rejects(fetchFile('/4'), { code: 'fetch_failed', message: /more than 3 times/ });
    assert.deepEqual(files.visits, ['/3', '/2', '/1', '/0', '/4', '/3', '/2', '/1']);
  });

  it('is rejected if a redirect leads to a forbidden address or scheme', async () => {
    for (const [location, reason] of [
      ['https://169.254.169.254/latest/meta-data', /cloud metadata/],
      ['https://10.0.0.1/', /private address/],
      ['https://[::ffff:127.0.0.1]/', /IPv4-mapped/],
      ['http://127.0.0.1/', /must use https/],
      ['file:///etc/passwd', /absolute URL/],
    ] as const) {
      answer = (_, response) => response.writeHead(302, { location }).end();
      await assert.rejects(fetchFile('/'), { code: 'validation_failed', message: reason }, location);
    }
  });

  it('is never requested from a forbidden address', async () => {
    answer = (_, response) => response.end('secret');
    const { port } = new URL(files.url);
    const resolvesHere: Lookup = (_, __, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]);
    const options = { policy: strict, maxBytes: 1000, timeoutMs: 5000, clock: systemClock, lookup: resolvesHere };
    const fetching = createUseFetched(options);
    for (const url of [
      files.url,
      `https://2130706433:${port}/`,
      `https://localhost:${port}/`,
      `https://user:pass@example.com/`,
      `http://example.com/`,
      'ftp://example.com/',
      'nonsense',
    ]) {
      await assert.rejects(
        fetching(url, ({ stream }) => buffer(stream)),
        { code: 'validation_failed' },
        url,
      );
    }
    // The error does not reveal whether a name exists.
    await assert.rejects(
      fetching(`https://files.example.com:${port}/`, ({ stream }) => buffer(stream)),
      { code: 'fetch_failed', message: /^The name files\.example\.com does not resolve to a public address/ },
    );
    assert.deepEqual(files.visits, []);
    // The same name connects to the address of the vetted lookup, so vetting rejected it before.
    const allowed = createUseFetched({ ...options, policy: local });
    const bytes = await allowed(`https://files.example.com:${port}/`, ({ stream }) => buffer(stream));
    assert.equal(bytes.toString(), 'secret');
  });

  it('is rejected if it is too large, whether or not its length is announced', async () => {
    answer = (_, response) => response.writeHead(200, { 'content-length': 100_001 }).end(randomBytes(100_001));
    await assert.rejects(fetchFile('/'), { code: 'payload_too_large' });
    answer = (_, response) => {
      response.on('error', () => {});
      response.write(randomBytes(60_000));
      response.end(randomBytes(60_000));
    };
    await assert.rejects(fetchFile('/'), { code: 'payload_too_large' });
  });

  it('is rejected if the response is not the file', async () => {
    for (const status of [204, 206, 304, 401, 404, 500]) {
      answer = (_, response) => response.writeHead(status).end();
      await assert.rejects(fetchFile('/'), {
        code: 'fetch_failed',
        message: `The URL answered with status ${status} instead of 200`,
      });
    }
    answer = (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('x');
    await assert.rejects(fetchFile('/'), { code: 'fetch_failed', message: /gzip/ });
    answer = (_, response) => response.end();
    await assert.rejects(fetchFile('/'), { code: 'validation_failed' });
    answer = (_, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('half');
      setImmediate(() => response.destroy());
    };
    await assert.rejects(fetchFile('/'), { code: 'fetch_failed' });
    await assert.rejects(server.app.services.media.fetch(accountId, 'https://127.0.0.1:1/'), {
      code: 'fetch_failed',
      message: /ECONNREFUSED/,
    });
  });

  it('times out before and within its content', async () => {
    for (const starts of [false, true]) {
      const clock = createFakeClock();
      const fetching = createUseFetched({ policy: local, maxBytes: 1000, timeoutMs: 60_000, clock });
      const asked = new Promise<void>((resolve) => {
        answer = (_, response) => {
          if (starts) response.write('a first piece');
          resolve();
        };
      });
      const fetched = fetching(files.url, ({ stream }) => buffer(stream));
      const refusal = assert.rejects(fetched, { code: 'fetch_failed', message: /within 60 s/ });
      await asked;
      await clock.advance(60_000);
      await refusal;
    }
  });
});
