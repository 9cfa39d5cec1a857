import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { quietPort } from '../docs/quietPort.ts';
import { startReceiver } from '../support/connections/receiver.ts';

/* The migration guides run the adapter with real events (`docs/codeBlocks.test.ts`). */

const adapter = fileURLToPath(new URL('../../../examples/webhookAdapter.ts', import.meta.url));
const SECRET = 'a secret of the adapter';

it('the webhook adapter reports a redirect as a failure, and does not follow it', async (test) => {
  const receiver = await startReceiver();
  const folder = mkdtempSync(join(tmpdir(), 'adapter-'));
  const translation = join(folder, 'translate.mjs');
  writeFileSync(translation, 'export const translate = ({ event }) => ({ event });\n');
  const port = await quietPort();
  const running = spawn(process.execPath, [adapter, translation], {
    env: { ...process.env, WEBHOOK_SECRET: SECRET, RECEIVER_URL: receiver.url, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  test.after(async () => {
    running.kill();
    await receiver.close();
    rmSync(folder, { recursive: true });
  });
  await Promise.race([
    once(running.stdout, 'data'),
    once(running, 'exit').then(([code]) => assert.fail(`the adapter exited with ${code}`)),
  ]);

  receiver.respond((_, response) => response.writeHead(302, { location: '/moved' }).end());
  assert.equal(await post(port, 'evt_1'), 502);
  assert.equal(receiver.deliveries.length, 1, 'the new address was not asked');
  receiver.respond(200);
  assert.equal(await post(port, 'evt_1'), 204, 'the repetition arrives');
});

/** Posts a signed event. @returns the status of the answer */
async function post(port: number, id: string): Promise<number> {
  const data = { messageId: 'msg_1', from: '491701234567', message: 'Hi', timestamp: '2026-01-01T12:00:00.000Z' };
  const body = JSON.stringify({ event: 'message.incoming', data });
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac('sha256', SECRET).update(`${id}.${timestamp}.${body}`).digest('base64');
  const { status } = await fetch(`http://127.0.0.1:${port}/`, {
    method: 'POST',
    headers: { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` },
    body,
  });
  return status;
}
