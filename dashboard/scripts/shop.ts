import type { ServerResponse } from 'node:http';
import { type Clock, systemClock } from '../../server/src/clock.ts';
import type { Received, Receiver } from '../../server/test/support/connections/receiver.ts';
import { eventually } from '../../server/test/support/eventually.ts';
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

/** The clock of the server of the screenshots, which starts in the past and catches up. */
export class PastClock implements Clock {
  #lagMs = 0;
  readonly now = (): number => Date.now() - this.#lagMs;
  readonly elapsed = (): number => performance.now() - this.#lagMs;
  readonly after = systemClock.after;

  constructor(minutesAgo: number) {
    this.goTo(minutesAgo);
  }

  goTo(minutesAgo: number): void {
    this.#lagMs = minutesAgo * 60_000;
  }
}

const OWN = '491701230001';
/** The stock system fails from this minute on. */
const DOWN_MINUTES_AGO = 9;
const [ADA, BEA, CEM, DORA] = ['491701230011', '491701230012', '491701230013', '491701230014'];

/** Creates an hour of a plant shop whose stock system fails in the end. */
export async function openShop(call: Call, orders: Receiver, stock: Receiver, clock: PastClock): Promise<Shop> {
  // Pages start with the session that was created last.
  await connectSession(call, '491701230002', { name: 'Deliveries' });
  const sessionId = await connectSession(call, OWN, { name: 'Plant shop' });
  await makeKeys(call);
  await call('POST', '/webhooks/set', {
    webhookUrl: `${orders.url}/orders`,
    events: ['message.incoming', 'message.read', 'session.disconnected'],
    secret: 'only for the pictures',
  });
  const webhook = { webhookUrl: `${stock.url}/stock`, events: ['message.incoming'], secret: 'only for the pictures' };
  const { webhookId } = (await call('POST', '/webhooks/endpoints', webhook)).body;
  for (const receiver of [orders, stock]) receiver.respond(answerSlowly);
  const traffic = new Traffic(call, sessionId);
  for (let minutesAgo = 59; minutesAgo > DOWN_MINUTES_AGO; minutesAgo--) {
    clock.goTo(minutesAgo);
    await traffic.minute(minutesAgo);
    await allDelivered(call);
  }

  // The breaker of the second receiver opens, and further events are held.
  stock.respond((_, response) => response.writeHead(502).end('upstream is down'));
  clock.goTo(DOWN_MINUTES_AGO);
  const say = speaker(call, sessionId, DORA, 'Dora Nowak');
  for (const text of ['Are the olive trees in?', 'Two of them, please', 'And a pot', 'A large one', 'In blue'])
    await say(text);
  await say('Until when are you open?');
  await eventually(
    async () => (await call('GET', `/webhooks/endpoints/${webhookId}/circuit-breaker`)).body.state,
    (state) => state === 'open',
  );
  for (let minutesAgo = DOWN_MINUTES_AGO - 1; minutesAgo > 0; minutesAgo--) {
    clock.goTo(minutesAgo);
    await traffic.minute(minutesAgo);
  }
  const groupId = await talk(call, sessionId);
  await say('And a bag of soil');
  await say('That is all, thank you');
  await askToSend(call, sessionId);
  clock.goTo(0);
  const failed = await call('GET', `/webhooks/deliveries?webhookId=${webhookId}&states=pending&limit=200`);
  return { sessionId, chatId: ADA, groupId, webhookId, failedDeliveryId: failed.body.data.at(-1).deliveryId };
}

/** Between 15 and 70 ms, as a receiver with a database behind it. */
function answerSlowly({ id }: Received, response: ServerResponse): void {
  setTimeout(() => response.writeHead(204).end(), 15 + (parseInt(id.slice(-2), 36) % 56));
}

function allDelivered(call: Call): Promise<unknown> {
  return eventually(
    () => call('GET', '/webhooks/deliveries?states=pending&limit=1'),
    ({ body }) => body.data.length === 0,
  );
}

/** Customers who write, some of whom get a reply. */
class Traffic {
  readonly #call: Call;
  readonly #sessionId: string;
  #count = 0;

  constructor(call: Call, sessionId: string) {
    this.#call = call;
    this.#sessionId = sessionId;
  }

  /** More and fewer messages in waves. */
  async minute(minutesAgo: number): Promise<void> {
    const wave = 7 + 4 * Math.sin(minutesAgo / 7) + 3 * Math.sin(minutesAgo / 2.3);
    for (let n = 0; n < Math.round(wave); n++) {
      const customer = `4917012301${String(++this.#count % 40).padStart(2, '0')}`;
      await speaker(this.#call, this.#sessionId, customer, `Customer ${customer.slice(-2)}`)(phraseOf(this.#count));
      if (this.#count % 3 === 0) await this.#reply(customer);
    }
  }

  async #reply(to: string): Promise<void> {
    await this.#call('POST', '/messages/send', { sessionId: this.#sessionId, to, message: 'Yes, until six today.' });
  }
}

const PHRASES = ['Are you open today?', 'Is my order ready?', 'Do you have basil?', 'Can I pay by card?', 'Thank you!'];

const phraseOf = (n: number) => PHRASES[n % PHRASES.length] ?? '';

async function makeKeys(call: Call): Promise<void> {
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
  for (const key of [
    { name: 'Order system', permissions: ['messages:*', 'sessions:read', 'media:*'] },
    { name: 'Agent', permissions: ['messages:read', 'chats:read', 'sessions:read'], expiresAt: inDays(30) },
    { name: 'Weekly report', permissions: ['events:read', 'webhooks:read'], expiresAt: inDays(365) },
  ])
    await call('POST', '/api-keys/create', key);
}

/** Lets messages of an agent wait for approval. */
async function askToSend(call: Call, sessionId: string): Promise<void> {
  const settings = { name: 'Support agent', permissions: ['messages:send'], requiresApproval: true };
  const { key } = (await call('POST', '/api-keys/create', settings)).body;
  const ask = (to: string, message: string) =>
    call('POST', '/messages/send', { sessionId, to, message }, { authorization: `Bearer ${key}` });
  await ask(DORA, 'We are open until six. The olive trees are in the courtyard.');
  await ask(CEM, 'Your parcel to Bremen has left. It takes two days.');
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
