import { AwsV4Signer } from 'aws4fetch';
import { type Clock, isoTime } from '../../../clock.ts';
import type { Outcome } from '../../queue/outcome.ts';
import type { AttemptRequest, BrokerRequest } from '../attempt.ts';
import type { Deliver, Stage } from '../deliver.ts';
import { quoted } from './broker.ts';

/**
 * Publishes to Amazon SQS, which is HTTP: each attempt is a signed request for `SendMessage`. SQS has stored the
 * message once its answer names the id of the message.
 *
 * Source: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html
 */
export class SqsDeliver implements Deliver {
  readonly #http: Deliver;
  readonly #clock: Clock;

  /** @param http which this does not close */
  constructor(http: Deliver, clock: Clock) {
    this.#http = http;
    this.#clock = clock;
  }

  async attempt(request: AttemptRequest): Promise<Outcome> {
    return describe(await this.#http.attempt(await this.#sign(request)));
  }

  async probe(request: AttemptRequest): Promise<{ outcome: Outcome; stages: readonly Stage[] }> {
    const { outcome: answered, stages } = await this.#http.probe(await this.#sign(request));
    const outcome = describe(answered);
    const shown = stages.map((stage): Stage => {
      if (stage.stage !== 'http' || stage.result === 'skipped') return stage;
      return { ...stage, result: outcome.class === 'ok' ? 'ok' : 'failed' };
    });
    return { outcome, stages: shown };
  }

  async close(): Promise<void> {}

  async #sign({ broker, ...request }: AttemptRequest): Promise<AttemptRequest> {
    if (broker?.destination.type !== 'sqs') throw new Error('not an attempt at Amazon SQS');
    const { accessKeyId = '', secretAccessKey = '', sessionToken } = broker.credentials;
    const { region } = broker.destination;
    const url = URL.canParse(request.url) ? new URL('/', request.url).href : request.url;
    const body = JSON.stringify(sendMessage(request, broker));
    const headers = { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': 'AmazonSQS.SendMessage' };
    if (url === request.url) return { ...request, headers, body };
    const datetime = isoTime(this.#clock.now()).replaceAll(/[:-]|\.\d{3}/g, '');
    const signed = await new AwsV4Signer({
      method: 'POST',
      url,
      headers,
      body,
      accessKeyId,
      secretAccessKey,
      ...(sessionToken !== undefined && { sessionToken }),
      service: 'sqs',
      region,
      datetime,
    }).sign();
    return { ...request, url, headers: Object.fromEntries(signed.headers), body };
  }
}

/** SQS keeps at most ten attributes of a message: the headers that verify and identify it. */
const NOT_SENT = new Set(['user-agent', 'traceparent']);
const MAX_ATTRIBUTES = 10;

function sendMessage({ url, headers, body }: AttemptRequest, { conversation }: BrokerRequest) {
  const shown = Object.entries(headers).filter(([name]) => !NOT_SENT.has(name));
  const attributes = shown
    .slice(0, MAX_ATTRIBUTES)
    .map(([name, value]) => [name, { DataType: 'String', StringValue: value }]);
  const isFifo = new URL(url).pathname.endsWith('.fifo');
  return {
    QueueUrl: url,
    MessageBody: body,
    MessageAttributes: Object.fromEntries(attributes),
    ...(isFifo && { MessageGroupId: groupOf(conversation), MessageDeduplicationId: headers['x-webhook-id'] }),
  };
}

/** A group may have letters, digits and punctuation, and at most 128 characters. */
function groupOf(conversation: string): string {
  return conversation.replace(/[^!-~]/g, '_').slice(0, 128);
}

interface Answer {
  readonly MessageId?: unknown;
  readonly __type?: unknown;
  readonly message?: unknown;
  readonly Message?: unknown;
}

/** Reads the answer of SQS in place of the status alone. */
function describe(outcome: Outcome): Outcome {
  const { status, response } = outcome;
  if (status === null) return outcome;
  const answer = parse(response);
  if (outcome.class === 'ok') {
    if (typeof answer?.MessageId === 'string')
      return { ...outcome, message: `Amazon SQS stored the message as ${quoted(answer.MessageId)}` };
    return {
      ...outcome,
      class: 'protocol',
      message: `Answered ${status}, but not with the id of a message of Amazon SQS`,
    };
  }
  const type = String(answer?.__type ?? '').replace(/^.*#/, '');
  if (type === '') return outcome;
  const detail = answer?.message ?? answer?.Message ?? '';
  const message = `Amazon SQS answered ${quoted(type)}${detail === '' ? '' : `: ${quoted(detail)}`}`;
  if (TOO_LARGE.test(String(detail))) return { ...outcome, message, isTooLarge: true };
  return { ...outcome, message, class: /Throttl|TooManyRequests/i.test(type) ? 'throttled' : outcome.class };
}

/**
 * "One or more parameters are invalid. Reason: Message must be shorter than 262144 bytes.", with the code
 * InvalidParameterValue. Source: https://github.com/getmoto/moto, `moto/sqs/responses.py`, and the documentation of
 * `SendMessage` for the limit (1 MiB, or the queue's `MaximumMessageSize`).
 */
const TOO_LARGE = /must be shorter than \d+ bytes/i;

function parse(text: string | null): Answer | undefined {
  try {
    const parsed: unknown = JSON.parse(text ?? '');
    return typeof parsed === 'object' && parsed !== null ? parsed : undefined;
  } catch {
    return undefined;
  }
}
