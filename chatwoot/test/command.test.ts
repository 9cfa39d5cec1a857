import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { newPerson, spawnCli } from '../../server/test/cli/support.ts';
import { openScene } from './scene.ts';

const page = readFileSync(fileURLToPath(new URL('../../docs/chatwoot.md', import.meta.url)), 'utf8');

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

  it('runs the commands of the guide with its settings, and stops', async (test) => {
    const person = newPerson();
    const { settings, bridge, sessionId } = await openScene(test);
    test.after(() => person.remove());
    await bridge.stop();
    const file = join(person.home, 'chatwoot.json');
    const example = JSON.parse(page.match(/```json\n([\s\S]*?)```/)?.[1] ?? '');
    const written = {
      ...example,
      switchboardUrl: settings.switchboardUrl,
      switchboardKey: settings.switchboardKey,
      chatwootUrl: settings.chatwootUrl,
      chatwootToken: settings.chatwootToken,
      url: settings.url,
      urlForSwitchboard: settings.url,
      inboxes: [{ ...example.inboxes[0], sessionId }],
      port: settings.port,
      database: settings.database,
    };
    writeFileSync(file, JSON.stringify(written));
    const commands = [...page.matchAll(/```bash\n\s*switchboard (.*)\n/g)].map(([, command = '']) =>
      command.replace('chatwoot.json', file).split(' '),
    );
    assert.equal(commands.length, 2);
    const setUp = spawnCli(person, commands[0] ?? []);
    await once(setUp.child, 'close');
    assert.match(setUp.output.stdout, /Ready\. Start the bridge with: switchboard chatwoot/);
    assert.equal(setUp.child.exitCode, 0);
    const running = spawnCli(person, commands[1] ?? []);
    await running.waitFor(/bridge started/);
    const health = await fetch(`${settings.url}/health`);
    assert.deepEqual(await health.json(), { status: 'ok', waiting: { toChatwoot: 0, toWhatsapp: 0 } });
    assert.equal(await running.end('SIGTERM'), 0);
    await assert.rejects(fetch(`${settings.url}/health`), 'the bridge has ended too');
    const killed = spawnCli(person, commands[1] ?? []);
    await killed.waitFor(/bridge started/);
    killed.child.kill('SIGKILL');
    await once(killed.child, 'close');
    // The output of the bridge ends with it.
    await assert.rejects(fetch(`${settings.url}/health`), 'the bridge has ended after its parent was killed');
    for (const secret of [settings.switchboardKey, settings.chatwootToken])
      assert.ok(!JSON.stringify([setUp.output, running.output]).includes(secret), 'a secret was printed');
  });
});
