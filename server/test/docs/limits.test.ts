import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { settingSections, settingsTable, variableOf } from '../../src/config.ts';
import { LINK_SECONDS } from '../../src/media/links.ts';
import { root } from './markdown.ts';

/* Compares every figure of docs/limits.md with the setting, the schema or the constant that it comes from. */

const read = (file: string) => readFileSync(join(root, file), 'utf8');
const page = read('docs/limits.md');
const openApi = JSON.parse(read('openapi.json'));

const setting = (name: keyof typeof settingsTable) => Number(settingsTable[name].default);

/** The product that a constant of a source file is set to. */
function constant(file: string, name: string): number {
  const [, product] = new RegExp(`const ${name} = ([\\d_* ]+);`).exec(read(`server/src/${file}`)) ?? [];
  assert.ok(product, `${file} has no ${name}`);
  return product.split('*').reduce((result, factor) => result * Number(factor.replaceAll('_', '')), 1);
}

const schemaOf = (route: string, name: string) =>
  openApi.paths[`/api/v1${route}`].post.requestBody.content['application/json'].schema.properties[name];

/** A keyword of the schema of a field in the body of an operation. */
const field = (route: string, name: string, keyword: string): number => schemaOf(route, name)[keyword];

/** A number in the description of a field that has no schema keyword for it. */
const described = (route: string, name: string, pattern: RegExp): number =>
  Number(pattern.exec(schemaOf(route, name).description)?.[1]);

function parameter(route: string, name: string, keyword: string): number {
  const { parameters } = openApi.paths[`/api/v1${route}`].get;
  return parameters.find((one: { name: string }) => one.name === name).schema[keyword];
}

/** The figures by the first cell of their row. Undefined if the row has no figure. */
const figures: Readonly<Record<string, readonly number[] | undefined>> = {
  'requests per minute for each credential': [setting('rateLimit')],
  'requests per minute for each account, across all its credentials': undefined,
  'failed logins per minute for one account from one address': [setting('loginRateLimit')],
  'registrations per hour from one address': [setting('registrationRateLimit')],
  'seconds of file conversion per account in ten minutes, on each node': [setting('mediaConversionSeconds')],

  'request body in JSON': [constant('http/server.ts', 'BODY_LIMIT_BYTES') / 1024 ** 2],
  'message text': [field('/messages/send', 'message', 'maxLength')],
  'caption of a file, text of a status': [field('/messages/send-media', 'caption', 'maxLength')],
  'file to upload or to fetch from a URL': [setting('mediaMaxBytes') / 1024 ** 2],
  'file in a request as base64 (`content`)': [constant('operations/messages/sending.ts', 'MAX_CONTENT_CHARACTERS')],
  'files in an album': [field('/messages/send-album', 'files', 'maxItems')],
  'poll options': [field('/messages/send-poll', 'options', 'maxItems')],
  'mentions in a message': [field('/messages/send', 'mentions', 'maxItems')],
  'numbers on a contact card': [field('/messages/send-contact', 'phoneNumbers', 'maxItems')],
  'recipients of a bulk request': [field('/messages/send-bulk', 'to', 'maxItems')],
  'messages in a bulk request, counting each album file': [constant('operations/bulk/sendBulk.ts', 'MAX_MESSAGES')],
  'pause of a bulk send': [constant('operations/bulk/batches.ts', 'PAUSE_DAYS')],
  'placeholders per recipient of a bulk request': [constant('operations/bulk/bulkContent.ts', 'MAX_VALUES')],
  'value of a placeholder': [constant('operations/bulk/bulkContent.ts', 'MAX_VALUE_LENGTH')],
  'name of a placeholder': [described('/messages/send-bulk', 'values', /up to (\d+) letters/)],
  'values in a JSON body': [constant('http/jsonShape.ts', 'MAX_VALUES')],
  'file in a delivery as base64 (`inlineMediaBytes`)': [
    constant('events/deliveredFiles.ts', 'MAX_INLINE_MEDIA_BYTES') / 1024 ** 2,
  ],
  'contents of files in deliveries that each node sends at the same time': [
    constant('operations/webhooks/deliveredFiles.ts', 'MEMORY_BYTES') / 1024 ** 2,
  ],
  'recipients of a preflight': [field('/messages/preflight', 'to', 'maxItems')],
  'participants of a new group': [field('/groups', 'phoneNumbers', 'maxItems')],
  'days that a message can be scheduled ahead': [constant('operations/shared/futureTime.ts', 'MAX_DAYS_AHEAD')],
  'entries of a page': [parameter('/messages', 'limit', 'maximum')],
  'participants on a page with several groups': [constant('operations/groups/shownGroups.ts', 'MOST_PARTICIPANTS')],
  'reactions, and votes, on a page with several messages or chats': [
    constant('messages/messages/reactionRows.ts', 'MOST_REACTIONS'),
  ],
  'seconds that `wait` holds a request': [parameter('/events', 'wait', 'maximum')],

  'sessions per account': [setting('maxSessions')],
  'API keys per account': [setting('maxApiKeys')],
  'webhooks per account, in addition to the default one': [
    constant('operations/webhooks/endpoints.ts', 'MAX_ENDPOINTS'),
  ],
  'deliveries in flight per webhook': [
    described('/webhooks/endpoints', 'maxInFlight', /(\d+) by default/),
    field('/webhooks/endpoints', 'maxInFlight', 'maximum'),
  ],
  'scheduled messages per account, bulk sends included': [setting('maxScheduledMessages')],
  'messages per account that wait for approval': [setting('maxPendingApprovals')],
  'open streams, sockets and long polls per account, on each node': [setting('maxWaitingCalls')],
  'bytes of stored files per account': undefined,
  'connections to endpoints and files behind URLs, on each node': [setting('outgoingConnections')],

  'seconds for one delivery attempt': [setting('webhookTimeoutMs') / 1000],
  'retries of a delivery': [settingsTable.webhookRetrySeconds.default.split(',').length],
  'seconds between the probes of an open breaker, at first': [setting('breakerOpenSeconds')],

  'events, the delivery log, tool calls of API keys': [setting('eventRetentionDays')],
  'events that wait behind an open breaker': [setting('heldRetentionDays')],
  'messages, chats and contacts': undefined,
  files: undefined,
  'receipts of each group member': [constant('messages/messages/groupReceipts.ts', 'RECEIPT_DAYS')],
  'idempotency keys': [constant('invoke/idempotency.ts', 'KEPT_MS') / 3_600_000],
  'messages that wait for approval': [constant('messages/messages/approval.ts', 'EXPIRY_DAYS')],
  'login tokens': [constant('auth/tokens.ts', 'TOKEN_LIFETIME_MS') / 3_600_000],
  'links to files': [LINK_SECONDS.usual, LINK_SECONDS.most],
  'links to files in deliveries': [constant('events/deliveredFiles.ts', 'DELIVERED_LINK_MS') / 3_600_000],
};

const networkFigures: readonly (readonly number[])[] = [
  [
    constant('connectors/whatsapp/whatsapp.ts', 'PAUSE_MS'),
    constant('connectors/whatsapp/whatsapp.ts', 'NEW_CHATS_PER_DAY'),
  ],
  [constant('sessions/lookUps.ts', 'MAX_LOOK_UPS'), constant('sessions/lookUps.ts', 'MAX_LOOK_UPS_PER_DAY')],
  [constant('connectors/whatsapp-cloud/outbound/sender.ts', 'MESSAGES_PER_SECOND')],
];

const rows = [...page.matchAll(/^\| (?!limit|data|network|---)(.+?) \|$/gm)].map(([, row = '']) => row.split(' | '));
const numbersIn = (text: string) =>
  [...text.matchAll(/\d[\d,]*/g)].map(([number]) => Number(number.replaceAll(',', '')));

describe('docs/limits.md', () => {
  it('has the figures of the code', () => {
    const [network, other] = [
      rows.filter(([name = '']) => isNetwork(name)),
      rows.filter(([name = '']) => !isNetwork(name)),
    ];
    assert.deepEqual(
      other.map(([name]) => name),
      Object.keys(figures),
    );
    for (const [name = '', value = '', change = ''] of other)
      assert.deepEqual(numbersIn(`${value} ${change}`), figures[name] ?? [], name);
    for (const [index, wanted] of networkFigures.entries())
      assert.deepEqual(numbersIn(network[index]?.[1] ?? ''), wanted);
  });

  it('has every setting of a limit', () => {
    for (const name of settingSections['Limits']) assert.ok(page.includes(`\`${variableOf(name)}\``), name);
  });
});

const isNetwork = (name: string) => name.startsWith('`whatsapp') || name === 'all';
