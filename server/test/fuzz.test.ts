import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Compile } from 'typebox/compile';
import { operations } from '../src/operations/index.ts';
import type { Operation } from '../src/operations/operation.ts';
import { closed } from './support/closedSchema.ts';
import type { DatabaseName } from './support/databases.ts';
import { picture, upload } from './support/media.ts';
import { startReceiver } from './support/receiver.ts';
import { connectSession, startServer } from './support/server.ts';

/*
 * Requests made from the operation table: valid ones, nearly valid ones, and hostile ones. Whatever comes, no answer is
 * a 500, every answer has the shape that is documented, and the server lives on.
 */

/** `RUNS` and `SEED` by environment: to run more of them, or the same again. */
const RUNS: Readonly<Record<DatabaseName, number>> = {
  sqlite: Number(process.env['RUNS'] ?? 10_000),
  postgres: Number(process.env['RUNS'] ?? 2000),
};
const SEED = Number(process.env['SEED'] ?? Date.now() & 0x7fff_ffff);

/** What would end the test's own account, or wait for nothing. */
const LEFT_OUT = ['auth.logout', 'auth.change_password', 'sessions.delete', 'sessions.logout'];

type Schema = Readonly<Record<string, unknown>>;
interface Known {
  readonly [field: string]: readonly string[];
}

const hostileTexts = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\ud800',
  '\u202e\u0000\uffff',
  '__proto__',
  'constructor',
  "'; drop table messages; --",
  '%00',
  '%',
  '../../etc/passwd',
  '{}',
  '[]',
  'null',
  '1e999',
  '9'.repeat(400),
  'x'.repeat(70_000),
  '😀'.repeat(300),
  'http://127.0.0.1:1/',
  'https://user:pass@example.com',
  '2026-02-30T99:99:99Z',
];

const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, true, 0, -1, 1.5, 1e308, Number.MAX_SAFE_INTEGER, -0, [], {}, [[[[]]]], [null]),
  fc.constantFrom<unknown>(...hostileTexts),
  fc.constant(JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}')),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.jsonValue({ maxDepth: 6 }),
  fc.constant(nested(200)),
);

function nested(depth: number): unknown {
  let value: unknown = 'deep';
  for (let n = 0; n < depth; n++) value = n % 2 === 0 ? [value] : { value };
  return value;
}

/** A value that fits a schema, and often one of the ids that exist. */
function fitting(schema: Schema, field: string, known: Known): fc.Arbitrary<unknown> {
  const { type, anyOf, items, patternProperties } = schema;
  const options = schema['enum'];
  if (Array.isArray(options)) return fc.constantFrom(...options);
  if ('const' in schema) return fc.constant(schema['const']);
  if (Array.isArray(anyOf)) return fc.oneof(...anyOf.map((one: Schema) => fitting(one, field, known)));
  if (type === 'boolean') return fc.boolean();
  if (type === 'null') return fc.constant(null);
  if (type === 'integer' || type === 'number') {
    const [min, max] = [Number(schema['minimum'] ?? -1000), Number(schema['maximum'] ?? 1000)];
    return type === 'integer' ? fc.integer({ min, max }) : fc.double({ min, max, noNaN: true });
  }
  if (type === 'array') {
    const minLength = Number(schema['minItems'] ?? 0);
    return fc.array(fitting((items ?? {}) as Schema, field, known), { minLength, maxLength: minLength + 3 });
  }
  if (type === 'object') {
    if (patternProperties !== undefined)
      return fc.dictionary(fc.string({ maxLength: 10 }), fc.string({ maxLength: 10 }));
    return recordOf(schema, known);
  }
  const texts = known[field] ?? [];
  const own =
    schema['format'] === 'date-time'
      ? fc.date({ noInvalidDate: true }).map((date) => date.toISOString())
      : fc.string({ maxLength: 40 });
  return texts.length === 0
    ? own
    : fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...texts) }, { weight: 1, arbitrary: own });
}

function recordOf({ properties = {}, required = [] }: Schema, known: Known): fc.Arbitrary<Record<string, unknown>> {
  const members = Object.entries(properties as Record<string, Schema>).map(([name, member]) => [
    name,
    fitting(member, name, known),
  ]);
  return fc.record(Object.fromEntries(members), { requiredKeys: required as string[] });
}

/** Now and then one field is something else, is missing, or is one too many. */
function nearly(input: fc.Arbitrary<Record<string, unknown>>): fc.Arbitrary<Record<string, unknown>> {
  return fc
    .tuple(
      input,
      fc.nat(),
      fc.constantFrom('change', 'drop', 'add'),
      hostileValue,
      fc.constantFrom('__proto__', 'x', 'constructor', 'toString'),
    )
    .map(([fields, at, how, value, name]) => {
      const names = Object.keys(fields);
      const chosen = names[at % Math.max(1, names.length)];
      if (how === 'add' || chosen === undefined) return Object.fromEntries([...Object.entries(fields), [name, value]]);
      const { [chosen]: _, ...rest } = fields;
      return how === 'drop' ? rest : { ...rest, [chosen]: value };
    });
}

interface Attempt {
  readonly id: string;
  readonly input: unknown;
}

function attempts(known: Known): fc.Arbitrary<Attempt> {
  return fc.constantFrom(...operations.filter(({ id }) => !LEFT_OUT.includes(id))).chain((operation) => {
    const valid = recordOf(operation.input as unknown as Schema, known);
    const input = fc.oneof<fc.Arbitrary<unknown>[]>(valid, nearly(valid), nearly(nearly(valid)), hostileValue);
    return input.map((value) => ({ id: operation.id, input: value }));
  });
}

/** The request of an attempt: fields of the path in the path, the others in the query or the body. */
function requestOf(operation: Operation, input: unknown): { path: string; body: string | undefined } {
  const isObject = typeof input === 'object' && input !== null && !Array.isArray(input);
  const fields = new Map(isObject ? Object.entries(input) : []);
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = textOf(fields.get(name) ?? 'none');
    fields.delete(name);
    // A dot or nothing would be another path.
    return encodeURIComponent(value.toWellFormed()).slice(0, 500).replace(/%.?$/, '') || 'none';
  });
  const isQuery = ['GET', 'DELETE'].includes(operation.method) || operation.takesContent === true;
  if (!isQuery) return { path, body: JSON.stringify(isObject ? Object.fromEntries(fields) : input) };
  const query = [...fields].map(
    ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(textOf(value).toWellFormed())}`,
  );
  return { path: `${path}?${query.join('&').slice(0, 8000).replace(/%.?$/, '')}`, body: undefined };
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));

for (const database of ['sqlite', 'postgres'] as const) {
  describe(`requests of every kind (${database})`, () => {
    it(`never get a 500, or an answer that is not as documented (seed ${SEED})`, { timeout: 180_000 }, async () => {
      const server = await startServer({ database, env: { LOGIN_RATE_LIMIT: '1000000', WEBHOOK_TIMEOUT_MS: '500' } });
      const receiver = await startReceiver();
      const { call, token } = await server.account();
      const number = '491701111111';
      const sessionId = await connectSession(call, number);
      const { messageId } = (await call('POST', '/messages/send', { to: '491707654321', message: 'hello' })).body;
      const { groupId } = (await call('POST', '/groups', { subject: 'g', phoneNumbers: ['491707654321'] })).body;
      const { mediaId } = (await upload(server, token, picture())).body;
      const { keyId } = (await call('POST', '/api-keys/create', { name: 'k' })).body;
      const { webhookId } = (
        await call('POST', '/webhooks/endpoints', { webhookUrl: receiver.url, events: ['message.sent'] })
      ).body;
      await receiver.waitFor(0);
      const deliveries = (await call('GET', '/webhooks/deliveries')).body.data;
      const known: Known = {
        sessionId: [sessionId],
        messageId: [messageId],
        replyTo: [messageId],
        groupId: [groupId],
        mediaId: [mediaId],
        pictureMediaId: [mediaId],
        keyId: [keyId],
        webhookId: [webhookId],
        deliveryId: deliveries.map(({ deliveryId }: { deliveryId: string }) => deliveryId),
        to: ['491707654321', groupId, '+49 170 7654321'],
        from: ['491707654321'],
        chatId: ['491707654321', groupId],
        phoneNumber: ['491707654321', number],
        phoneNumbers: ['491707654321', '491702222222'],
        mentions: ['491707654321'],
        webhookUrl: [receiver.url],
        events: ['message.sent', 'message.incoming', 'session.connected'],
        kinds: ['message.sent'],
        permissions: ['*', 'messages:send', 'sessions:*'],
        connector: ['sandbox'],
        emoji: ['👍', ''],
        wait: ['0'],
      };
      const checks = new Map(
        operations.map((operation) => [
          operation,
          Compile(closed(JSON.parse(JSON.stringify(operation.output))) as Operation['output']),
        ]),
      );
      const statuses = new Map<number, number>();

      const property = fc.asyncProperty(attempts(known), async (attempt) => {
        const operation = operations.find(({ id }) => id === attempt.id);
        assert.ok(operation);
        const { path, body } = requestOf(operation, attempt.input);
        const isWaiting = operation.id === 'events.list' && /wait=[1-9]/.test(path);
        if (isWaiting) return; // a long poll is long
        const response = await fetch(`${server.url}/api/v1${path}`, {
          method: operation.method,
          headers: {
            authorization: `Bearer ${token}`,
            ...(operation.takesContent && { 'content-type': 'application/octet-stream' }),
            ...(body !== undefined && { 'content-type': 'application/json' }),
          },
          ...(body !== undefined && { body }),
          ...(operation.takesContent && { body: 'content' }),
          redirect: 'manual',
        });
        const { status } = response;
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        const answer = await response.json();
        const what = `${operation.id} ${status} ${JSON.stringify(answer).slice(0, 500)}`;
        // 502: the network refused it, which the simulator can be made to do.
        assert.ok(status < 500 || status === 502, what);
        if (status >= 400) {
          for (const member of ['type', 'title', 'status', 'detail', 'code', 'requestId'])
            assert.ok(member in answer, what);
        } else {
          const check = checks.get(operation);
          assert.ok(
            check?.Check(answer),
            `${what} ${JSON.stringify([...(check?.Errors(answer) ?? [])]).slice(0, 500)}`,
          );
        }
      });
      await fc.assert(property, {
        numRuns: RUNS[database],
        seed: SEED,
        interruptAfterTimeLimit: 150_000,
        markInterruptAsFailure: true,
      });

      assert.equal(({} as { polluted?: boolean }).polluted, undefined);
      assert.equal((await call('GET', '/auth/me')).status, 200);
      const succeeded = [...statuses].filter(([status]) => status < 300).reduce((sum, [, count]) => sum + count, 0);
      assert.ok(succeeded > RUNS[database] / 20, `only ${succeeded} were valid: ${JSON.stringify([...statuses])}`);
      await receiver.close();
      await server.stop();
    });
  });
}
