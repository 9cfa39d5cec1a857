import { createHmac } from 'node:crypto';
import { Pool } from 'undici';

/*
 * The bare limit of `deliver`: a loop that signs a body as we do and posts it through the same undici pool, with as
 * many in flight, and does nothing else.
 */
const [target = '', concurrency = '8', total = '20000'] = [
  process.env['TARGET'],
  process.env['CONCURRENCY'],
  process.env['TOTAL'],
];
process.stdout.write('http://127.0.0.1:0\n'); // it listens on nothing; the harness waits for a line
const pool = new Pool(target, { connections: null, pipelining: 1 });
const body = JSON.stringify({
  event: 'message.sent',
  data: { messageId: 'msg_0', to: '491701234567', status: 'sent', timestamp: new Date().toISOString() },
});
let left = Number(total);
await Promise.all(
  Array.from({ length: Number(concurrency) }, async () => {
    while (left-- > 0) {
      const id = `evt_${left}`;
      const timestamp = String(Math.floor(Date.now() / 1000));
      const headers = {
        'content-type': 'application/json',
        'x-webhook-event': 'message.sent',
        'x-webhook-id': id,
        'x-webhook-attempt': '1',
        'x-webhook-timestamp': timestamp,
        'x-webhook-signature': `sha256=${createHmac('sha256', 'bench secret').update(body).digest('hex')}`,
        'webhook-id': id,
        'webhook-timestamp': timestamp,
        'webhook-signature': `v1,${createHmac('sha256', 'bench secret').update(`${id}.${timestamp}.${body}`).digest('base64')}`,
      };
      const answer = await pool.request({ method: 'POST', path: '/hook', headers, body });
      await answer.body.dump();
    }
  }),
);
process.exit(0);
