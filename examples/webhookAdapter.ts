import { createServer, type IncomingMessage } from 'node:http';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { verifyAndParse, type WebhookEvent } from '../sdk/src/webhooks.ts';

/*
 * Passes events to a receiver that was written for other software: verifies each delivery, translates it, and posts the
 * result. If the receiver fails, so does the delivery, and Switchboard tries again. The migration guides in docs/ have
 * translations.
 *
 *   WEBHOOK_SECRET=… RECEIVER_URL=https://example.com/hook node examples/webhookAdapter.ts ./translate.mjs
 */

/** Undefined for an event that the receiver does not need. */
type Translate = (event: WebhookEvent, id: string) => object | undefined;

const MAX_BYTES = 1024 * 1024;
/** An attempt has 15 s by default. */
const RECEIVER_TIMEOUT_MS = 10_000;

const { WEBHOOK_SECRET: secret, RECEIVER_URL: receiverUrl, PORT = '3001' } = process.env;
const [, , file] = process.argv;
if (!secret || !receiverUrl || file === undefined) {
  process.stderr.write('Set WEBHOOK_SECRET and RECEIVER_URL, and pass the file of the translation.\n');
  process.exit(1);
}
const { translate }: { translate: Translate } = await import(pathToFileURL(resolve(file)).href);

const server = createServer(async (request, response) => {
  const status = await pass(request, secret, receiverUrl).catch((error) => {
    process.stderr.write(`${error}\n`);
    return 502;
  });
  response.writeHead(status).end();
});
server.listen(Number(PORT), '127.0.0.1', () => process.stdout.write(`Listening on port ${PORT}\n`));

/** @returns the status of the answer to Switchboard */
async function pass(request: IncomingMessage, secret: string, receiverUrl: string): Promise<number> {
  const body = await readBody(request);
  if (body === undefined) return 413;
  const result = await verifyAndParse({ body, headers: request.headers, secret });
  if (!result.ok || result.scheme !== 'standard') return 401;
  const translated = translate(result.event, result.id);
  if (translated === undefined) return 204;
  const answer = await fetch(receiverUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(translated),
    // A redirect would turn the POST into a GET, and its answer would count as delivered.
    redirect: 'manual',
    signal: AbortSignal.timeout(RECEIVER_TIMEOUT_MS),
  });
  await answer.body?.cancel();
  return answer.ok ? 204 : 502;
}

/** Undefined if the body is too large. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > MAX_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
