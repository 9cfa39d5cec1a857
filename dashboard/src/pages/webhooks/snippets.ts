/*
 * Complete receivers without dependencies that verify deliveries: each reads `WEBHOOK_SECRET` and `PORT`. They verify
 * `webhook-signature`, which covers id and time too (https://www.standardwebhooks.com), and has two signatures during a
 * rotation. `snippets.test.ts` runs them against a real server.
 */

import { shellQuote } from '../../shellQuote.ts';
import { goReceiver, phpReceiver } from './receivers.ts';

export interface Snippet {
  readonly name: string;
  /** File name. */
  readonly file: string;
  readonly code: string;
}

export const receiverSnippets: readonly Snippet[] = [
  {
    name: 'TypeScript',
    file: 'receiver.ts',
    code: `import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const secret = process.env['WEBHOOK_SECRET'] ?? '';

function isGenuine(headers: NodeJS.Dict<string | string[]>, body: Buffer): boolean {
  const id = String(headers['webhook-id'] ?? '');
  const timestamp = String(headers['webhook-timestamp'] ?? '');
  const isFresh = Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300;
  const digest = createHmac('sha256', secret).update(\`\${id}.\${timestamp}.\`).update(body).digest('base64');
  const expected = Buffer.from(\`v1,\${digest}\`);
  const given = String(headers['webhook-signature'] ?? '').split(' ').map((one) => Buffer.from(one));
  return isFresh && given.some((one) => one.length === expected.length && timingSafeEqual(one, expected));
}

createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks);
    if (!isGenuine(request.headers, body)) return response.writeHead(401).end();
    const { event, data } = JSON.parse(body.toString());
    console.log(event, data);
    response.writeHead(204).end();
  });
}).listen(Number(process.env['PORT'] ?? 3000));
`,
  },
  {
    name: 'Python',
    file: 'receiver.py',
    code: `import base64, hashlib, hmac, json, os, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ.get("WEBHOOK_SECRET", "").encode()


def is_genuine(headers, body):
    id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not timestamp.isdigit() or abs(time.time() - int(timestamp)) > 300:
        return False
    signed = f"{id}.{timestamp}.".encode() + body
    expected = b"v1," + base64.b64encode(hmac.new(SECRET, signed, hashlib.sha256).digest())
    given = headers.get("webhook-signature", "").split(" ")
    return any(hmac.compare_digest(one.encode(), expected) for one in given)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        genuine = is_genuine(self.headers, body)
        if genuine:
            delivery = json.loads(body)
            print(delivery["event"], delivery["data"], flush=True)
        self.send_response(204 if genuine else 401)
        self.end_headers()


ThreadingHTTPServer(("", int(os.environ.get("PORT", 3000))), Receiver).serve_forever()
`,
  },
  {
    name: 'Go',
    file: 'receiver.go',
    code: goReceiver,
  },
  {
    name: 'PHP',
    file: 'receiver.php',
    code: phpReceiver,
  },
];

/** Sends a signed delivery like those of Switchboard, to test a receiver. */
export function curlSnippet(webhookUrl: string): Snippet {
  return {
    name: 'curl',
    file: 'send.sh',
    code: `# Sends your receiver a delivery that is signed as ours are. Change a letter of BODY below
# the two lines that sign it, and the receiver has to refuse it.
URL=${shellQuote(webhookUrl)}
ID=evt_$(date +%s)
TIMESTAMP=$(date +%s)
BODY='{"event":"message.incoming","data":{"messageId":"msg_1","from":"491701234567","message":"Hello","timestamp":"2026-01-01T12:00:00.000Z"}}'

HEX=$(printf '%s' "$BODY" | openssl dgst -sha256 -hmac "$WEBHOOK_SECRET" | sed 's/^.* //')
BASE64=$(printf '%s' "$ID.$TIMESTAMP.$BODY" | openssl dgst -sha256 -hmac "$WEBHOOK_SECRET" -binary | base64)

curl -i "$URL" \\
  -H 'Content-Type: application/json' \\
  -H "X-Webhook-Id: $ID" \\
  -H "X-Webhook-Timestamp: $TIMESTAMP" \\
  -H "X-Webhook-Signature: sha256=$HEX" \\
  -H "webhook-id: $ID" \\
  -H "webhook-timestamp: $TIMESTAMP" \\
  -H "webhook-signature: v1,$BASE64" \\
  --data-binary "$BODY"
`,
  };
}
