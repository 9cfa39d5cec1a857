import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Connector } from '../../src/connectors/contract/connector.ts';
import { nameUser } from '../../src/connectors/whatsapp-cloud/storedPeople.ts';
import type { Database } from '../../src/db/database.ts';
import { People } from '../../src/sessions/people.ts';
import { SessionConnectors } from '../../src/sessions/sessionConnectors.ts';
import { startServer } from '../support/server.ts';

it('makes a user id a contact after a crash between two transactions', async (t) => {
  const server = await startServer();
  t.after(() => server.stop());
  const { call } = await server.account();
  const { sessionId } = (await call('POST', '/sessions', { connector: 'sandbox' })).body;
  const { database } = server.app.services;
  const { account_id: accountId } = await database.reader.kysely
    .selectFrom('sessions')
    .select('account_id')
    .executeTakeFirstOrThrow();
  let crashAt = 0;
  const commit: Database['commit'] = (...args) => {
    if (--crashAt === 0) throw new Error('a crash');
    return database.commit(...args);
  };
  // Only what naming uses.
  const connectors = new Map([['sandbox', { nameUser } as unknown as Connector]]);
  const people = new People({ ...database, commit }, new SessionConnectors(database.reader, connectors));
  for (const step of [1, 2]) {
    const userId = `DE.99988${step}`;
    crashAt = step;
    await assert.rejects(people.name({ accountId, sessionId }, [userId]), /a crash/);
    assert.equal(await people.name({ accountId, sessionId }, [userId]), true);
    const { data } = (await call('GET', '/contacts')).body;
    assert.equal(data.filter((one: { userId: string }) => one.userId === userId).length, 1);
  }
});
