import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verify } from '@octokit/webhooks-methods';
import { Webhook } from 'standardwebhooks';

/*
 * The main use case from end to end, against a running server: creates an account, a key, a webhook with a secret and
 * two sessions, sends a message from one session to the other, and verifies both signatures of every event.
 *
 *   npm start            in one terminal
 *   npm run quickstart   in another; set SWITCHBOARD_URL if the server runs elsewhere
 */

const WANTED = ['session.connected', 'message.sent', 'message.delivered', 'message.incoming', 'message.read'];
const TIMEOUT_MS = 15_000;

export interface VerifiedEvent {
  readonly event: string;
  readonly data: Record<string, unknown>;
}

/**
 * Runs all steps and resolves with the events that it received and verified.
 * @throws if a call fails, a signature is wrong, or an event does not arrive within 15 s
 */
export async function quickstart(serverUrl: string, print: (line: string) => void): Promise<VerifiedEvent[]> {
  const secret = randomBytes(24).toString('hex');
  const receiver = await startReceiver(secret, print);
  try {
    const email = `quickstart-${Date.now()}-${randomBytes(3).toString('hex')}@example.com`;
    const { token } = await call(serverUrl, '/auth/register', { email, password: randomBytes(12).toString('hex') });
    print(`registered      ${email}`);

    const { key, keyId } = await call(serverUrl, '/api-keys/create', { name: 'quickstart' }, token);
    print(`created a key   ${keyId}`);

    await call(serverUrl, '/webhooks/set', { webhookUrl: receiver.url, events: WANTED, secret }, key);
    print(`set the webhook ${receiver.url}`);

    const [alice, bob] = [await connectSession(serverUrl, 'alice', key), await connectSession(serverUrl, 'bob', key)];
    print(`connected       alice ${alice.phoneNumber}, bob ${bob.phoneNumber}`);

    const sent = await call(
      serverUrl,
      '/messages/send',
      { sessionId: alice.sessionId, to: bob.phoneNumber, message: 'Hello Bob' },
      key,
    );
    print(`sent            ${sent.messageId}: ${sent.status}`);

    await receiver.waitFor('message.incoming');
    await call(serverUrl, `/chats/${alice.phoneNumber}/read`, { sessionId: bob.sessionId }, key);
    for (const event of WANTED) await receiver.waitFor(event);
    return receiver.events;
  } finally {
    receiver.close();
  }
}

/** A minimal webhook receiver. It reads the raw body, and verifies it before it parses it. */
async function startReceiver(secret: string, print: (line: string) => void) {
  const events: VerifiedEvent[] = [];
  const waiting = new Set<() => void>();
  let failure: Error | undefined;

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    try {
      const signature = String(request.headers['x-webhook-signature'] ?? '');
      if (!(await verify(secret, body, signature))) throw new Error('X-Webhook-Signature does not fit');
      // Throws if the signature is wrong or the timestamp is too old.
      new Webhook(secret, { format: 'raw' }).verify(body, request.headers as Record<string, string>);
      const received: VerifiedEvent = JSON.parse(body);
      events.push(received);
      print(`received        ${received.event}, both signatures verified`);
      response.writeHead(200).end();
    } catch (error) {
      failure = error as Error;
      response.writeHead(401).end();
    }
    for (const check of waiting) check();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    events,
    waitFor(event: string): Promise<void> {
      return new Promise((resolve, reject) => {
        const timer = setTimeout(
          () => reject(new Error(`${event} did not come within ${TIMEOUT_MS / 1000} s`)),
          TIMEOUT_MS,
        );
        const check = () => {
          if (failure === undefined && !events.some((received) => received.event === event)) return;
          clearTimeout(timer);
          waiting.delete(check);
          if (failure === undefined) resolve();
          else reject(failure);
        };
        waiting.add(check);
        check();
      });
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function connectSession(serverUrl: string, name: string, key: string) {
  const { sessionId } = await call(serverUrl, '/sessions', { name }, key);
  const { phoneNumber } = await call(serverUrl, `/sessions/${sessionId}/connect`, {}, key);
  return { sessionId, phoneNumber };
}

/** Fields of the responses that this example reads. */
interface Answers {
  readonly token: string;
  readonly key: string;
  readonly keyId: string;
  readonly sessionId: string;
  readonly phoneNumber: string;
  readonly messageId: string;
  readonly status: string;
}

async function call(serverUrl: string, path: string, body: object, credential?: string): Promise<Answers> {
  const response = await fetch(`${serverUrl}/api/v1${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(credential !== undefined && { authorization: `Bearer ${credential}` }),
    },
    body: JSON.stringify(body),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(`POST ${path} answered ${response.status}: ${JSON.stringify(answer)}`);
  return answer as Answers; // each call reads only the fields that its response has
}

if (import.meta.main) {
  const serverUrl = (process.env['SWITCHBOARD_URL'] ?? 'http://127.0.0.1:8080').replace(/\/$/, '');
  try {
    await quickstart(serverUrl, (line) => process.stdout.write(`${line}\n`));
    process.stdout.write('Everything arrived.\n');
  } catch (error) {
    const isDown = error instanceof TypeError && error.message === 'fetch failed';
    process.stderr.write(
      isDown ? `No server answers at ${serverUrl}: run npm start first.\n` : `${(error as Error).message}\n`,
    );
    process.exitCode = 1;
  }
}
