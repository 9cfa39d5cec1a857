import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { WASocket } from 'baileys';
import type { Link } from '../../../../src/connectors/whatsapp/link/link.ts';
import { Requests } from '../../../../src/connectors/whatsapp/link/requests.ts';
import { createFakeClock } from '../../../support/fakeClock.ts';

it('extends a request that makes progress', async () => {
  const clock = createFakeClock();
  // Only these fields are read.
  const socket = { ws: { isOpen: true } } as unknown as WASocket;
  const link = { newest: socket, on() {} } as unknown as Link;
  let isWorking = true;
  const work = () => new Promise<never>(() => {});
  const request = new Requests(link, clock).run(socket, work, 1000, () => isWorking);
  const outcome = request.catch(({ code }: { code: string }) => code);
  for (let second = 0; second < 5; second++) await clock.advance(1000);
  assert.equal(await Promise.race([outcome, Promise.resolve('running')]), 'running');
  isWorking = false;
  await clock.advance(1000);
  assert.equal(await outcome, 'send_failed');
});
