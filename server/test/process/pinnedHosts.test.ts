import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { after, before, beforeEach, it } from 'node:test';
import { downloadContentFromMessage } from 'baileys';
import { Agent, type Dispatcher, request } from 'undici';
import { isPinned, PinnedHostError, pinHosts } from '../../src/egress/pinnedHosts.ts';
import { type FileServer, startFileServer } from '../support/connections/fileServer.ts';
import { createFakeClock } from '../support/fakeClock.ts';

const clock = createFakeClock();
let agent: Agent;
let own: FileServer;
let other: FileServer;
let answer: (request: IncomingMessage, response: ServerResponse) => void;
/** Requests only `own`. */
let pinned: Dispatcher;

before(async () => {
  own = await startFileServer((request, response) => answer(request, response));
  other = await startFileServer((_, response) => response.end('not yours'));
  agent = new Agent();
  pinned = pinHosts(agent, { hosts: [new URL(own.url).host], maxBytes: 100, timeoutMs: 1000, clock });
});
beforeEach(() => {
  other.visits.length = 0;
  answer = (_, response) => response.end('a file');
});
after(async () => {
  await agent.destroy();
  await Promise.all([own.close(), other.close()]);
});

const refused = (words: RegExp) => (error: Error) => {
  // Node's own fetch reports the error of its dispatcher as the cause.
  const cause = error instanceof PinnedHostError ? error : error.cause;
  assert.ok(cause instanceof PinnedHostError, String(error));
  assert.match(cause.message, words);
  return true;
};

it('distinguishes the hosts of a network from lookalikes', () => {
  const hosts = ['.whatsapp.net', 'localhost:44', 'http://10.0.0.1:80'];
  const verdict = (url: string) => isPinned(new URL(url), hosts);
  for (const url of ['https://mmg.whatsapp.net/a', 'https://a.b.whatsapp.net', 'https://localhost:44/'])
    assert.equal(verdict(url), true, url);
  assert.equal(isPinned(new URL('http://10.0.0.1:8080/'), ['http://10.0.0.1:8080']), true);
  for (const url of [
    'http://mmg.whatsapp.net/',
    'https://whatsapp.net/',
    'https://mmg.whatsapp.net:8443/',
    'https://mmgwhatsapp.net/',
    'https://mmg.whatsapp.net.example.com/',
    'https://mmg.whatsapp.net@example.com/',
    'https://mmg.whatsapp.net./',
    'https://localhost/',
    'https://localhost:45/',
    'https://10.0.0.1/',
  ])
    assert.equal(verdict(url), false, url);
});

it('connects only to pinned hosts, even for redirects and client libraries', async () => {
  assert.equal(await (await request(`${own.url}/`, { dispatcher: pinned })).body.text(), 'a file');
  await assert.rejects(request(`${other.url}/`, { dispatcher: pinned }), refused(/is not a host of this network/));
  answer = (_, response) => response.writeHead(302, { location: other.url }).end();
  await assert.rejects(request(`${own.url}/`, { dispatcher: pinned }), refused(/the host redirects \(302\)/));
  // Node's fetch accepts a dispatcher, which is missing in the type of its options.
  const options = { dispatcher: pinned } as RequestInit;
  await assert.rejects(fetch(own.url, options), refused(/the host redirects/));
  await assert.rejects(fetch(other.url, options), refused(/is not a host of this network/));
  // As Baileys fetches history and shared state.
  const blob = { mediaKey: randomBytes(32), directPath: '.example.com/history' };
  await assert.rejects(
    downloadContentFromMessage(blob, 'md-msg-hist', { options }),
    refused(/^mmg\.whatsapp\.net\.example\.com is not a host of this network/),
  );
  assert.deepEqual(other.visits, []);
});

it('stops reading at the size limit, whether or not the length is announced', async () => {
  const read = async () => (await request(`${own.url}/`, { dispatcher: pinned })).body.text();
  answer = (_, response) => response.end('x'.repeat(100));
  assert.equal((await read()).length, 100);
  answer = (_, response) => response.writeHead(200, { 'content-length': 101 }).end('x'.repeat(101));
  await assert.rejects(read(), refused(/larger than 100 bytes/));
  answer = (_, response) => {
    response.write('x'.repeat(60));
    response.end('x'.repeat(60));
  };
  await assert.rejects(read(), refused(/larger than 100 bytes/));
});

it('times out before and during a response', async () => {
  const asked = Promise.withResolvers<void>();
  answer = () => asked.resolve();
  const silent = request(`${own.url}/`, { dispatcher: pinned });
  await asked.promise;
  clock.advance(1000);
  await assert.rejects(silent, refused(/did not come within 1 s/));
  answer = (_, response) => response.write('x');
  const { body } = await request(`${own.url}/`, { dispatcher: pinned });
  clock.advance(1000);
  await assert.rejects(body.text(), refused(/did not come within 1 s/));
});
