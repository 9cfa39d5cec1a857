import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { performance } from 'node:perf_hooks';
import { after, before, beforeEach, describe, it } from 'node:test';
import { readHead } from '../../src/media/pageHead.ts';
import { firstLink } from '../../src/operations/messages/richSending.ts';
import { type FileServer, startFileServer } from '../support/connections/fileServer.ts';
import { eventually } from '../support/eventually.ts';
import { picture, upload } from '../support/media/media.ts';
import { type Call, connectSession, newNumber, startServer, type TestServer } from '../support/server.ts';

const PAGE = `<!doctype html><html><head><title>Plain title</title>
<meta property="og:title" content="A &amp; B"><meta name="description" content="Tea  and
coffee"><meta property="og:image" content="/picture.png"></head><body><title>Other</title></body></html>`;

describe('the preview of a link', () => {
  let pages: FileServer;
  let server: TestServer;
  let call: Call;
  let token: string;
  let accountId: string;
  let answer: (request: IncomingMessage, response: ServerResponse) => void;
  before(async () => {
    pages = await startFileServer((request, response) => answer(request, response));
    server = await startServer();
    ({ call, token, accountId } = await server.account());
    await connectSession(call);
  });
  beforeEach(() => {
    pages.visits.length = 0;
    answer = ({ url }, response) => {
      if (url === '/picture.png') response.writeHead(200, { 'content-type': 'image/png' }).end(picture());
      else response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(PAGE);
    };
  });
  after(async () => {
    await server.stop();
    await pages.close();
  });
  const preview = (path = '/') => server.app.services.linkPreviews.of(accountId, pages.url + path);
  const send = (message: string, linkPreview?: unknown) =>
    call('POST', '/messages/send', { to: newNumber(), message, linkPreview });

  it('has the title, the description and a small picture of the page', async () => {
    const { thumbnail = '', ...page } = (await preview('/a')) ?? {};
    assert.deepEqual(page, { title: 'A & B', description: 'Tea and coffee' });
    assert.deepEqual([...Buffer.from(thumbnail, 'base64').subarray(0, 2)], [0xff, 0xd8]);
    assert.deepEqual(pages.visits, ['/a', '/picture.png']);
  });

  it('is stored with the message, and left out if the page has none', async () => {
    const url = `${pages.url}/a`;
    const sent = await send(`Look: ${url}!`, true);
    assert.deepEqual(
      [sent.status, sent.body.linkPreview],
      [201, { url, title: 'A & B', description: 'Tea and coffee', hasImage: true }],
    );
    assert.ok(!JSON.stringify(sent.body).includes('thumbnail'));
    answer = (_, response) => response.writeHead(404).end();
    const without = await send(`Look: ${url}`, true);
    assert.deepEqual([without.status, without.body.linkPreview], [201, undefined]);
    assert.equal((await send('no link', true)).body.linkPreview, undefined);
  });

  it('is not fetched unless it was asked for', async () => {
    for (const linkPreview of [undefined, false]) {
      const { status, body } = await send(`${pages.url}/a`, linkPreview);
      assert.deepEqual([status, body.linkPreview], [201, undefined]);
    }
    assert.deepEqual(pages.visits, []);
  });

  it('is parsed outside of the main thread, one page of an account at a time', async () => {
    let open = 0;
    let most = 0;
    answer = (_, response) => {
      most = Math.max(most, ++open);
      response.on('finish', () => open--);
      response.writeHead(200, { 'content-type': 'text/html' }).end(`<title>T</title>${'<b>'.repeat(170_000)}`);
    };
    const before = performance.eventLoopUtilization();
    const found = await Promise.all(Array.from({ length: 12 }, () => preview()));
    const { active } = performance.eventLoopUtilization(before);
    assert.equal(most, 1);
    assert.equal(found.filter((page) => page?.title === 'T').length, 8, 'a bounded number waits');
    assert.ok(active < 3000, `the main thread was busy for ${active} ms`);
    assert.equal((await preview())?.title, 'T');
  });

  it('is not fetched before the message can be sent', async () => {
    const { call: other } = await server.account();
    await other('POST', '/sessions', {});
    const { body } = await other('POST', '/messages/send', { to: newNumber(), message: pages.url, linkPreview: true });
    assert.equal(body.code, 'session_not_connected');
    assert.deepEqual(pages.visits, []);
  });

  it('is made neither of a page in the own network nor of one that redirects there', async () => {
    const { linkPreviews } = server.app.services;
    for (const url of ['https://169.254.169.254/latest/meta-data', 'https://10.0.0.1/', 'http://127.0.0.1/'])
      assert.equal(await linkPreviews.of(accountId, url), undefined, url);
    answer = (_, response) => response.writeHead(302, { location: 'https://10.0.0.1/' }).end();
    assert.equal(await preview(), undefined);
    const image = PAGE.replace('/picture.png', 'https://169.254.169.254/picture.png');
    answer = (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(image);
    assert.deepEqual(await preview(), { title: 'A & B', description: 'Tea and coffee' });
  });

  it('reads the beginning of a page of any length', async () => {
    let isClosed = false;
    answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.write(PAGE.replace('</head>', '').replace('og:image', 'none'));
      const filling = 'x'.repeat(64 * 1024);
      const more = () => {
        while (!isClosed && response.write(filling));
      };
      response.on('drain', more);
      response.on('close', () => {
        isClosed = true;
      });
      more();
    };
    assert.equal((await preview())?.title, 'A & B');
    await eventually(async () => isClosed, Boolean);
  });

  it('has no picture that is too large or damaged, and none of what is no page', async () => {
    for (const bytes of [Buffer.alloc(2 * 1024 * 1024, 1), Buffer.from('no picture')]) {
      answer = ({ url }, response) => {
        if (url === '/picture.png') response.end(bytes);
        else response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE);
      };
      assert.equal((await preview())?.thumbnail, undefined);
    }
    answer = (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end(PAGE);
    assert.equal(await preview(), undefined);
  });

  it('shows what the caller chose', async () => {
    const { mediaId } = (await upload(server, token, picture())).body;
    const url = 'https://example.com/a';
    const chosen = await send(`See ${url}`, { title: 'Mine', image: mediaId });
    assert.deepEqual([chosen.status, chosen.body.linkPreview], [201, { url, title: 'Mine', hasImage: true }]);
    const plain = await send(`See ${url}`, { title: 'T\u202e\u0007\n\nx', description: '\u202e' });
    assert.deepEqual([plain.status, plain.body.linkPreview], [201, { url, title: 'T x' }]);
    const fetched = await send(`See ${url}`, { title: 'Mine', image: `${pages.url}/picture.png` });
    assert.equal(fetched.status, 201, JSON.stringify(fetched.body));
    const text = (await upload(server, token, Buffer.from('text'))).body.mediaId;
    for (const [message, linkPreview, field] of [
      ['no link', { title: 'Mine' }, 'linkPreview'],
      [`See ${url}`, { title: '\u202e \u200b\n' }, 'linkPreview.title'],
      [`See ${url}`, { title: 'Mine', url: 'https://example.com/b' }, 'linkPreview.url'],
      [`See ${url}`, { title: 'Mine', image: text }, 'linkPreview.image'],
      [`See ${url}`, { title: 'Mine', image: 'http://example.com/a.png' }, 'linkPreview.image'],
      [`See ${url}`, { title: 'Mine', image: 'nowhere' }, 'linkPreview.image'],
      [`See ${url}`, { title: 'Mine', image: 'https://10.0.0.1/' }, 'linkPreview.image'],
      [`See ${url}`, {}, 'linkPreview'],
    ] as const) {
      const { status, body } = await send(message, linkPreview);
      assert.equal(status, 400, JSON.stringify(body));
      assert.ok(body.errors[0].field.startsWith(field), JSON.stringify(body.errors));
    }
  });
});

describe('the description of a page', () => {
  const headOf = (html: string) => readHead(Buffer.from(html), 'text/html; charset=utf-8');

  it('is read without parsing what follows the head', () => {
    const head = '<head><title>T</title></head>';
    const hostile = ['<b>'.repeat(174_000), `<p ${'a '.repeat(250_000)}>`, '<b><i>'.repeat(87_000)];
    for (const body of hostile) {
      for (const html of [head + body, `<title>T</title>${body}`, `<title>T</title><body>${body}`]) {
        const { user } = process.cpuUsage();
        assert.deepEqual(headOf(html), { title: 'T' });
        const ms = process.cpuUsage({ user, system: 0 }).user / 1000;
        assert.ok(ms < 500, `${html.slice(0, 40)} took ${ms} ms`);
      }
    }
  });

  it('is read from its head only, preferring the names made for previews', () => {
    const cases: [html: string, head: object][] = [
      ['<title>T</title>', { title: 'T' }],
      ['<title> a\n b </title><meta name=description content=d>', { title: 'a b', description: 'd' }],
      ['<meta name="twitter:title" content="x"><title>T</title>', { title: 'x' }],
      ['<meta property="og:title" content="first"><meta property="og:title" content="second">', { title: 'first' }],
      ['<body><title>T</title><meta name=description content=d>', {}],
      ['<svg><title>drawn</title></svg>', { title: 'drawn' }],
      [
        '<meta property="og:title" content="pay&#x202e;lapyap &#x2066;x"><meta name=description content="a&#7;&#x2028;b">',
        { title: 'paylapyap x', description: 'a b' },
      ],
      ['<title>&#x202e; &#7;</title>', {}],
      ['<title>unclosed', { title: 'unclosed' }],
      [`<title>${'x'.repeat(300)}</title>`, { title: 'x'.repeat(200) }],
      ['', {}],
      ['<meta property="og:image" content=" /a.png ">', { image: '/a.png' }],
    ];
    for (const [html, head] of cases) assert.deepEqual(headOf(html), head, html.slice(0, 80));
  });
});

describe('the first link of a text', () => {
  it('ends before the punctuation of the sentence', () => {
    const cases: [text: string, link: string | undefined][] = [
      ['see https://example.com/a.', 'https://example.com/a'],
      ['(https://example.com/a)', 'https://example.com/a'],
      ['https://example.com/a_(b)', 'https://example.com/a_(b)'],
      ['*https://example.com/a*', 'https://example.com/a'],
      ['http://one.example then https://two.example', 'http://one.example'],
      ['example.com', undefined],
      ['https://', undefined],
    ];
    for (const [text, link] of cases) assert.equal(firstLink(text), link, text);
  });
});
