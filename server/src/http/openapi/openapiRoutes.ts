import type { Operation } from '../../invoke/operation.ts';
import { API_PREFIX } from '../../version.ts';
import { errorResponses } from './openapiErrors.ts';

/** Paths that are not operations, such as the stream of events and the content of a file. */
export const rawPaths = {
  '/health': healthPath('server.health', 'Check that the process is alive', { 200: 'ok' }),
  '/ready': healthPath('server.ready', 'Check that the server is ready', { 200: 'ready', 503: 'not_ready' }),
  [`${API_PREFIX}/events/stream`]: {
    get: {
      operationId: 'events.stream',
      tags: ['events'],
      summary: 'Stream events',
      description:
        'Receive events as they happen, as server-sent events. `Last-Event-ID` or `afterCursor` resumes after an event; without them, the stream starts with the next one.\n\nRequires the permission `events:read`. With `events:metadata` instead, the content of messages is left out.',
      'x-permission': 'events:read',
      'x-permission-without-content': 'events:metadata',
      parameters: [
        {
          name: 'events',
          in: 'query',
          schema: { type: 'string' },
          description:
            'Only these event types or patterns, separated by commas; `*` for all. By default the first eight types.',
          example: 'message.sent',
        },
        {
          name: 'Last-Event-ID',
          in: 'header',
          schema: { type: 'string' },
          description: 'The `id` of the last event that you received. It goes before `afterCursor`.',
        },
        {
          name: 'afterCursor',
          in: 'query',
          schema: { type: 'string' },
          description: 'The same for clients that cannot set headers, or `now`, the default.',
          example: 'now',
        },
      ],
      responses: {
        200: {
          description: 'Each event has an id to resume from, its event type, and the body that a webhook gets.',
          content: { 'text/event-stream': { schema: { type: 'string' } } },
        },
        ...errorResponses(['validation_failed', 'unauthorized', 'permission_denied', 'too_many', 'rate_limited']),
      },
    },
  },
  [`${API_PREFIX}/events/socket`]: {
    get: {
      operationId: 'events.socket',
      tags: ['events'],
      summary: 'Receive events over a WebSocket',
      description:
        'Receive events as they happen, over a WebSocket. Use it if you cannot read the stream. Each text message of the server is a JSON object. The first one is `{"type":"connected","cursor":"…"}`. The others have the type `event`, the fields of an entry of `GET /events`, and a `cursor` to resume from.\n\nThe server sends a ping every 15 s, and ends a connection that leaves two of them unanswered. Send no messages. Close codes: 1001 if the server stops, 1003 or 1009 if you send a message, 4401 if your credential has ended, 4403 if it has lost the permission.\n\nRequires the permission `events:read`. With `events:metadata` instead, the content of messages is left out.',
      'x-permission': 'events:read',
      'x-permission-without-content': 'events:metadata',
      parameters: [
        {
          name: 'afterCursor',
          in: 'query',
          schema: { type: 'string' },
          description: 'The `cursor` of the last message that you received, or `now`, the default.',
          example: 'now',
        },
        {
          name: 'events',
          in: 'query',
          schema: { type: 'string' },
          description: 'Only these event types, separated by commas.',
          example: 'message.sent',
        },
      ],
      responses: {
        101: { description: 'The connection is a WebSocket now.' },
        default: {
          description: 'Any other error.',
          content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
        },
        ...errorResponses([
          'validation_failed',
          'unauthorized',
          'permission_denied',
          'too_many',
          'misdirected_request',
          'upgrade_required',
          'rate_limited',
        ]),
      },
    },
  },
  [`${API_PREFIX}/media/{mediaId}/content`]: {
    get: {
      operationId: 'media.content',
      tags: ['media'],
      summary: 'Download a file',
      description:
        'Download the content of a file, with its type as `Content-Type`. `Range` returns a part of it, and `If-None-Match` answers 304 if you already have it.\n\nRequires the permission `media:read`.',
      'x-permission': 'media:read',
      parameters: [
        {
          name: 'mediaId',
          in: 'path',
          required: true,
          schema: { type: 'string' },
          description: 'Id of the file (`med_…`).',
          example: 'med_01JZ8Q5T2M0000000000000000',
        },
        {
          name: 'Range',
          in: 'header',
          schema: { type: 'string' },
          description: 'A single range of bytes.',
          example: 'bytes=0-1023',
        },
        {
          name: 'If-None-Match',
          in: 'header',
          schema: { type: 'string' },
          description: 'The `ETag` of the content that you have.',
          example: '"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"',
        },
      ],
      responses: {
        200: { description: 'Content of the file.', content: { '*/*': { schema: {} } } },
        206: { description: 'The requested range of the content.', content: { '*/*': { schema: {} } } },
        304: { description: 'The content has the `ETag` of `If-None-Match`.' },
        ...errorResponses(['unauthorized', 'permission_denied', 'not_found', 'range_not_satisfiable', 'rate_limited']),
      },
    },
  },
  [`${API_PREFIX}/media/{mediaId}/file`]: {
    get: {
      operationId: 'media.file',
      tags: ['media'],
      summary: 'Download a file by a link',
      description:
        'Download the content of a file by a signed link, which `media.create_link` and webhooks with `include: ["mediaLink"]` make. It needs no credential and supports `Range` and `If-None-Match`, like `media.content`.',
      security: [],
      parameters: [
        {
          name: 'mediaId',
          in: 'path',
          required: true,
          schema: { type: 'string' },
          description: 'Id of the file (`med_…`).',
          example: 'med_01JZ8Q5T2M0000000000000000',
        },
        {
          name: 'token',
          in: 'query',
          required: true,
          schema: { type: 'string' },
          description: 'Token of the link.',
          example: 'acc_01JZ8Q5T2M0000000000000000.1793491200...n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg',
        },
      ],
      responses: {
        200: { description: 'Content of the file.', content: { '*/*': { schema: {} } } },
        206: { description: 'The requested range of the content.', content: { '*/*': { schema: {} } } },
        304: { description: 'The content has the `ETag` of `If-None-Match`.' },
        ...errorResponses(['link_invalid', 'range_not_satisfiable', 'rate_limited']),
      },
    },
  },
};

export function mcpPath(operations: readonly Operation[]) {
  const tools = operations.filter(({ tool }) => tool).length;
  return {
    post: {
      operationId: 'mcp',
      tags: ['mcp'],
      summary: 'Call tools over MCP',
      description: `Serve the Model Context Protocol over Streamable HTTP without sessions, in revisions 2024-11-05 to 2026-07-28. Each of the ${tools} tools is one of the operations.`,
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
        202: { description: 'The notification was accepted.' },
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
  };
}

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
    description:
      answers[503] === undefined
        ? 'Answers 200 while the process runs, even if its database does not. Use it to decide on a restart, and `/ready` to decide where to send requests. Requires no credential.'
        : 'Answers 503 if the server cannot do its work or is stopping. Requires no credential.',
    security: [],
    responses: { ...errorResponses(['validation_failed']), ...Object.fromEntries(responses) },
  };
  return { get };
}
