import { eventually } from '../../server/test/support/eventually.ts';
import type { Receiver } from '../../server/test/support/receiver.ts';
import { type Call, connectSession } from '../../server/test/support/server.ts';

/** The sample data of the screenshots. */
export interface Shop {
  readonly sessionId: string;
  readonly chatId: string;
  readonly groupId: string;
  /** The webhook with a failing receiver. */
  readonly webhookId: string;
  readonly failedDeliveryId: string;
}

const OWN = '491701230001';
const [ADA, BEA, CEM, DORA] = ['491701230011', '491701230012', '491701230013', '491701230014'];

/** Creates the data of a plant shop whose stock system is down. */
export async function openShop(call: Call, orders: Receiver, stock: Receiver): Promise<Shop> {
  // Pages start with the session that was created last.
  await connectSession(call, '491701230002', { name: 'Deliveries' });
  const sessionId = await connectSession(call, OWN, { name: 'Plant shop' });
  await makeKeys(call);
  await call('POST', '/webhooks/set', {
    webhookUrl: `${orders.url}/orders`,
    events: ['message.incoming', 'message.read', 'session.disconnected'],
    secret: 'only for the pictures',
  });
  const groupId = await talk(call, sessionId);

  // From now on a second receiver fails: its breaker opens, and further events are held.
  stock.respond((_, response) => response.writeHead(502).end('upstream is down'));
  const { webhookId } = (
    await call('POST', '/webhooks/endpoints', {
      webhookUrl: `${stock.url}/stock`,
      events: ['message.incoming'],
      secret: 'only for the pictures',
    })
  ).body;
  const say = speaker(call, sessionId, DORA, 'Dora Nowak');
  for (const text of ['Are the olive trees in?', 'Two of them, please', 'And a pot', 'A large one', 'In blue'])
    await say(text);
  await say('Until when are you open?');
  await eventually(
    async () => (await call('GET', `/webhooks/endpoints/${webhookId}/circuit-breaker`)).body.state,
    (state) => state === 'open',
  );
  await say('And a bag of soil');
  await say('That is all, thank you');
  const failed = await call('GET', `/webhooks/deliveries?webhookId=${webhookId}&limit=200`);
  return { sessionId, chatId: ADA, groupId, webhookId, failedDeliveryId: failed.body.data.at(-1).deliveryId };
}

async function makeKeys(call: Call): Promise<void> {
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
  for (const key of [
    { name: 'Order system', permissions: ['messages:*', 'sessions:read', 'media:*'] },
    { name: 'Agent', permissions: ['messages:read', 'chats:read', 'sessions:read'], expiresAt: inDays(30) },
    { name: 'Weekly report', permissions: ['events:read', 'webhooks:read'], expiresAt: inDays(365) },
  ])
    await call('POST', '/api-keys/create', key);
}

/**
 * Lets customers write, and replies to them.
 * @returns the id of their group
 */
async function talk(call: Call, sessionId: string): Promise<string> {
  const send = (to: string, message: string) => call('POST', '/messages/send', { sessionId, to, message });
  const cem = speaker(call, sessionId, CEM, 'Cem Yılmaz');
  const bea = speaker(call, sessionId, BEA, 'Bea Lindqvist');
  const ada = speaker(call, sessionId, ADA, 'Ada Okafor');
  await cem('Do you ship to Bremen?');
  await send(CEM, 'Yes, within two days.');
  await bea('The fern arrived, and it is lovely. Thank you!');
  const { groupId } = (
    await call('POST', '/groups', { sessionId, subject: 'Saturday market', phoneNumbers: [ADA, BEA, CEM] })
  ).body;
  await call('POST', '/messages/send', { sessionId, to: groupId, message: 'We are at the corner by the fountain.' });
  await ada('Good morning! Is the monstera in the window still there?');
  await send(ADA, 'Good morning, Ada. It is, and it has a new leaf since yesterday.');
  await ada('Wonderful. Can you keep it for me until six?');
  await send(ADA, 'Gladly. I put your name on it.');
  await ada('See you then, and thank you!');
  return groupId;
}

function speaker(call: Call, sessionId: string, from: string, senderName: string) {
  return (message: string) =>
    call('POST', `/sessions/${sessionId}/simulate`, { action: 'incoming', from, senderName, message });
}
