import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { SignatureV4 } from '@smithy/signature-v4';
import { Sha256 } from '../connections/sha256.ts';
import { type BrokerServer, freePort } from './brokers.ts';

export interface SqsMessage {
  readonly attributes: Readonly<Record<string, string>>;
  readonly body: string;
  readonly group: string | undefined;
  readonly deduplication: string | undefined;
}

export interface FakeSqs extends BrokerServer {
  /** Messages of the queues, by path. */
  readonly messages: ReadonlyMap<string, readonly SqsMessage[]>;
  /** Answers the next requests with this error of SQS. */
  failNext(type: string, requests?: number): void;
}

const REGION = 'eu-central-1';
export const sqsCredentials = { accessKeyId: 'test-access-key', secretAccessKey: 'test-secret-key' };
const MAX_ATTRIBUTES = 10;

/** Limit and error text: the documentation of `SendMessage`, and https://github.com/getmoto/moto (`sqs/responses.py`). */
const MAX_BYTES = 1_048_576;
const TOO_LONG = `One or more parameters are invalid. Reason: Message must be shorter than ${MAX_BYTES} bytes.`;

/**
 * `SendMessage` of Amazon SQS in its JSON protocol: checks the signature, the attributes, and what FIFO queues require,
 * and drops repeated messages of those.
 * @param queues their paths, such as `/123456789012/events`
 */
export async function startFakeSqs(queues: readonly string[]): Promise<FakeSqs> {
  const messages = new Map<string, SqsMessage[]>(queues.map((queue) => [queue, []]));
  const port = await freePort();
  let failures: { type: string; left: number } | undefined;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const refuse = (status: number, type: string, message = `the message of ${type}`) =>
      response
        .writeHead(status, { 'content-type': 'application/x-amz-json-1.0' })
        .end(JSON.stringify({ __type: `com.amazonaws.sqs#${type}`, message }));
    if (failures !== undefined && failures.left-- > 0) return void refuse(400, failures.type);
    if (request.headers.authorization !== (await rightSignature(request, body, port)))
      return void refuse(403, 'InvalidSignatureException');
    const { QueueUrl, MessageBody, MessageAttributes = {}, ...more } = JSON.parse(body.toString());
    const path = new URL(QueueUrl).pathname;
    const queue = messages.get(path);
    if (queue === undefined) return void refuse(400, 'QueueDoesNotExist');
    if (Object.keys(MessageAttributes).length > MAX_ATTRIBUTES) return void refuse(400, 'InvalidParameterValue');
    if (Buffer.byteLength(MessageBody) > MAX_BYTES) return void refuse(400, 'InvalidParameterValue', TOO_LONG);
    const { MessageGroupId: group, MessageDeduplicationId: deduplication } = more;
    const isFifo = path.endsWith('.fifo');
    if (isFifo !== (group !== undefined)) return void refuse(400, 'MissingParameter');
    const pairs = Object.entries(MessageAttributes as Record<string, { StringValue: string }>);
    const attributes = Object.fromEntries(pairs.map(([name, { StringValue }]) => [name, StringValue]));
    const isKnown = isFifo && queue.some((message) => message.deduplication === deduplication);
    if (!isKnown) queue.push({ attributes, body: MessageBody, group, deduplication });
    const MD5OfMessageBody = createHash('md5').update(MessageBody).digest('hex');
    response
      .writeHead(200, { 'content-type': 'application/x-amz-json-1.0' })
      .end(JSON.stringify({ MessageId: randomUUID(), MD5OfMessageBody }));
  }

  let server: Server;
  const restart = async () => {
    server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()));
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  };
  const kill = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  await restart();
  return {
    port,
    messages,
    kill,
    restart,
    stop: kill,
    failNext(type, requests = 1) {
      failures = { type, left: requests };
    },
  };
}

/** The expected `Authorization` header of the request, from AWS's own signer. */
async function rightSignature({ method = '', url = '', headers }: IncomingMessage, body: Buffer, port: number) {
  const signedNames = /SignedHeaders=([\w;-]+)/.exec(headers.authorization ?? '')?.[1]?.split(';') ?? [];
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(String(headers['x-amz-date'])) ?? [];
  const signer = new SignatureV4({
    credentials: sqsCredentials,
    region: REGION,
    service: 'sqs',
    sha256: Sha256,
    applyChecksum: false,
  });
  const { headers: signed } = await signer.sign(
    {
      method,
      protocol: 'http:',
      hostname: '127.0.0.1',
      port,
      path: url,
      body,
      headers: Object.fromEntries(signedNames.map((name) => [name, String(headers[name])])),
    },
    { signingDate: new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`) },
  );
  return signed['authorization'];
}
