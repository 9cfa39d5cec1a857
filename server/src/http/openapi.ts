import type { TSchema } from 'typebox';
import type { Permission } from '../auth/permissions.ts';
import { type ErrorCode, errors } from '../errors.ts';
import { type EventKind, eventKinds, events, sampleEvent } from '../events.ts';
import type { Operation } from '../invoke/operation.ts';
import { API_PREFIX, version } from '../version.ts';
import { exampleOf } from './openapiExamples.ts';

/** What any operation can answer with. */
const COMMON_ERRORS: readonly ErrorCode[] = [
  'validation_failed',
  'invalid_json',
  'payload_too_large',
  'unsupported_media_type',
  'misdirected_request',
  'rate_limited',
  'internal_error',
  'storage_unavailable',
  'session_unavailable',
  'shutting_down',
];

/** The OpenAPI 3.1 document of the operations, their errors and the eight webhooks. */
export function openApiDocument(operations: readonly Operation[]) {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const operation of operations) {
    const path = API_PREFIX + operation.path;
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: describe(operation) };
  }
  const named = namedSchemas(operations);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Switchboard',
      version,
      summary: 'A self-hosted messaging gateway.',
      description:
        'Sessions, messages and groups over REST; every event by signed webhook. Errors are problem documents (RFC 9457) with a stable `code`. Lists are paged by `cursor`. Times are ISO 8601, UTC. Phone numbers are digits in international form.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }, { apiKeyHeader: [] }, { apiKeyQuery: [] }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths: { ...paths, ...rawPaths },
    webhooks: Object.fromEntries(
      eventKinds.map((kind) => [kind, webhook(kind, events[kind].description, events[kind].data)]),
    ),
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'A login token (JWT) or an API key.' },
        apiKeyHeader: {
          type: 'apiKey',
          in: 'header',
          name: 'X-API-Key',
          description: 'Deprecated: send `Authorization: Bearer`.',
          'x-deprecated': true,
        },
        apiKeyQuery: {
          type: 'apiKey',
          in: 'query',
          name: 'key',
          description: 'Deprecated: send `Authorization: Bearer`.',
          'x-deprecated': true,
        },
      },
      headers: {
        RequestId: { description: 'Id of this request, as in the log.', schema: { type: 'string' } },
        RetryAfter: { description: 'Seconds to wait, where that is known.', schema: { type: 'integer' } },
        WwwAuthenticate: { description: 'Always `Bearer`.', schema: { type: 'string' } },
      },
      schemas: { Problem: problemSchema, ...named },
      examples: Object.fromEntries(
        // The keys of the table are exactly the codes; Object.keys forgets that. One belongs to no route.
        (Object.keys(errors) as ErrorCode[])
          .filter((code) => code !== 'route_not_found')
          .map((code) => [code, { value: problemExample(code) }]),
      ),
    },
  };
}

function describe(operation: Operation) {
  const { id, summary, description, input, output, method, credential, permission } = operation;
  const inPath = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '');
  const fields = Object.entries(input.properties as Record<string, TSchema>);
  const rest = fields.filter(([name]) => !inPath.includes(name));
  const required = (input as { required?: readonly string[] }).required ?? [];
  const isQuery = method === 'GET' || method === 'DELETE' || operation.takesContent === true;
  const parameters = [
    ...fields.filter(([name]) => inPath.includes(name)).map((field) => parameter(operation, field, 'path', true)),
    ...(isQuery ? rest.map((field) => parameter(operation, field, 'query', required.includes(field[0]))) : []),
    ...(operation.idempotent ? [idempotencyHeader] : []),
  ];
  const needs =
    credential === 'none'
      ? 'Needs no credential.'
      : credential === 'jwt'
        ? 'Needs a login token.'
        : permission && needsText(operation, permission);
  return {
    operationId: id,
    tags: [tagOf(operation)],
    summary,
    description: [description, needs].filter(Boolean).join('\n\n'),
    ...(credential === 'any' && permission && { 'x-permission': permission }),
    ...withoutContentPermission(operation),
    ...(credential === 'none' && { security: [] }),
    ...(credential === 'jwt' && { security: [{ bearer: [] }] }),
    ...(parameters.length > 0 && { parameters }),
    ...(!isQuery && rest.length > 0 && { requestBody: requestBody(operation, rest, required) }),
    ...(operation.takesContent && { requestBody: contentBody }),
    responses: {
      [operation.status ?? 200]: {
        description: 'Success',
        headers: { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } },
        content: {
          'application/json': { schema: withRefs(plain(output)), example: outputExample(operation) },
          ...Object.fromEntries(Object.keys(operation.representations ?? {}).map((type) => [type, { schema: {} }])),
        },
      },
      ...errorResponses(errorCodesOf(operation)),
    },
  };
}

function needsText({ messageContent }: Operation, permission: Permission): string {
  const needs = `Needs the permission \`${permission}\``;
  if (messageContent === undefined) return `${needs}.`;
  const hiding = `\`${messageContent}:metadata\``;
  return permission === `${messageContent}:read`
    ? `${needs}, or ${hiding} to get it without the content of messages.`
    : `${needs}. With ${hiding} and without \`${messageContent}:read\`, the content of the message is left out of the answer.`;
}

/** The permission that suffices for an operation when it shows no content of messages. */
function withoutContentPermission({ permission, messageContent }: Operation) {
  return permission === `${messageContent}:read` && { 'x-permission-without-content': `${messageContent}:metadata` };
}

/** Every code that an operation can answer with. */
export function errorCodesOf({ errors: own, credential, permission, idempotent }: Operation): readonly ErrorCode[] {
  const codes: readonly (ErrorCode | false)[] = [
    ...COMMON_ERRORS,
    credential !== 'none' && 'unauthorized',
    credential === 'jwt' && 'jwt_required',
    permission !== null && 'permission_denied',
    ...(idempotent ? (['idempotency_in_flight', 'idempotency_mismatch'] as const) : []),
    ...own,
  ];
  return [...new Set(codes.filter((code) => code !== false))];
}

const idempotencyHeader = {
  name: 'Idempotency-Key',
  in: 'header',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
  description:
    'Repeating the request with the same key within 24 h gives the first answer again. A request without an answer may still be carried out; with the same key a repeat is safe.',
};

/** A request that works. */
export function inputExample({ example, input }: Operation): Record<string, unknown> {
  return example ?? (exampleOf(plain(input)) as Record<string, unknown>); // an input is an object
}

/** An answer, with what is always in it. */
export function outputExample({ output }: Operation): unknown {
  return exampleOf(plain(output));
}

/** A parameter with its example: the one of the whole request, or one of its own where that leaves it out. */
function parameter(
  operation: Operation,
  [name, schema]: readonly [string, TSchema],
  where: 'path' | 'query',
  required: boolean,
) {
  const { description, ...rest } = plain(schema);
  const example = inputExample(operation)[name] ?? exampleOf(rest, name);
  return { name, in: where, required, ...(description !== undefined && { description }), schema: rest, example };
}

function requestBody(operation: Operation, fields: readonly [string, TSchema][], required: readonly string[]) {
  const names = fields.map(([name]) => name);
  const needed = required.filter((name) => names.includes(name));
  const example = Object.fromEntries(Object.entries(inputExample(operation)).filter(([name]) => names.includes(name)));
  return {
    required: needed.length > 0,
    content: {
      'application/json': {
        schema: {
          type: 'object',
          properties: Object.fromEntries(fields.map(([name, schema]) => [name, plain(schema)])),
          ...(needed.length > 0 && { required: needed }),
          additionalProperties: false,
        },
        example,
      },
    },
  };
}

/** A file: as the body itself, or as the one part of a form. */
const contentBody = {
  required: true,
  content: {
    '*/*': { schema: { description: 'The bytes of the file.' } },
    'multipart/form-data': {
      schema: {
        type: 'object',
        properties: { file: { type: 'string', contentMediaType: 'application/octet-stream' } },
        required: ['file'],
        additionalProperties: false,
      },
    },
  },
};

function errorResponses(codes: readonly ErrorCode[]) {
  const byStatus = Map.groupBy(codes, (code) => errors[code][0]);
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => [
      status,
      {
        description: group.map((code) => `\`${code}\`: ${errors[code][1]}.`).join(' '),
        headers: {
          'X-Request-Id': { $ref: '#/components/headers/RequestId' },
          ...((status === 429 || status === 503) && { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } }),
          ...(status === 401 && { 'WWW-Authenticate': { $ref: '#/components/headers/WwwAuthenticate' } }),
        },
        content: {
          'application/problem+json': {
            schema: { $ref: '#/components/schemas/Problem' },
            examples: Object.fromEntries(group.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
          },
        },
      },
    ]),
  );
}

function webhook(kind: EventKind, description: string, data: TSchema) {
  return {
    post: {
      operationId: `webhook.${kind}`,
      tags: ['events'],
      summary: description,
      description: 'Signed by `X-Webhook-Signature` and `webhook-signature` when a secret is set.',
      security: [],
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: {
              type: 'object',
              required: ['event', 'data'],
              properties: { event: { const: kind }, data: plain(data) },
            },
            example: webhookExample(kind),
          },
        },
      },
      responses: { '2XX': { description: 'Delivered. Anything else is tried again.' } },
    },
  };
}

/** A delivery of a kind; unlike the sample that a test sends it does not say that it is one. */
export function webhookExample(kind: EventKind) {
  const { event, data } = sampleEvent(kind, '2026-01-01T12:00:00.000Z');
  const { test: _, ...fields } = data;
  return { event, data: fields };
}

const problemSchema = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'code', 'requestId'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    code: { enum: Object.keys(errors) },
    requestId: { type: 'string' },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        required: ['field', 'code', 'message'],
        properties: { field: { type: 'string' }, code: { type: 'string' }, message: { type: 'string' } },
      },
    },
  },
};

function problemExample(code: ErrorCode) {
  const [status, title] = errors[code];
  return {
    type: `/docs/errors#${code}`,
    title,
    status,
    detail: title,
    code,
    requestId: 'req_01JZ8Q5T2M0000000000000000',
    ...(code === 'validation_failed' && { errors: [{ field: 'to', code: 'required', message: 'is required' }] }),
  };
}

const tags: Readonly<Record<string, string>> = {
  auth: 'Accounts and login tokens.',
  api_keys: 'Keys for programs, with the permissions they need.',
  connectors: 'The networks there are, and what a session on each can be given.',
  sessions: 'Phone numbers on their networks: connect, pair, disconnect.',
  messages: 'Send, find and change messages.',
  chats: 'Conversations of a session.',
  contacts: 'Who wrote, who is on the network, who is blocked.',
  groups: 'Groups, their members, settings and invites.',
  media: 'Files of messages.',
  webhooks: 'Where events are sent, how it went, and what to do about it.',
  events: 'The log of events, without a webhook.',
  mcp: 'The same for agents.',
  server: 'Whether the server is up.',
};

/** A stream, the bytes of a file, and MCP: what is no operation, but reached by the same credential. */
const rawPaths = {
  '/health': healthPath('server.health', 'Whether the process lives', { 200: 'ok' }),
  '/ready': healthPath('server.ready', 'Whether the server can do its work', { 200: 'ready', 503: 'not_ready' }),
  [`${API_PREFIX}/events/stream`]: {
    get: {
      operationId: 'events.stream',
      tags: ['events'],
      summary: 'Follow events as they happen',
      description:
        'Server-sent events. `Last-Event-ID` resumes after an event; without it the stream starts with what comes next. Needs the permission `events:read`, or `events:metadata` to get it without the content of messages.',
      'x-permission': 'events:read',
      'x-permission-without-content': 'events:metadata',
      parameters: [
        {
          name: 'kinds',
          in: 'query',
          schema: { type: 'string' },
          description: 'Kinds, separated by commas.',
          example: 'message.sent',
        },
        {
          name: 'Last-Event-ID',
          in: 'header',
          schema: { type: 'string' },
          description: 'The `id` of the last event seen.',
        },
      ],
      responses: {
        200: {
          description: 'Each event has the id to resume from, its kind, and the body that a webhook gets.',
          content: { 'text/event-stream': { schema: { type: 'string' } } },
        },
        ...errorResponses(['validation_failed', 'unauthorized', 'permission_denied', 'too_many', 'rate_limited']),
      },
    },
  },
  [`${API_PREFIX}/media/{mediaId}/content`]: {
    get: {
      operationId: 'media.content',
      tags: ['media'],
      summary: 'Download a file',
      description: 'Streamed, with `Range` and `If-None-Match`. Needs the permission `media:read`.',
      'x-permission': 'media:read',
      parameters: [
        {
          name: 'mediaId',
          in: 'path',
          required: true,
          schema: { type: 'string' },
          example: 'med_01JZ8Q5T2M0000000000000000',
        },
        {
          name: 'Range',
          in: 'header',
          schema: { type: 'string' },
          description: 'One range of bytes.',
          example: 'bytes=0-1023',
        },
      ],
      responses: {
        200: { description: 'The bytes of the file.', content: { '*/*': { schema: {} } } },
        206: { description: 'The range that was asked for.', content: { '*/*': { schema: {} } } },
        304: { description: 'It is the one of `If-None-Match`.' },
        ...errorResponses(['unauthorized', 'permission_denied', 'not_found', 'range_not_satisfiable', 'rate_limited']),
      },
    },
  },
  [`${API_PREFIX}/mcp`]: {
    post: {
      operationId: 'mcp',
      tags: ['mcp'],
      summary: 'Speak the Model Context Protocol',
      description:
        'Streamable HTTP without sessions, revisions 2024-11-05 to 2026-07-28. Every tool is one of the operations.',
      security: [{ bearer: [] }, { apiKeyHeader: [] }],
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: { type: 'object', description: 'A JSON-RPC 2.0 request.' },
            example: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} },
          },
        },
      },
      responses: {
        200: {
          description: 'A JSON-RPC 2.0 response.',
          content: {
            'application/json': { schema: { type: 'object' } },
            'text/event-stream': { schema: { type: 'string' } },
          },
        },
        202: { description: 'A notification was taken.' },
        ...errorResponses([
          'invalid_json',
          'unauthorized',
          'permission_denied',
          'method_not_allowed',
          'payload_too_large',
          'misdirected_request',
        ]),
      },
    },
  },
};

function healthPath(operationId: string, summary: string, answers: Readonly<Record<number, string>>) {
  const responses = Object.entries(answers).map(([code, status]) => [
    code,
    {
      description: `\`${status}\``,
      content: {
        'application/json': {
          schema: { type: 'object', required: ['status'], properties: { status: { const: status } } },
          example: { status },
        },
      },
    },
  ]);
  const get = {
    operationId,
    tags: ['server'],
    summary,
    description: 'Needs no credential.',
    security: [],
    responses: { ...errorResponses(['validation_failed']), ...Object.fromEntries(responses) },
  };
  return { get };
}

/** Every schema that has a `title` is described once, under that name. */
function namedSchemas(operations: readonly Operation[]): Record<string, unknown> {
  const found = new Map<string, unknown>();
  const visit = (schema: unknown): void => {
    if (typeof schema !== 'object' || schema === null) return;
    for (const member of Object.values(schema)) visit(member);
    const { title } = schema as { title?: unknown };
    if (typeof title !== 'string' || found.has(title)) return;
    const members = Object.entries(schema).map(([name, member]) => [name, withRefs(member)]);
    found.set(title, Object.fromEntries(members));
  };
  for (const { output } of operations) visit(plain(output));
  return Object.fromEntries([...found].sort());
}

/** A schema in which those with a name are only referred to. */
function withRefs(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withRefs);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { title } = schema as { title?: unknown };
  if (typeof title === 'string') return { $ref: `#/components/schemas/${title}` };
  return Object.fromEntries(Object.entries(schema).map(([name, member]) => [name, withRefs(member)]));
}

function tagOf({ id }: Operation): string {
  return id.split('.')[0] ?? id;
}

/** A schema as bare JSON. */
function plain(schema: TSchema): Record<string, unknown> {
  return JSON.parse(JSON.stringify(schema));
}
