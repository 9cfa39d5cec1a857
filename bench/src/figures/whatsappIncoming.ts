import { count, defineFigure } from '../figure.ts';
import type { Api } from '../harness/api.ts';
import { onSqlite } from '../harness/home.ts';
import { ask, link, newOwner, numberOf, startNetwork } from '../harness/linkedSessions.ts';
import { cpuMs, type Running, until } from '../harness/processes.ts';

const MESSAGES = count(2000, 20);
/** Starts the conversation, and lets the server compile what it runs often. */
const WARM_UP = count(300, 5);
const [OTHER, OURS] = [numberOf(1), numberOf(2)];

/** The work for each incoming message: its decryption, its rows, and the lookups of what waits for it. */
export const whatsappIncoming = defineFigure({
  about: `cost of ${MESSAGES} incoming WhatsApp messages in one go, SQLite`,
  rounds: count(3, 1),
  readings: {
    direct: { what: 'direct: CPU time of the server for each', unit: 'ms', digits: 2 },
    directRate: { what: 'direct: stored per second', unit: '', digits: 0 },
    group: { what: 'in a group: CPU time of the server for each', unit: 'ms', digits: 2 },
    groupRate: { what: 'in a group: stored per second', unit: '', digits: 0 },
  },
  async prepare(tree, scope) {
    return async () => {
      const { network, env } = await startNetwork(true);
      await ask(network, '/phone', { number: OTHER });
      const home = await onSqlite.open(tree, scope);
      const server = await home.start(env);
      const { api } = await newOwner(server);
      await link(api, network, OURS);
      const { group } = await ask(network, '/group', { number: OTHER, members: [OURS], addressing: 'lid' });
      const direct = await measure({ api, network, server }, OURS);
      const inGroup = await measure({ api, network, server }, group);
      await server.stop();
      await network.stop();
      await home.remove();
      return { direct: direct.cpu, directRate: direct.rate, group: inGroup.cpu, groupRate: inGroup.rate };
    };
  },
});

interface Setting {
  readonly api: Api;
  readonly network: Running;
  readonly server: Running;
}

async function measure(setting: Setting, to: string): Promise<{ cpu: number; rate: number }> {
  await write(setting, to, WARM_UP);
  const { pid } = setting.server;
  const [startedAt, cpuBefore] = [performance.now(), cpuMs(pid)];
  await write(setting, to, MESSAGES);
  const cpu = (cpuMs(pid) - cpuBefore) / MESSAGES;
  return { cpu, rate: MESSAGES / ((performance.now() - startedAt) / 1000) };
}

/** Resolves once the server has stored the messages. They arrive in order. */
async function write({ api, network }: Setting, to: string, messages: number): Promise<void> {
  const last = `the last of ${messages} to ${to}`;
  await ask(network, '/write', { number: OTHER, to, text: last, messages });
  await until(
    () => api('GET', '/messages?direction=incoming&limit=1'),
    ({ data: [newest] }) => newest?.message === last,
  );
}
