import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { type FaultyLine, startFaultyLine } from '../support/connections/faultyLine.ts';
import { newHome } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { queryOf } from '../support/processes/nodes.ts';
import { bearer, connectSession, startServer } from '../support/server.ts';

/** The longest time that a caller waits for a key, on whichever node. */
const WORST_MS = 15_000;

describe('an idempotency key', () => {
  it("becomes usable on another node soon after the response to its claim's commit was lost", async (test) => {
    const { line, asked, other, sessionId, token } = await twoNodes(test);
    loseAnswerToClaim(line);
    // A scheduled send runs on the node that receives it. Any other is forwarded before the claim.
    const sendAt = new Date(Date.now() + 3_600_000).toISOString();
    const send = (url: string) =>
      bearer(url, token)(
        'POST',
        '/messages/send',
        { sessionId, to: '491702222222', message: 'hello', sendAt },
        { 'idempotency-key': 'lost' },
      );
    const first = await send(asked.url);
    assert.deepEqual([first.status, first.body.code], [503, 'storage_unavailable']);
    const lostAt = performance.now();
    const again = await eventually(
      () => send(other.url),
      ({ body }) => body.code !== 'idempotency_in_flight',
      WORST_MS,
    );
    assert.equal(again.status, 201);
    test.diagnostic(`the key worked again after ${Math.round(performance.now() - lostAt)} ms`);
    assert.equal((await bearer(other.url, token)('GET', '/messages')).body.data.length, 1);
  });

  it('becomes usable immediately if the node that claimed it is gone, whatever the clocks show', async (test) => {
    const { home, other, sessionId, token } = await twoNodes(test);
    const call = bearer(other.url, token);
    const send = () =>
      call(
        'POST',
        '/messages/send',
        { sessionId, to: '491702222222', message: 'hello' },
        { 'idempotency-key': 'orphaned' },
      );
    const { body } = await send();
    const anHourAhead = Date.now() + 3_600_000;
    await queryOf(home)(`update idempotency_keys set owner = 'nod_gone', answer = null, created_at = ${anHourAhead}`);
    const again = await send();
    assert.deepEqual([again.status, again.body.messageId], [201, body.messageId]);
  });
});

/** A node whose connection to PostgreSQL may fail, and another one that owns the session. */
async function twoNodes(test: TestContext) {
  const home = await newHome('postgres');
  const line = await startFaultyLine();
  line.aim(new URL(home.databaseUrl));
  const through = new URL(home.databaseUrl);
  through.host = `127.0.0.1:${line.port}`;
  const env = { DATABASE_POOL_SIZE: '2' };
  const other = await startServer({ home, env });
  const dataDir = join(home.dataDir, 'asked');
  const asked = await startServer({
    home: { ...home, databaseUrl: through.href, dataDir },
    env: { ...env, NODE_ROLE: 'api' },
  });
  test.after(async () => {
    await asked.stop();
    await line.close();
    await other.stop();
    await home.remove();
  });
  const { token } = await other.account();
  const sessionId = await connectSession(bearer(other.url, token));
  return { home, line, asked, other, sessionId, token };
}

/** Commits the next transaction that claims a key, and drops the response. */
function loseAnswerToClaim(line: FaultyLine): void {
  const claiming = new Set<object>();
  line.onRequest((bytes, connection) => {
    const text = bytes.toString('latin1');
    if (text.includes('insert into "idempotency_keys"') || text.includes('insert into idempotency_keys'))
      claiming.add(connection);
    // In the simple protocol: a `Q`, a length, and the text.
    if (text.includes('commit\0') && claiming.has(connection)) {
      connection.loseAnswer();
      line.onRequest(() => {});
    }
  });
}
