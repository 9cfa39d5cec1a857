import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { NetworkEvent } from '../../src/connectors/contract/events.ts';
import { eventually } from '../support/eventually.ts';
import { linkAsHost } from './host.ts';
import { nextPhone, useWhatsapp } from './support.ts';

const setting = useWhatsapp();
const CHATS = 10;

it('files of many chats are downloaded a few at a time, without delaying texts', async (test) => {
  const { whatsapp } = setting;
  const { promise: isFetched, resolve: fetched } = Promise.withResolvers<void>();
  test.after(() => fetched());
  let now = 0;
  let most = 0;
  async function onEvent(event: NetworkEvent) {
    if (event.type !== 'message' || event.content.media === undefined) return;
    most = Math.max(most, ++now);
    await isFetched;
    now--;
  }
  const { me, events, waitForEvent } = await linkAsHost(test, whatsapp, { onEvent });
  for (let chat = 0; chat < CHATS; chat++)
    await nextPhone(whatsapp).sendFile(me.number, 'image', Buffer.from(`film ${chat}`));
  // It arrives after all of them.
  await nextPhone(whatsapp, 'Bob').sendText(me.number, 'a text');
  await waitForEvent('message', ({ content }) => content.text === 'a text');
  assert.equal(now, 4);
  fetched();
  await eventually(
    async () => events.all.filter(({ type }) => type === 'message').length,
    (count) => count === CHATS + 1,
  );
  assert.equal(most, 4);
});
