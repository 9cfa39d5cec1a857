import fc, { type Arbitrary } from 'fast-check';
import type { Operation } from '../../../src/invoke/operation.ts';

/*
 * Requests generated from the schemas of the operation table: valid ones, ones with a single error, and hostile ones.
 */

/** The types of resources that a request may refer to, and the ids of existing ones. */
export type Known = Readonly<Record<string, readonly string[]>>;

/** A request as it is sent. */
export interface WireRequest {
  readonly method: string;
  /** Below `/api/v1`, including the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

/** A generated request. Its references are resolved when it is sent, so that equal seeds generate equal requests. */
export interface FuzzRequest {
  readonly operation: Operation;
  toWire(known: Known): WireRequest;
  toString(): string;
}

export function anyRequest(operations: readonly Operation[]): Arbitrary<FuzzRequest> {
  const [logins, others] = [operations.filter(isLogin), operations.filter((operation) => !isLogin(operation))];
  return fc
    .oneof(
      { weight: logins.length, arbitrary: fc.constantFrom(...logins) },
      { weight: 5 * others.length, arbitrary: fc.constantFrom(...others) },
    )
    .chain((operation) => fc.tuple(fc.constant(operation), fieldsOf(operation), spoiling))
    .map(([operation, fields, spoil]) => ({
      operation,
      toWire: (known: Known) => toWire(operation, fields, spoil, known),
      toString: () => `${operation.id} ${fc.stringify(fields)} ${fc.stringify(spoil)}`,
    }));
}

/** Checking a password is slow by design. */
function isLogin({ id }: Operation): boolean {
  return id.startsWith('auth.');
}

/** The id of an existing resource of a type. */
class Reference {
  readonly kind: string;
  readonly nth: number;
  constructor(kind: string, nth: number) {
    this.kind = kind;
    this.nth = nth;
  }
  resolve(known: Known): string {
    const all = known[this.kind] ?? [];
    return all[this.nth % Math.max(1, all.length)] ?? 'nothing_00000000000000000000000000';
  }
}
const one = (kind: string) => fc.nat(19).map((nth) => new Reference(kind, nth));

/** Raw JSON, for values that `JSON.stringify` would never write. */
class RawJson {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** A text too long for a report. */
class Long {
  readonly length: number;
  constructor(length: number) {
    this.length = length;
  }
}

type Field = readonly [name: string, value: unknown];

interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

const text = (minLength = 0, maxLength = 40) =>
  fc.oneof(
    { weight: 4, arbitrary: fc.string({ minLength, maxLength: Math.min(maxLength, 40) }) },
    { weight: 2, arbitrary: fc.string({ unit: 'grapheme', minLength, maxLength: Math.min(maxLength, 20) }) },
    // Includes unpaired surrogates and NUL.
    { weight: 1, arbitrary: fc.string({ unit: 'binary', minLength, maxLength: Math.min(maxLength, 20) }) },
    { weight: 1, arbitrary: halves },
  );
const halves = fc
  .array(fc.constantFrom(0x41, 0xd800, 0xdbff, 0xdc00, 0xdfff, 0xfeff, 0x202e), { minLength: 1, maxLength: 6 })
  .map((units) => String.fromCharCode(...units));

const phoneNumber = fc.oneof(
  one('phoneNumber'),
  fc.integer({ min: 491701000000, max: 491701000050 }).map(String),
  fc.constantFrom('+49 170 1000001', '+1 (555) 000-0001'),
);
/** Constant for a day, so that a seed generates the same requests again. */
const TODAY = Date.now() - (Date.now() % (24 * 3_600_000)) + 24 * 3_600_000;
const moment = fc.oneof(
  fc.nat(300).map((days) => new Date(TODAY + days * 24 * 3_600_000).toISOString()),
  fc
    .date({ min: new Date('2020-01-01'), max: new Date('2035-01-01'), noInvalidDate: true })
    .map((at) => at.toISOString()),
  fc.constantFrom(
    '2026-06-30T23:59:60Z',
    '0000-01-01T00:00:00Z',
    '9999-12-31T23:59:59.999999999Z',
    '2026-02-30T00:00:00Z',
    '2026-01-01T00:00:00+23:59',
    '2026-01-01 00:00:00Z',
  ),
);
const kinds = fc.constantFrom('message.incoming', 'message.sent', 'message.read', 'session.connected', 'group.updated');
const webhookUrl = fc.oneof(
  one('url'),
  fc.constantFrom('http://127.0.0.1:9/', 'https://[::1]:1/x', 'http://10.0.0.1/'),
);

/** A value that suits a field by its name, if its schema declares only a string. */
const byName: Readonly<Record<string, Arbitrary<unknown>>> = {
  ...Object.fromEntries(
    ['sessionId', 'messageId', 'groupId', 'mediaId', 'keyId', 'deliveryId', 'webhookId', 'cursor', 'invite'].map(
      (kind) => [kind, one(kind)],
    ),
  ),
  chatId: fc.oneof(phoneNumber, one('groupId')),
  deliveryIds: fc.array(one('deliveryId'), { minLength: 1, maxLength: 5 }),
  replyTo: one('messageId'),
  pictureMediaId: fc.option(one('mediaId')),
  after: fc.oneof(moment, one('eventCursor')),
  phoneNumber,
  phoneNumbers: fc.array(phoneNumber, { minLength: 1, maxLength: 5 }),
  mentions: fc.array(phoneNumber, { maxLength: 3 }),
  email: fc.oneof(one('email'), fc.emailAddress()),
  password: fc.oneof(one('password'), text(8)),
  currentPassword: one('password'),
  webhookUrl,
  // The URL of a file for a message. Only https is fetched, so this connects nowhere.
  url: fc.oneof(one('url'), fc.constantFrom('https://127.0.0.1:9/a.png', 'http://example.com/', 'https://')),
  event: kinds,
  events: fc.array(kinds, { minLength: 1, maxLength: 4 }),
  permissions: fc.array(fc.constantFrom('*', 'messages:*', 'messages:send', 'events:read', 'nothing:read'), {
    minLength: 1,
    maxLength: 3,
  }),
  connector: fc.constantFrom('sandbox', 'sandbox', 'carrier-pigeon'),
  options: fc.oneof(
    fc.constantFrom({}, { pairing: true }, { pairing: false }, { latencyMs: 0 }),
    fc.uniqueArray(fc.constantFrom('a', 'b', 'c', ''), { minLength: 2, maxLength: 3 }),
  ),
  emoji: fc.constantFrom('👍', '', '👩‍👩‍👧‍👦', '🇩🇪', 'ok'),
  idempotencyKey: fc.oneof(fc.constantFrom('a', 'b', 'c'), text(1)),
  // Both wait, and all requests must finish within a minute.
  wait: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 31, -1),
  intervalMs: fc.constantFrom(0, 3_600_000),
};

function fitting(schema: Schema, name = ''): Arbitrary<unknown> {
  const named = byName[name];
  if (name === 'from' || name === 'to') {
    if (schema.format === 'date-time') return moment;
    const recipient = name === 'to' ? fc.oneof(phoneNumber, phoneNumber, one('groupId')) : phoneNumber;
    return schema.type === 'array' ? fc.array(recipient, { minLength: 1, maxLength: 5 }) : recipient;
  }
  if (named !== undefined) return named;
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map((member) => fitting(member, name)));
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.format === 'date-time') return moment;
  const { minimum = -1e9, maximum = 1e9, minLength, maxLength, minItems = 0, maxItems = 5 } = schema;
  switch (schema.type) {
    case 'string':
      return text(minLength, maxLength);
    case 'integer':
      return fc.oneof(fc.integer({ min: minimum, max: maximum }), fc.constantFrom(minimum, maximum));
    case 'number':
      return fc.double({ min: minimum, max: maximum, noNaN: true });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array':
      return fc.array(fitting(schema.items ?? {}), {
        minLength: minItems,
        maxLength: Math.min(maxItems, minItems + 4),
      });
    case 'object': {
      if (schema.properties === undefined) return fc.dictionary(text(0, 10), text(0, 20), { maxKeys: 4 });
      const members = Object.entries(schema.properties).map(([key, member]) => [key, fitting(member, key)] as const);
      // In an account with several sessions, a request without one is rejected.
      const required = [...(schema.required ?? []), ...('sessionId' in schema.properties ? ['sessionId'] : [])];
      const record = fc.record(Object.fromEntries(members), { requiredKeys: required });
      // With every other field present, one of them nearly always contradicts the rest.
      const optional = members.map(([key]) => key).filter((key) => !required.includes(key));
      return fc
        .tuple(record, fc.subarray(optional, { maxLength: Math.min(2, optional.length) }))
        .map(([fields, kept]) =>
          Object.fromEntries(Object.entries(fields).filter(([key]) => required.includes(key) || kept.includes(key))),
        );
    }
    default:
      return hostile;
  }
}

const hostile: Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    0,
    -1,
    1.5,
    2 ** 53,
    -(2 ** 63),
    1e308,
    '',
    ' ',
    '\0',
    'a\0b',
    '\ud800',
    "'; drop table messages; --",
    '%',
    '__proto__',
    'constructor',
    '../../etc/passwd',
    'NaN',
    '-0',
    '1e999',
    [],
    {},
    [[]],
    [null],
    ['\0'],
    { '\0': 1 },
    { toString: 1, valueOf: null, length: -1 },
  ),
  fc.constantFrom(
    new RawJson('{"__proto__":{"polluted":true}}'),
    new RawJson('{"constructor":{"prototype":{"polluted":true}}}'),
    new RawJson('1e999'),
    new RawJson('-0'),
    new RawJson('"\\ud83d"'),
    new RawJson('[' + '"\\u0000",'.repeat(300) + '0]'),
    ...[100, 5000, 20_000].flatMap((depth) => [
      new RawJson('['.repeat(depth) + ']'.repeat(depth)),
      new RawJson('{"a":'.repeat(depth) + '0' + '}'.repeat(depth)),
    ]),
  ),
  fc.constantFrom(100, 101, 256, 2049, 70_000).map((length) => new Long(length)),
  text(),
  fc.double(),
  fc.jsonValue({ maxDepth: 3 }),
);

/**
 * The fields of a request. Most are valid, some requests have one invalid field, and a few have only invalid fields.
 */
function fieldsOf({ input }: Operation): Arbitrary<Field[]> {
  const schema = input as unknown as Schema; // a schema is plain JSON
  const names = Object.keys(schema.properties ?? {});
  const good = fitting({ ...schema, type: 'object' }).map((fields) => Object.entries(fields as object) as Field[]);
  const unknown = fc.tuple(
    fc.oneof(fc.constantFrom('nonsense', '__proto__', 'constructor', 'hasOwnProperty', '', 'a.b', '\0'), text(1, 10)),
    hostile,
  );
  const added = fc.tuple(good, unknown).map(([fields, field]) => [...fields, field]);
  if (names.length === 0) return fc.oneof(good, added);
  const name = fc.constantFrom(...names);
  const wrong = fc
    .tuple(good, name, hostile)
    .map(([fields, at, value]) => [...fields.filter(([other]) => other !== at), [at, value] as const]);
  const dropped = fc.tuple(good, name).map(([fields, at]) => fields.filter(([other]) => other !== at));
  const all = fc
    .tuple(...names.map((each) => hostile.map((value) => [each, value] as const)))
    .map((fields) => [...fields]);
  return fc.oneof(
    { weight: 10, arbitrary: good },
    { weight: 6, arbitrary: wrong },
    { weight: 1, arbitrary: dropped },
    { weight: 1, arbitrary: added },
    { weight: 1, arbitrary: all },
  );
}

/** An error of a request outside its fields. */
interface Spoiling {
  /** Replaces the body. */
  readonly body?: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  /** Appended to the path. */
  readonly suffix?: string;
}

const spoiling: Arbitrary<Spoiling> = fc.oneof(
  { weight: 14, arbitrary: fc.constant({}) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('', '{', '[]', '[{}]', 'null', '"text"', '1', '{"a":1}}', '\ufeff{}', '{"a":"\0"}', '{a:1}')
      .map((body) => ({ body: Buffer.from(body) })),
  },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => ({ body: Buffer.from(bytes) })) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(5000, 20_000)
      .map((depth) => ({ body: Buffer.from('{"a":'.repeat(depth) + '1' + '}'.repeat(depth)) })),
  },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom(
        ['content-type', 'text/plain'],
        ['content-type', ''],
        ['content-type', 'application/json; charset=utf-16'],
        ['content-type', 'multipart/form-data'],
        ['content-type', 'multipart/form-data; boundary=x'],
        ['content-type', 'application/x-www-form-urlencoded'],
        ['content-disposition', "attachment; filename*=UTF-8''%00%ZZ..\""],
        ['accept', 'image/png'],
        ['accept', 'text/html'],
        ['accept', ''],
        ['idempotency-key', 'a'],
        ['idempotency-key', ''],
        ['idempotency-key', 'k'.repeat(300)],
        ['idempotency-key', 'caf\u00e9'],
        ['x-request-id', '\u00ff'],
        ['x-forwarded-for', 'nobody'],
        ['if-none-match', '*'],
        ['authorization', 'Bearer '],
        ['authorization', 'Basic YTpi'],
        ['authorization', 'Bearer sb_a_b'],
        ['authorization', 'Bearer a.b.c'],
        ['authorization', 'Bearer eyJhbGciOiJub25lIn0.e30.'],
        ['x-api-key', '\u00e9'],
      )
      .map(([name = '', value = '']) => ({ headers: { [name]: value } })),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(
        '%ZZ',
        '%00',
        '%ff',
        '%',
        '/%2e%2e/x',
        '?__proto__=1',
        '?a[b]=1',
        '?a&a&=',
        '?key=x',
        '?%ZZ=1',
        '?limit=1&limit=2',
        '?cursor=AA&cursor=',
        '?' + 'a&'.repeat(2000),
      )
      .map((suffix) => ({ suffix })),
  },
);

function toWire(operation: Operation, fields: readonly Field[], spoil: Spoiling, known: Known): WireRequest {
  const { method, takesContent } = operation;
  const isQuery = method === 'GET' || method === 'DELETE' || takesContent === true;
  const inPath = new Set([...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
  const values = new Map(fields);
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name) => percent(asText(values.get(name), known)));
  const rest = fields.filter(([name]) => !inPath.has(name));
  const query = isQuery ? rest.flatMap(([name, value]) => queryParts(name, value, known)).join('&') : '';
  const withQuery = path + (query && `?${query}`);
  const suffix = spoil.suffix ?? '';
  const json = Buffer.from(
    `{${rest.map(([name, value]) => `${JSON.stringify(name)}:${toJson(value, known)}`).join(',')}}`,
  );
  const body = spoil.body ?? (takesContent ? Buffer.from(`a file ${fields.length}`) : isQuery ? undefined : json);
  return {
    method,
    path: withQuery + (query && suffix.startsWith('?') ? suffix.replace('?', '&') : suffix),
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...spoil.headers },
    ...(body !== undefined && { body }),
  };
}

function queryParts(name: string, value: unknown, known: Known): string[] {
  return [value].flat().map((item) => `${percent(name)}=${percent(asText(item, known))}`);
}

/** Like `encodeURIComponent`, which throws on an unpaired surrogate. */
function percent(value: string): string {
  return encodeURIComponent(value.toWellFormed());
}

function asText(value: unknown, known: Known): string {
  if (value instanceof Reference) return value.resolve(known);
  // The URL of a request has its own limit.
  if (value instanceof Long) return 'x'.repeat(Math.min(value.length, 2500));
  if (value instanceof RawJson) return value.text.slice(0, 2500);
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '').slice(0, 2500);
}

function toJson(value: unknown, known: Known): string {
  if (value instanceof Reference) return JSON.stringify(value.resolve(known));
  if (value instanceof Long) return JSON.stringify('x'.repeat(value.length));
  if (value instanceof RawJson) return value.text;
  if (Array.isArray(value)) return `[${value.map((item) => toJson(item, known)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}:${toJson(member, known)}`);
  return `{${members.join(',')}}`;
}
