import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Agent } from '../support/agentTasks/agent.ts';
import { createScene } from '../support/agentTasks/scene.ts';
import { MOST_CALLS, MOST_CHARACTERS, play, tasks } from '../support/agentTasks/tasks.ts';
import { startFileServer } from '../support/connections/fileServer.ts';
import { startReceiver } from '../support/connections/receiver.ts';
import { picture } from '../support/media/media.ts';
import { startServer } from '../support/server.ts';

it('an agent does each of twelve tasks within 6 calls and 20,000 characters', async (test) => {
  const receiver = await startReceiver();
  const files = await startFileServer((_, response) => response.writeHead(200).end(picture()));
  const server = await startServer();
  const { call } = await server.account();
  const rest = async (method: string, path: string, body?: unknown) => {
    const answer = await call(method, path, body);
    assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const { key } = await rest('POST', '/api-keys/create', { name: 'agent' });
  const agent = await Agent.connect(server.url, key);
  test.after(async () => {
    await agent.close();
    await server.stop();
    await files.close();
    await receiver.close();
  });
  const scene = await createScene({
    rest,
    receiver: { url: receiver.url, answer: async (status) => receiver.respond(status) },
    pictureUrl: `${files.url}/plan.png`,
  });
  const missed: string[] = [];
  // One test, because the tasks share the scene and follow one another.
  for (const task of Object.values(tasks)) {
    const { calls, characters, blocked } = await play(task, agent, scene);
    if (blocked !== undefined) missed.push(`${task.about}: blocked after ${calls} calls: ${blocked}`);
    else if (calls > MOST_CALLS || characters > MOST_CHARACTERS)
      missed.push(`${task.about}: ${calls} calls, ${characters} characters`);
  }
  assert.deepEqual(missed, []);
  assert.equal(Object.keys(tasks).length, 12);
});
