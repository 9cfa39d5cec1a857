import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Agent } from '../../../server/test/support/agentTasks/agent.ts';
import { createScene, type SceneReceiver } from '../../../server/test/support/agentTasks/scene.ts';
import {
  MOST_CALLS,
  MOST_CHARACTERS,
  type Outcome,
  play,
  tasks,
} from '../../../server/test/support/agentTasks/tasks.ts';
import { startFileServer } from '../../../server/test/support/connections/fileServer.ts';
import { picture } from '../../../server/test/support/media/media.ts';
import { defineFigure, type Reading, type Sample } from '../figure.ts';
import { apiOf } from '../harness/api.ts';
import { onSqlite } from '../harness/home.ts';
import { newFolder } from '../harness/processes.ts';
import { Receiver } from '../harness/receiver.ts';

const readings: Record<string, Reading> = {};
for (const [name, { about }] of Object.entries(tasks)) {
  readings[callsOf(name)] = { what: about, unit: 'calls', digits: 0, goal: { atMost: MOST_CALLS } };
  readings[charactersOf(name)] = { what: '', unit: 'characters', digits: 0, goal: { atMost: MOST_CHARACTERS } };
}
readings[callsOf('total')] = { what: 'all tasks', unit: 'calls', digits: 0 };
readings[charactersOf('total')] = { what: '', unit: 'characters', digits: 0 };

function callsOf(name: string): string {
  return `${name} calls`;
}

function charactersOf(name: string): string {
  return `${name} characters`;
}

/** Twelve tasks of an agent over MCP. Fails if one is blocked. */
export const agentTasks = defineFigure({
  about: 'calls and characters of results for twelve tasks of an agent over MCP',
  rounds: 1,
  readings,
  async prepare(tree, scope) {
    const files = await startFileServer((_, response) => response.writeHead(200).end(picture()));
    scope.defer(() => files.close());
    const trusted = join(newFolder(), 'files.pem');
    writeFileSync(trusted, files.certificate);
    const home = await onSqlite.open(tree, scope);
    const server = await home.start({ NODE_EXTRA_CA_CERTS: trusted });
    scope.defer(() => server.stop());
    const { token } = await apiOf(server.url)('POST', '/auth/register', {
      email: 'agent@example.com',
      password: 'correct horse',
    });
    const rest = apiOf(server.url, token);
    const { key } = await rest('POST', '/api-keys/create', { name: 'agent' });
    const agent = await Agent.connect(server.url, key);
    scope.defer(() => agent.close());
    const pictureUrl = `${files.url}/plan.png`;
    return async () => {
      const scene = await createScene({ rest, receiver: sceneReceiver(await Receiver.start(scope)), pictureUrl });
      const outcomes = new Map<string, Outcome>();
      for (const [name, task] of Object.entries(tasks)) outcomes.set(name, await play(task, agent, scene));
      requireDone(outcomes);
      return sampleOf(outcomes);
    };
  },
});

const sceneReceiver = (receiver: Receiver): SceneReceiver => ({
  url: receiver.hook,
  answer: (status) => receiver.behave({ status }),
});

/** Throws if a task was not done: then its figures say nothing. The goals are checked once all are printed. */
function requireDone(outcomes: ReadonlyMap<string, Outcome>): void {
  const missed = [...outcomes].flatMap(([name, { calls, blocked }]) =>
    blocked === undefined ? [] : [`${name} is blocked after ${calls} calls: ${blocked}`],
  );
  if (missed.length > 0) throw new Error(missed.join('\n'));
}

function sampleOf(outcomes: ReadonlyMap<string, Outcome>): Sample {
  const sample: Record<string, number> = { [callsOf('total')]: 0, [charactersOf('total')]: 0 };
  const add = (key: string, value: number) => {
    sample[key] = (sample[key] ?? 0) + value;
  };
  for (const [name, { calls, characters }] of outcomes)
    for (const row of [name, 'total']) {
      add(callsOf(row), calls);
      add(charactersOf(row), characters);
    }
  return sample;
}
