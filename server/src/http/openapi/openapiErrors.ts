import { type ErrorCode, errors } from '../../errors.ts';
import { canNeedConfirmation } from '../../invoke/confirmationRule.ts';
import type { Operation } from '../../invoke/operation.ts';

/** Errors that any operation can return. */
const COMMON_ERRORS: readonly ErrorCode[] = [
  'validation_failed',
  'invalid_json',
  'payload_too_large',
  'unsupported_media_type',
  'misdirected_request',
  'rate_limited',
  'internal_error',
  'storage_unavailable',
  'too_busy',
  'session_unavailable',
  'shutting_down',
];

export function errorCodesOf({
  errors: own = [],
  credential,
  permission,
  idempotent,
  ...operation
}: Operation): readonly ErrorCode[] {
  const codes: readonly (ErrorCode | false)[] = [
    ...COMMON_ERRORS,
    credential !== 'none' && 'unauthorized',
    credential === 'jwt' && 'jwt_required',
    // Even without a permission, a key can be limited to other addresses.
    (permission !== null || credential === undefined) && 'permission_denied',
    credential === undefined && canNeedConfirmation(operation) && 'confirmation_required',
    ...(idempotent ? (['idempotency_in_flight', 'idempotency_mismatch'] as const) : []),
    ...own,
  ];
  return [...new Set(codes.filter((code) => code !== false))];
}

const REFERENCE = '#/components/responses/';

/** References to the responses by status. Most operations have the same ones, which `referencedResponses` describes. */
export function errorResponses(codes: readonly ErrorCode[]) {
  const byStatus = Map.groupBy(codes, (code) => errors[code][0]);
  return Object.fromEntries([...byStatus].map(([status, group]) => [status, { $ref: REFERENCE + group.join('.') }]));
}

/** The responses to which a part of the document refers, with an example for each code. */
export function referencedResponses(part: unknown) {
  const references = JSON.stringify(part).matchAll(new RegExp(`"${REFERENCE}([\\w.]+)"`, 'g'));
  const names = new Set([...references].map(([, name = '']) => name));
  // Each name is made of codes by `errorResponses`.
  return Object.fromEntries([...names].toSorted().map((name) => [name, errorResponse(name.split('.') as ErrorCode[])]));
}

function errorResponse(codes: readonly ErrorCode[]) {
  const statuses = codes.map((code) => errors[code][0]);
  return {
    description: codes.map((code) => `\`${code}\`: ${errors[code][1]}.`).join(' '),
    headers: {
      'X-Request-Id': { $ref: '#/components/headers/RequestId' },
      ...((statuses.includes(429) || statuses.includes(503)) && {
        'Retry-After': { $ref: '#/components/headers/RetryAfter' },
      }),
      ...(statuses.includes(401) && { 'WWW-Authenticate': { $ref: '#/components/headers/WwwAuthenticate' } }),
    },
    content: {
      'application/problem+json': {
        schema: { $ref: '#/components/schemas/Problem' },
        examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
      },
    },
  };
}

export const problemSchema = {
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

export function problemExample(code: ErrorCode) {
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
