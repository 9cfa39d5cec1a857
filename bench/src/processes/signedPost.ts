import { createHmac } from 'node:crypto';
import { Pool } from 'undici';

/** A typical body of a webhook. */
export const body = JSON.stringify({
  event: 'message.sent',
  data: { messageId: 'msg_0', to: '491701234567', status: 'sent', timestamp: new Date().toISOString() },
});

/** Signs a body like the product and posts it through the same undici pool. */
export function createSignedPost(target: string): (id: string, body: string) => Promise<void> {
  const pool = new Pool(target, { connections: null, pipelining: 1 });
  return async (id, text) => {
    const timestamp = String(Math.floor(Date.now() / 1000));
    const headers = {
      'content-type': 'application/json',
      'x-webhook-event': 'message.sent',
      'x-webhook-id': id,
      'x-webhook-attempt': '1',
      'x-webhook-timestamp': timestamp,
      'x-webhook-signature': `sha256=${createHmac('sha256', 'bench secret').update(text).digest('hex')}`,
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${createHmac('sha256', 'bench secret').update(`${id}.${timestamp}.${text}`).digest('base64')}`,
    };
    const answer = await pool.request({ method: 'POST', path: '/hook', headers, body: text });
    await answer.body.dump();
  };
}
