import { count, defineFigure, ROUNDS } from '../figure.ts';
import { apiOf, newAccount, setUp } from '../harness/api.ts';
import { onSqlite } from '../harness/home.ts';
import { answers } from '../harness/load.ts';
import { cpuMs, type Running, untilIdle } from '../harness/processes.ts';
import { Receiver } from '../harness/receiver.ts';

const WARM_UP_SECONDS = count(3, 1);
const SECONDS = count(8, 1);

/** Sends with a limited key and a filtered webhook, beside sends without limits and filters on the same server. */
export const limits = defineFigure({
  about: 'sends with a limited key and a filtered webhook, beside sends without, SQLite',
  rounds: ROUNDS,
  readings: {
    rate: { what: 'sends per second with limits', unit: '/s', digits: 0 },
    plainRate: { what: 'sends per second without', unit: '/s', digits: 0 },
    share: { what: 'rate, share of that without', unit: '×', digits: 2, goal: { atLeast: 0.95 } },
    cpu: { what: 'CPU time per send, beside that without', unit: '×', digits: 2, goal: { atMost: 1.05 } },
  },
  async prepare(tree, scope) {
    const receiver = await Receiver.start(scope);
    const empty = await onSqlite.open(tree, scope);
    return async () => {
      const home = await empty.copy();
      const server = await home.start();
      await receiver.behave();
      const plain = (await setUp(server, receiver.hook)).key;
      const limited = await setUpLimited(server, receiver.hook);
      for (const key of [plain, limited]) await answersOf(server, key, WARM_UP_SECONDS);
      const without = await measure(server, plain);
      const within = await measure(server, limited);
      await server.stop();
      await home.remove();
      return {
        rate: within.rate,
        plainRate: without.rate,
        share: within.rate / without.rate,
        cpu: within.cpu / without.cpu,
      };
    };
  },
});

/** An account like that of `setUp`, with every limit of a key and every filter of a webhook. Returns the key. */
async function setUpLimited(server: Running, webhookUrl: string): Promise<string> {
  const { token, sessionId } = await newAccount(server, 'limited');
  const api = apiOf(server.url, token);
  await api('POST', '/webhooks/endpoints', {
    webhookUrl,
    events: ['message.sent'],
    secret: 'the secret of the benchmark',
    sessionIds: [sessionId],
    filters: {
      chats: ['49170*'],
      ignoredChats: ['491710*'],
      chatTypes: ['direct'],
      fromMe: true,
      messageTypes: ['text'],
      adIds: ['1'],
    },
  });
  const { key } = await api('POST', '/api-keys/create', {
    name: 'limited',
    sessionIds: [sessionId],
    allowedIps: ['127.0.0.0/8', '::1'],
    allowedRecipients: ['49170*'],
    sendQuota: 1_000_000,
  });
  return key;
}

async function measure(server: Running, key: string): Promise<{ rate: number; cpu: number }> {
  await untilIdle(server.pid);
  const before = cpuMs(server.pid);
  const sent = await answersOf(server, key, SECONDS);
  await untilIdle(server.pid);
  return { rate: sent / SECONDS, cpu: (cpuMs(server.pid) - before) / sent };
}

const answersOf = (server: Running, key: string, seconds: number) =>
  answers(server.url, '/api/v1/messages/send', seconds, { authorization: `Bearer ${key}` });
