import { Type } from 'typebox';
import {
  boolean,
  integer,
  list,
  named,
  object,
  oneOf,
  optional,
  orNull,
  record,
  string,
  token,
} from '../../invoke/input/fields.ts';
import { sendTest } from '../../webhooks/endpoints/testDelivery.ts';
import { toWebhook } from '../../webhooks/lanes/webhook.ts';
import { onAnyWebhook, requireWebhook } from './anyWebhook.ts';
import { acceptedKind } from './eventTypes.ts';
import { Class } from './webhookRecord.ts';

const Stage = object({
  stage: oneOf(
    ['url', 'dns', 'connect', 'tls', 'http', 'login', 'publish'],
    'Stage of the request: `http` over HTTP, `login` and `publish` at a message broker.',
  ),
  result: oneOf(['ok', 'failed', 'skipped'], 'Result of the stage.'),
  ms: orNull(Type.Integer(), 'Duration in milliseconds; null if the stage was not reached.'),
});

const WebhookTest = named('WebhookTest', {
  delivered: boolean('Whether the receiver responded with 2xx, or the broker confirmed the message.'),
  class: Class,
  status: orNull(Type.Integer(), 'HTTP status of the response; null if there was none.'),
  message: string('Result as a sentence.'),
  latencyMs: integer('Duration of the request in milliseconds.'),
  stages: list(
    Stage,
    'Result of each stage, in order: URL, name lookup, connection, TLS, then HTTP, or login and publishing.',
  ),
  deliveryId: string('Id of the entry in the delivery log (`dlv_…`).'),
  request: object({
    url: string('URL of the request.'),
    headers: record(Type.String(), 'Headers as sent, signatures included.'),
    body: string('Body as sent.'),
  }),
  response: orNull(Type.String(), 'First 1 KiB of the response; null if there was none.'),
});

/** Source: `GET /webhooks/test` of the contract: it needs no session. */
export const [testWebhook, testEndpoint] = onAnyWebhook(
  {
    name: 'test',
    permission: 'webhooks:operate',
    effect: 'write',
    thirdPartyText: true,
    uses: ['emit', 'engine', 'deliver', 'outgoing'],
    fields: {
      event: optional(
        string('Event type of the sample, such as `message.incoming`; by default the first one of the webhook.', {
          ...token('lowercase'),
          maxLength: 50,
        }),
      ),
    },
    output: WebhookTest,
    needsWebhook: true,
    async run(ctx, find, { event }) {
      const webhook = toWebhook(requireWebhook(await find(ctx.database.reader)), ctx.database.seal);
      return sendTest(ctx, webhook, acceptedKind(event ?? webhook.events[0] ?? ''));
    },
  },
  {
    route: 'GET /webhooks/test',
    tool: true,
    summary: 'Test the webhook',
    description:
      'Send one sample event to the webhook now, even if its circuit breaker is open. Use it to verify a URL, or to find the stage that fails. Returns the request, the response and every stage. The event has `data.test: true` and is not counted in the statistics.',
  },
  {
    route: 'GET /webhooks/endpoints/{webhookId}/test',
    summary: 'Test a webhook',
    description:
      'Send one sample event to a webhook now, even if its circuit breaker is open. Returns the request, the response, and the result of each stage.',
  },
);
