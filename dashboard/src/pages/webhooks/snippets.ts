/*
 * Complete receivers without dependencies that verify deliveries: each reads `WEBHOOK_SECRET` and `PORT`. They verify
 * `webhook-signature`, which covers id and time too (https://www.standardwebhooks.com), and has two signatures during a
 * rotation. `snippets.test.ts` runs them against a real server.
 */

import { shellQuote } from '../../shellQuote.ts';
import { goReceiver, nodeReceiver, phpReceiver, pythonReceiver } from './receivers.ts';

export interface Snippet {
  readonly name: string;
  /** File name. */
  readonly file: string;
  readonly code: string;
}

export const receiverSnippets: readonly Snippet[] = [
  {
    name: 'Node',
    file: 'receiver.mjs',
    code: nodeReceiver,
  },
  {
    name: 'Python',
    file: 'receiver.py',
    code: pythonReceiver,
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
