import { type Account, addWebhook, apiOf, greeting, type Load, newAccount, sendMessages } from './api.ts';
import type { Home } from './home.ts';
import { type Running, untilIdle } from './processes.ts';
import type { Behavior, Receiver } from './receiver.ts';

/** Deliveries in flight, for every sender that is compared. */
export const IN_FLIGHT = 64;

/** No held request reaches its deadline while a server fills a queue. */
const HOLDING = { WEBHOOK_TIMEOUT_MS: '120000', OUTGOING_CONNECTIONS: '2' };
const FILL_SECONDS = 60;

/**
 * Runs servers on a home, one after the other, while the receiver holds all requests: their deliveries stay due for
 * the first attempt, stored by the product itself.
 * @param work is called with each server until it returns true; may take 60 s each time
 */
export async function whileHeld(
  home: Home,
  receiver: Receiver,
  work: (server: Running) => Promise<boolean>,
): Promise<void> {
  await receiver.behave({ holds: true });
  let isDone = false;
  while (!isDone) {
    const server = await home.start(HOLDING);
    isDone = await work(server);
    await server.stop();
  }
  await receiver.behave();
}

/** Fills the queue of one webhook with one delivery for each message, all due for their first attempt. */
export async function fillQueue(
  home: Home,
  receiver: Receiver,
  count: number,
  { text = greeting, inFlight = IN_FLIGHT }: { text?: Load['text']; inFlight?: number } = {},
): Promise<Account> {
  let account: Account | undefined;
  let sent = 0;
  await whileHeld(home, receiver, async (server) => {
    if (account === undefined) {
      account = await newAccount(server);
      await addWebhook(apiOf(server.url, account.key), receiver.hook, inFlight);
    }
    sent += await sendMessages(server, account, { from: sent, count: count - sent, text, seconds: FILL_SECONDS });
    if (sent < count) return false;
    await untilIdle(server.pid); // the rest of its work on the messages
    return true;
  });
  if (account === undefined) throw new Error('the queue was not filled');
  return account;
}

/**
 * Starts a server on a copy of a home with a full queue, and removes both after `measure`.
 * @throws if the receiver got anything but first attempts
 */
export async function onCopy<T>(
  home: Home,
  receiver: Receiver,
  measure: (server: Running, copy: Home) => Promise<T>,
  { env, behavior }: { env?: Readonly<Record<string, string>>; behavior?: Behavior } = {},
): Promise<T> {
  const copy = await home.copy();
  await receiver.behave(behavior);
  const server = await copy.start(env);
  try {
    const result = await measure(server, copy);
    const { retries } = await receiver.counts();
    if (retries > 0) throw new Error(`${retries} deliveries were not first attempts`);
    return result;
  } finally {
    await server.stop();
    await copy.remove();
  }
}
