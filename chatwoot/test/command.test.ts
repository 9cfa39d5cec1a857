import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { newPerson, spawnCli } from '../../server/test/cli/support.ts';
import { openScene } from './scene.ts';

describe('switchboard chatwoot', () => {
  it('lists what is missing', async (test) => {
    const person = newPerson();
    test.after(() => person.remove());
    const command = spawnCli(person, ['chatwoot'], { CHATWOOT_URL: 'https://chat.example.com' });
    await once(command.child, 'close');
    assert.equal(command.child.exitCode, 1);
    assert.match(command.output.stderr, /CHATWOOT_TOKEN \(or `chatwootToken` in the file\) is required\n/);
    assert.match(command.output.stderr, /The bridge has ended/);
  });

  it('sets up and runs the bridge, and stops it', async (test) => {
    const person = newPerson();
    const { settings, bridge, sessionId } = await openScene(test);
    test.after(() => person.remove());
    await bridge.stop();
    const env = {
      SWITCHBOARD_URL: settings.switchboardUrl,
      SWITCHBOARD_KEY: settings.switchboardKey,
      CHATWOOT_URL: settings.chatwootUrl,
      CHATWOOT_TOKEN: settings.chatwootToken,
      CHATWOOT_ACCOUNT_ID: '1',
      CHATWOOT_INBOXES: sessionId,
      CHATWOOT_BRIDGE_PORT: String(settings.port),
      CHATWOOT_BRIDGE_DATABASE: settings.database,
    };
    const setUp = spawnCli(person, ['chatwoot', 'init'], env);
    await once(setUp.child, 'close');
    assert.match(setUp.output.stdout, /Ready\. Start the bridge with: switchboard chatwoot/);
    assert.equal(setUp.child.exitCode, 0);
    const running = spawnCli(person, ['chatwoot'], env);
    await running.waitFor(/bridge started/);
    const health = await fetch(`${settings.url}/health`);
    assert.deepEqual(await health.json(), { status: 'ok', waiting: { toChatwoot: 0, toWhatsapp: 0 } });
    assert.equal(await running.end('SIGTERM'), 0);
    await assert.rejects(fetch(`${settings.url}/health`), 'the bridge has ended too');
    for (const secret of [settings.switchboardKey, settings.chatwootToken])
      assert.ok(!JSON.stringify([setUp.output, running.output]).includes(secret), 'a secret was printed');
  });
});
