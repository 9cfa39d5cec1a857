import type { TSchema } from 'typebox';
import type { Permission } from '../../auth/permissions.ts';
import { errors } from '../../errors.ts';
import { AddedFields } from '../../events/addedFields.ts';
import { type EventKind, eventKinds, events } from '../../events/events.ts';
import { exampleEvent } from '../../events/samples.ts';
import type { Operation } from '../../invoke/operation.ts';
import { namesOf } from '../../objects.ts';
import { API_PREFIX, version } from '../../version.ts';
import { errorCodesOf, errorResponses, problemExample, problemSchema, referencedResponses } from './openapiErrors.ts';
import { exampleOf } from './openapiExamples.ts';
import { mcpPath, rawPaths } from './openapiRoutes.ts';

/** The OpenAPI 3.1 document of the operations, their errors and the eight webhooks. */
export function openApiDocument(operations: readonly Operation[]) {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const operation of operations) {
    const path = API_PREFIX + operation.path;
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: describe(operation) };
  }
  const named = namedSchemas(operations);
  const allPaths = { ...paths, ...rawPaths, [`${API_PREFIX}/mcp`]: mcpPath(operations) };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Switchboard',
      version,
      summary: 'A self-hosted messaging gateway.',
      description:
        'Manage sessions, messages and groups over REST, and receive every event through signed webhooks. Errors are problem documents (RFC 9457) with a stable `code`. Lists are paged by `cursor`. Times are in ISO 8601, UTC. Phone numbers are digits in international form, such as 491701234567.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }, { apiKeyHeader: [] }, { apiKeyQuery: [] }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths: allPaths,
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
          description: 'Deprecated. Send `Authorization: Bearer` instead.',
          'x-deprecated': true,
        },
        apiKeyQuery: {
          type: 'apiKey',
          in: 'query',
          name: 'key',
          description: 'Deprecated. Send `Authorization: Bearer` instead.',
          'x-deprecated': true,
        },
      },
      headers: {
        RequestId: { description: 'Id of this request, which is also in the server log.', schema: { type: 'string' } },
        RetryAfter: { description: 'Seconds to wait before the next request, if known.', schema: { type: 'integer' } },
        WwwAuthenticate: { description: 'Always `Bearer`.', schema: { type: 'string' } },
      },
      responses: referencedResponses(allPaths),
      schemas: { Problem: problemSchema, AddedFields: plain(AddedFields), ...named },
      examples: Object.fromEntries(
        // One code belongs to no route, and one only to tools.
        namesOf(errors)
          .filter((code) => code !== 'route_not_found' && code !== 'confirmation_declined')
          .map((code) => [code, { value: problemExample(code) }]),
      ),
    },
  };
}

function describe(operation: Operation) {
  const { id, summary, description, input, output, method, credential, permission, effect } = operation;
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
      ? 'Requires no credential.'
      : credential === 'jwt'
        ? 'Requires a login token; API keys are refused.'
        : permission && needsText(operation, permission);
  return {
    operationId: id,
    tags: [tagOf(operation)],
    summary,
    description: [description, formsText(operation), needs].filter(Boolean).join('\n\n'),
    'x-effect': effect,
    ...(credential === undefined && permission && { 'x-permission': permission }),
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

function formsText({ representations = {} }: Operation): string | undefined {
  const types = Object.keys(representations).map((type) => `\`${type}\``);
  if (types.length === 0) return undefined;
  return `With \`Accept\`: ${types.join(', ')}, returns the result in this format if it has one, and as JSON otherwise.`;
}

function needsText({ messageContent }: Operation, permission: Permission): string {
  const needs = `Requires the permission \`${permission}\``;
  if (messageContent === undefined) return `${needs}.`;
  const hiding = `\`${messageContent}:metadata\``;
  return permission === `${messageContent}:read`
    ? `${needs}. With ${hiding} instead, the content of messages is left out.`
    : `${needs}. A key that has ${hiding} but not \`${messageContent}:read\` gets the result without message content.`;
}

/** The permission that suffices for an operation if message content is left out. */
function withoutContentPermission({ permission, messageContent }: Operation) {
  return permission === `${messageContent}:read` && { 'x-permission-without-content': `${messageContent}:metadata` };
}

const idempotencyHeader = {
  name: 'Idempotency-Key',
  in: 'header',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
  description:
    'A unique value per request. Repeating the request with the same key within 24 hours returns the first response and does nothing twice. Use it to retry requests that got no response.',
};

export function inputExample({ example, input }: Operation): Record<string, unknown> {
  return example ?? (exampleOf(plain(input)) as Record<string, unknown>); // every input is an object
}

export function outputExample({ output }: Operation): unknown {
  return exampleOf(plain(output));
}

/** A parameter with its example: from the request's example if that has the field, otherwise its own. */
function parameter(
  operation: Operation,
  [name, schema]: readonly [string, TSchema],
  where: 'path' | 'query',
  required: boolean,
) {
  const { description, deprecated, ...rest } = plain(schema);
  const example = inputExample(operation)[name] ?? exampleOf(rest, name);
  return {
    name,
    in: where,
    required,
    ...(deprecated === true && { deprecated }),
    ...(description !== undefined && { description }),
    schema: rest,
    example,
  };
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

/** A file: as the body itself, or as the only part of a form. */
const contentBody = {
  required: true,
  content: {
    '*/*': { schema: { description: 'Content of the file.' } },
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

function webhook(kind: EventKind, description: string, data: TSchema) {
  return {
    post: {
      operationId: `webhook.${kind}`,
      tags: ['events'],
      summary: description,
      description: 'Signed with `X-Webhook-Signature` and `webhook-signature` if the webhook has a secret.',
      security: [],
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: {
              type: 'object',
              required: ['event', 'data'],
              properties: {
                event: { const: kind },
                data: { allOf: [plain(data), { $ref: '#/components/schemas/AddedFields' }] },
              },
            },
            example: exampleEvent(kind),
          },
        },
      },
      responses: { '2XX': { description: 'Delivered. After any other response, Switchboard tries again.' } },
    },
  };
}

const tags: Readonly<Record<string, string>> = {
  auth: 'Register, log in and manage the account.',
  api_keys: 'Create keys for programs, with the permissions that they need.',
  connections: 'Answer apps that ask to be connected by OAuth.',
  connectors: 'List the networks that sessions can use.',
  sessions: 'Connect phone numbers to their networks.',
  messages: 'Send, find and change messages.',
  batches: 'Follow, pause and cancel bulk sends.',
  chats: 'List and manage the chats of a session.',
  contacts: 'Find, check and block contacts.',
  groups: 'Manage groups, their participants, settings and invites.',
  communities: 'Manage communities, and the groups that belong to them.',
  labels: 'Label chats and messages, for yourself.',
  calls: 'Reject calls.',
  status: 'Post and view statuses (stories).',
  channels: 'Follow channels, and post in own ones.',
  media: 'Upload and download the files of messages.',
  templates: 'Texts that the network of a business number approves in advance.',
  webhooks: 'Set up webhooks, and find out why an event did not arrive.',
  events: 'Read events without a webhook.',
  mcp: 'Use the same operations from an agent.',
  server: 'Check whether the server is up.',
};

/** Describes every schema that has a `title` once, under that name. */
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

function plain(schema: TSchema): Record<string, unknown> {
  return JSON.parse(JSON.stringify(schema));
}
