/* A module of a user whose inputs can be undefined, under `exactOptionalPropertyTypes`. */

import { createClient } from '@switchboard/sdk';
import type { Operations } from '@switchboard/sdk/api';
import type { HandlerOptions } from '@switchboard/sdk/next';
import { verify } from '@switchboard/sdk/webhooks';

interface Form {
  readonly sessionId?: string | undefined;
  readonly replyTo?: string | undefined;
  readonly chatId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly retrySeconds?: number[] | undefined;
}

const sb = createClient({ baseUrl: 'http://127.0.0.1:8080', credential: undefined, timeoutMs: undefined });

export async function send({ sessionId, replyTo, chatId, signal, retrySeconds }: Form): Promise<void> {
  const options = { signal, idempotencyKey: undefined };
  await sb.messages.send({ sessionId, replyTo, to: '491707654321', message: 'Hello' }, options);
  for await (const { messageId } of sb.messages.list.all({ chatId, limit: undefined }, options))
    messageId satisfies string;
  await sb.webhooks.endpoints.create({ webhookUrl: 'https://example.com', events: ['message.sent'], retrySeconds });
  for await (const { id } of sb.events.stream({ after: undefined, signal, onTruncated: undefined }))
    id satisfies string;
  const input: Operations['messages.send']['input'] = { to: '491707654321', message: 'Hello', replyTo };
  // @ts-expect-error a field that must be there cannot be undefined
  await sb.messages.send({ ...input, to: undefined });
}

export const options: HandlerOptions = {
  secret: 'between us',
  onEvent: () => {},
  tolerance: undefined,
  seen: undefined,
};
export const verified = verify({ body: '', headers: {}, secret: 'between us', now: undefined, require: undefined });
