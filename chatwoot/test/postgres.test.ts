import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newHome } from '../../server/test/support/databases/databases.ts';
import { newNumber } from '../../server/test/support/server.ts';
import { DatabaseError } from '../src/database/database.ts';
import { openBridge, openScene, sentMessages } from './scene.ts';

describe('the bridge on PostgreSQL', () => {
  it('passes messages both ways and over a restart, for one process at a time', async (test) => {
    const home = await newHome('postgres');
    const scene = await openScene(test, { env: { CHATWOOT_BRIDGE_DATABASE: home.databaseUrl } });
    test.after(() => home.remove()); // after the bridge has stopped
    const { chatwoot, incoming, conversation, sent, settings } = scene;
    const from = newNumber();
    await incoming(from, 'Hello');
    await chatwoot.write(conversation(from).id, 'Hi');
    await sentMessages(sent, 1);
    await assert.rejects(openBridge(settings), DatabaseError);
    await scene.bridge.stop();
    scene.bridge = await openBridge(settings);
    await scene.bridge.start();
    const second = await incoming(from, 'Again');
    assert.equal(second.conversationId, conversation(from).id);
    await chatwoot.write(second.conversationId, 'Hi again');
    await sentMessages(sent, 2);
    assert.equal(chatwoot.messages.size, 4);
  });
});
