import { count, defineFigure } from '../figure.ts';
import type { Api } from '../harness/api.ts';
import { onSqlite } from '../harness/home.ts';
import { ask, link, newOwner, numberOf, startNetwork } from '../harness/linkedSessions.ts';
import { until } from '../harness/processes.ts';
import type { Tree } from '../harness/tree.ts';
import { type LongestTurns, Turns } from '../harness/turns.ts';

/** The largest group that WhatsApp allows. */
const MEMBERS = count(1024, 8);
const GOAL_MS = 100;
const [OWNER, OURS] = [numberOf(1), numberOf(2)];

const SENT: ReadonlySet<string> = new Set(['sent', 'delivered', 'read']);

interface Sent {
  /** Until WhatsApp has acknowledged the message. */
  readonly ms: number;
  /** Processor time of turns of the server's event loop during the send. */
  readonly turns: LongestTurns;
}

interface Measured {
  readonly first: Sent;
  readonly second: Sent;
  /** Connections that were replaced. */
  readonly resets: number;
}

/** The first message to a group fetches the keys of all devices and encrypts for each; the second one for none. */
export const whatsappGroup = defineFigure({
  about: `first and second message to a WhatsApp group of ${MEMBERS} members, SQLite`,
  rounds: 1,
  readings: {
    lidFirst: { what: 'LID: first message', unit: 's' },
    lidFirstTurn: { what: 'LID: first message, longest turn', unit: 'ms', goal: { atMost: GOAL_MS } },
    lidFirstMedian: { what: 'LID: first message, median turn', unit: 'ms' },
    lidSecond: { what: 'LID: second message', unit: 's', digits: 2 },
    lidSecondTurn: { what: 'LID: second message, longest turn', unit: 'ms', goal: { atMost: GOAL_MS } },
    lidSecondMedian: { what: 'LID: second message, median turn', unit: 'ms' },
    numberFirst: { what: 'number: first message', unit: 's' },
    numberFirstTurn: { what: 'number: first message, longest turn', unit: 'ms', goal: { atMost: GOAL_MS } },
    numberFirstMedian: { what: 'number: first message, median turn', unit: 'ms' },
    numberSecond: { what: 'number: second message', unit: 's', digits: 2 },
    numberSecondTurn: { what: 'number: second message, longest turn', unit: 'ms', goal: { atMost: GOAL_MS } },
    numberSecondMedian: { what: 'number: second message, median turn', unit: 'ms' },
    resets: { what: 'connections that were replaced', unit: '', goal: { atMost: 0 } },
  },
  async prepare(tree, scope) {
    return async () => {
      const lid = await measure(tree, scope, 'lid');
      const number = await measure(tree, scope, 'number');
      return {
        lidFirst: lid.first.ms / 1000,
        lidFirstTurn: lid.first.turns.cpuMs,
        lidFirstMedian: lid.first.turns.medianMs,
        lidSecond: lid.second.ms / 1000,
        lidSecondTurn: lid.second.turns.cpuMs,
        lidSecondMedian: lid.second.turns.medianMs,
        numberFirst: number.first.ms / 1000,
        numberFirstTurn: number.first.turns.cpuMs,
        numberFirstMedian: number.first.turns.medianMs,
        numberSecond: number.second.ms / 1000,
        numberSecondTurn: number.second.turns.cpuMs,
        numberSecondMedian: number.second.turns.medianMs,
        resets: lid.resets + number.resets,
      };
    };
  },
});

/** Sends two messages. Accounts that have been migrated to LIDs are in groups with LIDs, older ones with numbers. */
async function measure(tree: Tree, scope: AsyncDisposableStack, addressing: 'lid' | 'number'): Promise<Measured> {
  const { network, env } = await startNetwork(addressing === 'lid');
  const home = await onSqlite.open(tree, scope);
  const turns = new Turns();
  const server = await home.start({ ...env, NODE_OPTIONS: `--import ${Turns.script}`, ...turns.env });
  const { api } = await newOwner(server);
  const sessionId = await link(api, network, OURS);
  const { connections: before } = await ask(network, '/network');
  const members = Array.from({ length: MEMBERS - 2 }, (_, n) => numberOf(1000 + n));
  const { group } = await ask(network, '/group', { number: OWNER, members: [OURS, ...members], addressing });
  await until(
    () =>
      api('GET', `/groups/${group}`).then(
        () => true,
        () => false,
      ),
    (isKnown) => isKnown,
  );
  const sender = { api, sessionId, longest: () => turns.longest(server.pid) };
  const first = await send(sender, group, 'first');
  const second = await send(sender, group, 'second');
  const { connections } = await ask(network, '/network');
  await server.stop();
  await network.stop();
  return { first, second, resets: connections - before };
}

interface Sender {
  readonly api: Api;
  readonly sessionId: string;
  readonly longest: () => Promise<LongestTurns>;
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
  return { ms, turns: await longest() };
}
