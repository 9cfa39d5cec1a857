import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { it } from 'node:test';
import { type Connection, queryable, type Store, UnknownCommitError } from '../../src/db/dialect.ts';
import { startReceiver } from '../support/connections/receiver.ts';
import { connectSession, startServer } from '../support/server.ts';

/** Loses the response to the next commit of a transaction that stores deliveries. */
class LostResponse {
  isDue = false;

  readonly wrap = (store: Store): Store => ({
    ...store,
    begin: async (as, limits) => {
      const inner = await store.begin(as, limits);
      let hasDeliveries = false;
      const note = (text: string) => {
        hasDeliveries ||= /insert into "?deliveries"?/i.test(text);
      };
      const { queryEach } = inner.connection;
      const connection: Connection = {
        query: (text, parameters, name) => {
          note(text);
          return inner.connection.query(text, parameters, name);
        },
        ...(queryEach && {
          queryEach: (text, lists) => {
            note(text);
            return queryEach.call(inner.connection, text, lists) as Promise<never>;
          },
        }),
      };
      return {
        ...queryable(store.dialect, connection),
        commit: async (unanswered) => {
          await inner.commit(unanswered);
          if (!this.isDue || !hasDeliveries) return;
          this.isDue = false;
          throw new UnknownCommitError(new Error('The connection was reset'));
        },
        rollback: () => inner.rollback(),
      };
    },
  });
}

it('a delivery whose commit got no response is not overtaken by the next one of its chat', async (test) => {
  const lost = new LostResponse();
  const server = await startServer({ wrapStore: lost.wrap });
  test.after(() => server.stop());
  const receiver = await startReceiver();
  test.after(() => receiver.close());
  const { call } = await server.account();
  const sessionId = await connectSession(call);
  await call('POST', '/webhooks/set', { webhookUrl: receiver.url, events: ['message.incoming'] });
  const write = (message: string, from = '491701234567') =>
    call('POST', `/sessions/${sessionId}/simulate`, { action: 'incoming', from, message });
  // Another chat keeps the lane from ending, so that it need not read when it starts again.
  const held: ServerResponse[] = [];
  receiver.respond(({ parsed }, response) => {
    if (parsed.data.message === 'held') held.push(response);
    else response.writeHead(200).end();
  });
  await write('held', '491709999999');
  await receiver.waitFor(1);
  lost.isDue = true;
  await write('first');
  assert.ok(!lost.isDue);
  await write('second');
  await receiver.waitFor(3);
  for (const response of held) response.writeHead(200).end();
  assert.deepEqual(
    receiver.deliveries.map(({ parsed }) => parsed.data.message),
    ['held', 'first', 'second'],
  );
});
