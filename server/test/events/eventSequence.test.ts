import assert from 'node:assert/strict';
import { it } from 'node:test';
import { startReceiver } from '../support/connections/receiver.ts';
import { describeOnEachDeployment } from '../support/databases/databases.ts';
import { bearer, type Call, connectSession, startAgain } from '../support/server.ts';

const ANN = '491711111111';
const BEN = '491722222222';

describeOnEachDeployment('the sequence of events', (newHome, database) => {
  it('rises within each chat, is the same on every attempt and goes on after a restart', async (test) => {
    const restart = startAgain(test, newHome, { database });
    const receiver = await startReceiver();
    test.after(() => receiver.close());
    // One delivery fails once, so that it arrives after later ones.
    receiver.respond(({ parsed, attempt }, response) =>
      response.writeHead(parsed.data.message === 'a1' && attempt === 1 ? 500 : 200).end(),
    );
    const first = await restart();
    const { call, token } = await first.account();
    const sessionId = await connectSession(call);
    await call('POST', '/webhooks/endpoints', {
      webhookUrl: receiver.url,
      events: ['message.incoming'],
      retrySeconds: [1],
    });
    const write = (as: Call, from: string, message: string) =>
      as('POST', `/sessions/${sessionId}/simulate`, { action: 'incoming', from, message });
    for (const n of [1, 2, 3]) {
      await write(call, ANN, `a${n}`);
      await write(call, BEN, `b${n}`);
    }
    await receiver.waitFor(7);
    await first.stop();
    const again = bearer((await restart()).url, token);
    await write(again, ANN, 'a4');
    await receiver.waitFor(8);

    const { data } = (await again('GET', '/events?events=message.incoming')).body;
    assert.equal(data.length, 7);
    const sequenceOf = new Map<string, number>(
      data.map((event: { eventId: string; sequence: number }) => [event.eventId, event.sequence]),
    );
    for (const { id, headers } of receiver.deliveries)
      assert.equal(headers['x-webhook-sequence'], String(sequenceOf.get(id)));
    for (const chat of [ANN, BEN]) {
      const received = receiver.deliveries.filter(({ parsed }) => parsed.data.from === chat);
      const texts = received
        .toSorted((a, b) => Number(a.headers['x-webhook-sequence']) - Number(b.headers['x-webhook-sequence']))
        .map(({ parsed }) => parsed.data.message);
      assert.deepEqual([...new Set(texts)], chat === ANN ? ['a1', 'a2', 'a3', 'a4'] : ['b1', 'b2', 'b3']);
    }
    const [{ id } = assert.fail()] = receiver.deliveries.filter(({ parsed }) => parsed.data.message === 'a1');
    const attempts = receiver.deliveries.filter((one) => one.id === id);
    assert.deepEqual(new Set(attempts.map(({ headers }) => headers['x-webhook-sequence'])).size, 1);
    assert.equal(attempts.length, 2);
  });
});
