import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { renderPage } from '../src/markdown.ts';
import { readOpenApi } from '../src/openApi.ts';
import { addressOf, ERRORS, ROOT } from '../src/paths.ts';
import { searchDocuments } from '../src/searchDocuments.ts';
import { createIndex, findDocuments, stem } from '../src/searchIndex.ts';

const pages = globSync('{*,decisions/*}.md', { cwd: join(ROOT, 'docs') })
  .map((file) => file.replace(/\.md$/, ''))
  .filter((path) => path !== ERRORS)
  .map((path) => renderPage(path, readFileSync(join(ROOT, 'docs', `${path}.md`), 'utf8')));
const index = createIndex();
index.addAll(searchDocuments(pages, readOpenApi().operations));

const find = (query: string) => findDocuments(index, query).map(({ id }) => id);
/** The address of a page, of a section (`page#section`), or of an operation of the API reference. */
const targetOf = (name: string) =>
  name.includes('.') ? `/docs#${name}` : name.replace(/^[^#]+/, (page) => addressOf(page));
const pageOf = (id: string) => (id.startsWith('/docs#') ? id : id.replace(/#.*/, ''));

/** Questions of readers, with their pages or operations. One of these is among the first three results. */
const questions: Readonly<Record<string, readonly string[]>> = {
  'send message': ['sending', 'messages.send'],
  'how to send a message': ['sending'],
  'send image': ['sending', 'media'],
  'send a voice note': ['media', 'sending'],
  'send poll': ['sending'],
  'send location': ['sending'],
  'reply to a message': ['sending'],
  'schedule message': ['sending'],
  sendAt: ['sending'],
  bulk: ['sending'],
  'phone number format': ['sending'],
  'mention everyone in a group': ['sending'],
  idempotency: ['sending'],
  'delivery receipt': ['events', 'sending'],
  'verify webhook php': ['php'],
  'verify a webhook in go': ['go'],
  'webhook signature': ['webhooks', 'receiving'],
  'why did my webhook not arrive': ['troubleshooting'],
  'webhook not arriving': ['troubleshooting'],
  'webhook retry': ['webhooks'],
  'order of messages': ['webhooks'],
  'duplicate events': ['webhooks', 'receiving'],
  ngrok: ['cli'],
  'test webhooks on localhost': ['cli', 'receiving'],
  'download media': ['media'],
  'qr code does not appear': ['troubleshooting', 'whatsapp'],
  banned: ['whatsapp'],
  'add a second number': ['getting-started', 'whatsapp'],
  'rotate token': ['whatsapp-cloud'],
  'limit key to one session': ['security'],
  'expire api key': ['security'],
  'password forgotten': ['operations', 'cli'],
  'delete data of a person': ['operations', 'security'],
  GDPR: ['operations', 'security'],
  'run 3 nodes': ['scaling'],
  kubernetes: ['deploy'],
  https: ['deploy'],
  'back up': ['backup'],
  upgrade: ['upgrade'],
  'rate limits': ['limits'],
  transcribe: ['media'],
  'transcribe voice messages': ['media'],
  'speech to text': ['media'],
  'multi tenant': ['security'],
  'multiple customers one server': ['security'],
  typebot: ['receiving'],
  'connect typebot': ['receiving'],
  dify: ['receiving'],
  flowise: ['receiving'],
  chatbot: ['sending', 'receiving'],
  'ai agent': ['mcp', 'n8n'],
  chatwoot: ['chatwoot'],
  'old messages are not imported': ['whatsapp'],
  'sync full history': ['whatsapp'],
  'contacts are empty': ['whatsapp'],
  'lid instead of phone number': ['whatsapp', 'contacts.look_up'],
  jid: ['glossary'],
  'pairing code': ['whatsapp', 'sessions.request_pairing_code'],
  'qr code as image': ['whatsapp', 'sessions.get_qr'],
  'session logged out': ['troubleshooting'],
  'reconnect automatically': ['events'],
  'proxy per session': ['whatsapp'],
  'always online': ['whatsapp', 'sessions.set_presence'],
  'mark messages as read automatically': ['chats.mark_read'],
  'reject calls automatically': ['calls.reject'],
  'ignore groups': ['webhooks'],
  'webhook events list': ['events'],
  'base64 media in webhook': ['webhooks'],
  'send base64 image': ['media'],
  'send buttons': ['messages.send_interactive', 'sending'],
  'mass messages without ban': ['whatsapp'],
  'delay between messages': ['sending', 'whatsapp'],
  'check if number has whatsapp': ['sending', 'contacts.check'],
  'brazilian ninth digit': ['whatsapp'],
  stories: ['status.list', 'whatsapp'],
  avatar: ['contacts.profile', 'sessions.get_profile', 'whatsapp'],
  'kick member from group': ['groups.update_participants'],
  'create instance': ['sessions.create'],
  'waiting for this message': ['troubleshooting'],
  'message stays queued': ['troubleshooting'],
  'temporary webhook': ['webhooks'],
  'webhook custom headers': ['webhooks'],
  'private ip webhook refused': ['webhooks'],
  rabbitmq: ['destinations'],
  websocket: ['webhooks', 'events.socket'],
  's3 minio': ['media'],
  mysql: ['scaling'],
  coolify: ['deploy'],
  swagger: ['dashboard'],
  'postman collection': ['dashboard'],
  'api key in header': ['security'],
  'default login': ['dashboard'],
  'change port': ['settings'],
  'make.com': ['n8n'],
  '24 hour window': ['whatsapp-cloud'],
  'migrate from waha': ['migrating-from-waha'],
  cors: ['settings', 'security'],
  'mail merge': ['sending#send-to-many-recipients'],
  newsletter: ['sending#send-to-many-recipients'],
  'send newsletter to 500 people': ['sending#send-to-many-recipients'],
  'how many messages per second': ['limits'],
  throughput: ['limits'],
  'error 409': ['errors#status-409'],
  'share pdf without api key': ['media#links'],
  'es module require': ['sdk'],
  windows: ['deploy'],
  price: ['whatsapp-cloud'],
  'evolution api alternative': ['migrating-from-evolution-api'],
};

/** Questions with a verb of the API. The operation is the first result. */
const calls: Readonly<Record<string, string>> = {
  'send message': 'messages.send',
  'send a text message': 'messages.send',
  'create group': 'groups.create',
  'create a session': 'sessions.create',
  'list chats': 'chats.list',
  'delete message': 'messages.delete',
  'forward a message': 'messages.forward',
  'revoke api key': 'api_keys.revoke',
  'upload media': 'media.upload',
  'check contacts': 'contacts.check',
  'replay webhooks': 'webhooks.replay',
};

describe('search', () => {
  for (const [question, answers] of Object.entries(questions))
    it(`answers "${question}"`, () => {
      const first = find(question).slice(0, 3);
      const targets = answers.map(targetOf);
      assert.ok(
        first.some((id) => targets.includes(id) || targets.includes(pageOf(id))),
        first.join(' '),
      );
    });

  it('has the operation first for its verb', () => {
    for (const [question, operation] of Object.entries(calls))
      assert.equal(find(question)[0], targetOf(operation), question);
  });

  it('finds documents with some of the words after those with all', () => {
    const some = find('webhook signature zebra');
    assert.ok(some.length > 0);
    assert.ok(findDocuments(index, 'webhook signature zebra').every(({ hasAllWords }) => !hasAllWords));
    assert.ok(findDocuments(index, 'webhook signature')[0]?.hasAllWords);
    assert.ok(some.slice(0, 5).some((id) => /webhooks|receiving/.test(id)));
    assert.deepEqual(find('zebra xylophone qqqq'), []);
  });

  it('ranks decisions, performance and migration low', () => {
    for (const question of ['webhook', 'message', 'session', 'group', 'PostgreSQL', 'file', 'key'])
      for (const id of find(question).slice(0, 5)) assert.doesNotMatch(id, /decisions|performance|migrating/, question);
  });

  it('finds error codes and identifiers', () => {
    assert.equal(find('idempotency_mismatch')[0], '/docs/errors#idempotency_mismatch');
    assert.equal(pageOf(find('RATE_LIMIT')[0] ?? ''), addressOf('limits'));
  });

  it('searches for all words if none matters', () => {
    assert.ok(find('how to').length > 0);
    assert.deepEqual(find('  '), []);
  });

  it('treats forms of a word as one', () => {
    for (const [one, other] of [
      ['messages', 'message'],
      ['arriving', 'arrive'],
      ['banned', 'ban'],
      ['deliveries', 'delivery'],
      ['retries', 'retry'],
      ['status', 'status'],
      ['stopped', 'stop'],
    ] as const)
      assert.equal(stem(one), stem(other), one);
    for (const [name, word] of [
      ['cors', 'cores'],
      ['windows', 'window'],
    ] as const)
      assert.notEqual(stem(name), stem(word), name);
  });

  it('has keywords for every page', () => {
    const without = pages.filter(({ path, sections }) => !sections[0]?.keywords && !path.startsWith('decisions/'));
    assert.deepEqual(
      without.map(({ path }) => path),
      [],
      'add <!-- keywords: … --> below the title',
    );
  });
});
