import type { TSchema } from 'typebox';
import { type ErrorCode, errors } from '../errors.ts';
import { events } from '../events.ts';
import type { Operation } from '../operations/operation.ts';
import { version } from '../version.ts';
import { API_PREFIX } from './routes.ts';

/** What any operation can answer with. */
const COMMON_ERRORS: readonly ErrorCode[] = [
  'validation_failed',
  'invalid_json',
  'unauthorized',
  'permission_denied',
  'payload_too_large',
  'unsupported_media_type',
  'rate_limited',
  'internal_error',
  'storage_unavailable',
];

/** The OpenAPI 3.1 document of the operations, their errors and the eight webhooks. */
export function openApiDocument(operations: readonly Operation[]) {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const operation of operations) {
    const path = API_PREFIX + operation.path;
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: describe(operation) };
  }
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
    tags: [...new Set(operations.map(tagOf))].map((name) => ({ name })),
    paths,
    webhooks: Object.fromEntries(
      Object.entries(events).map(([kind, { description, data }]) => [kind, webhook(kind, description, data)]),
    ),
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'A login token (JWT) or an API key.' },
        apiKeyHeader: {
          type: 'apiKey',
          in: 'header',
          name: 'X-API-Key',
          description: 'Deprecated: send `Authorization: Bearer`.',
        },
        apiKeyQuery: {
          type: 'apiKey',
          in: 'query',
          name: 'key',
          description: 'Deprecated: send `Authorization: Bearer`.',
        },
      },
      schemas: { Problem: problemSchema },
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
    ...fields.filter(([name]) => inPath.includes(name)).map(([name, schema]) => parameter(name, 'path', true, schema)),
    ...(isQuery ? rest.map(([name, schema]) => parameter(name, 'query', required.includes(name), schema)) : []),
    ...(operation.idempotent ? [idempotencyHeader] : []),
  ];
  const needs =
    credential === 'none'
      ? 'Needs no credential.'
      : credential === 'jwt'
        ? 'Needs a login token.'
        : permission && `Needs the permission \`${permission}\`.`;
  return {
    operationId: id,
    tags: [tagOf(operation)],
    summary,
    description: [description, needs].filter(Boolean).join('\n\n'),
    ...(credential === 'none' && { security: [] }),
    ...(credential === 'jwt' && { security: [{ bearer: [] }] }),
    ...(parameters.length > 0 && { parameters }),
    ...(!isQuery && rest.length > 0 && { requestBody: requestBody(operation, rest, required) }),
    ...(operation.takesContent && { requestBody: contentBody }),
    responses: {
      [operation.status ?? 200]: {
        description: 'Success',
        content: {
          'application/json': { schema: plain(output) },
          ...Object.fromEntries(Object.keys(operation.representations ?? {}).map((type) => [type, { schema: {} }])),
        },
      },
      ...errorResponses([...new Set([...COMMON_ERRORS, ...operation.errors])]),
    },
  };
}

const idempotencyHeader = {
  name: 'Idempotency-Key',
  in: 'header',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
  description: 'Repeating the request with the same key within 24 h gives the first answer again.',
};

function parameter(name: string, where: 'path' | 'query', required: boolean, schema: TSchema) {
  const { description, ...rest } = plain(schema);
  return { name, in: where, required, ...(description !== undefined && { description }), schema: rest };
}

function requestBody(operation: Operation, fields: readonly [string, TSchema][], required: readonly string[]) {
  const names = fields.map(([name]) => name);
  const needed = required.filter((name) => names.includes(name));
  const example = Object.fromEntries(Object.entries(operation.example ?? {}).filter(([name]) => names.includes(name)));
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
        ...(operation.example !== undefined && { example }),
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
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    ]),
  );
}

function webhook(kind: string, description: string, data: TSchema) {
  return {
    post: {
      operationId: `webhook.${kind}`,
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
          },
        },
      },
      responses: { '2XX': { description: 'Delivered. Anything else is tried again.' } },
    },
  };
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

function tagOf({ id }: Operation): string {
  return id.split('.')[0] ?? id;
}

/** A schema as bare JSON. */
function plain(schema: TSchema): Record<string, unknown> {
  return JSON.parse(JSON.stringify(schema));
}
