import { count, defineFigure } from '../figure.ts';
import type { Api } from '../harness/api.ts';
import { onSqlite } from '../harness/home.ts';
import { ask, link, newOwner, numberOf, startNetwork } from '../harness/linkedSessions.ts';
import { type Running, until } from '../harness/processes.ts';
import { Turns } from '../harness/turns.ts';

/** The largest group that WhatsApp allows. */
const MEMBERS = count(1024, 8);
const GOAL_MS = 100;
const [OWNER, OURS] = [numberOf(1), numberOf(2)];

const SENT: ReadonlySet<string> = new Set(['sent', 'delivered', 'read']);

interface Sent {
  /** Until WhatsApp has acknowledged the message. */
  readonly ms: number;
  /** Processor time of the longest turn of the server's event loop. */
  readonly turnMs: number;
}

/** The first message to a group fetches the keys of all devices and encrypts for each; the second one for none. */
export const whatsappGroup = defineFigure({
  about: `first and second message to a WhatsApp group of ${MEMBERS} members, SQLite`,
  rounds: 1,
  readings: {
    lidFirst: { what: 'LID: first message', unit: 's' },
    lidFirstTurn: { what: 'LID: first message, longest turn', unit: 'ms', goal: { atMost: GOAL_MS } },
    lidSecond: { what: 'LID: second message', unit: 's' },
    lidSecondTurn: { what: 'LID: second message, longest turn', unit: 'ms', goal: { atMost: GOAL_MS } },
    numberFirst: { what: 'number: first message', unit: 's' },
    numberFirstTurn: { what: 'number: first message, longest turn', unit: 'ms', goal: { atMost: GOAL_MS } },
    numberSecond: { what: 'number: second message', unit: 's' },
    numberSecondTurn: { what: 'number: second message, longest turn', unit: 'ms', goal: { atMost: GOAL_MS } },
    resets: { what: 'connections that were replaced', unit: '', goal: { atMost: 0 } },
  },
  async prepare(tree, scope) {
    return async () => {
      const { network, env } = await startNetwork();
      const home = await onSqlite.open(tree, scope);
      const turns = new Turns();
      const server = await home.start({ ...env, NODE_OPTIONS: `--import ${Turns.script}`, ...turns.env });
      const { api } = await newOwner(server);
      const sessionId = await link(api, network, OURS);
      const { connections: connectionsBefore } = await ask(network, '/network');
      const sender = { api, network, sessionId, longest: () => turns.longest(server.pid) };
      const [lidFirst, lidSecond] = await measure(sender, 'lid', 1000);
      const [numberFirst, numberSecond] = await measure(sender, 'number', 1000 + MEMBERS);
      const { connections } = await ask(network, '/network');
      await server.stop();
      await network.stop();
      return {
        lidFirst: lidFirst.ms / 1000,
        lidFirstTurn: lidFirst.turnMs,
        lidSecond: lidSecond.ms / 1000,
        lidSecondTurn: lidSecond.turnMs,
        numberFirst: numberFirst.ms / 1000,
        numberFirstTurn: numberFirst.turnMs,
        numberSecond: numberSecond.ms / 1000,
        numberSecondTurn: numberSecond.turnMs,
        resets: connections - connectionsBefore,
      };
    };
  },
});

interface Sender {
  readonly api: Api;
  readonly network: Running;
  readonly sessionId: string;
  readonly longest: () => ReturnType<Turns['longest']>;
}

async function measure(sender: Sender, addressing: 'lid' | 'number', from: number): Promise<[Sent, Sent]> {
  const { api, network } = sender;
  const members = Array.from({ length: MEMBERS - 2 }, (_, n) => numberOf(from + n));
  const { group } = await ask(network, '/group', { number: OWNER, members: [OURS, ...members], addressing });
  await until(
    () =>
      api('GET', `/groups/${group}`).then(
        () => true,
        () => false,
      ),
    (isKnown) => isKnown,
  );
  return [await send(sender, group, 'first'), await send(sender, group, 'second')];
}

async function send({ api, sessionId, longest }: Sender, to: string, message: string): Promise<Sent> {
  await longest();
  const startedAt = performance.now();
  // The call fails after 30 s, and the message is still sent.
  await api('POST', '/messages/send', { sessionId, to, message }).catch(() => {});
  await until(
    () => api('GET', `/messages?sessionId=${sessionId}&chatId=${to}`),
    ({ data }) => data.some((one) => one.message === message && SENT.has(one.status)),
  );
  const ms = performance.now() - startedAt;
  return { ms, turnMs: (await longest()).cpuMs };
}
