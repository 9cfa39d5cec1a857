import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startReceiver } from '../support/connections/receiver.ts';
import { eventually } from '../support/eventually.ts';
import { type Call, connectSession, newNumber, startServer, type TestServer } from '../support/server.ts';
import { cli, newPerson, PASSWORD, type Person, type RunOptions, spawnCli } from './support.ts';

const isHostile = (text: string) => ['\x1b', '\x07', '\x9b', '\u202e'].some((one) => text.includes(one));

describe('the commands of switchboard', () => {
  let server: TestServer;
  let person: Person;
  let call: Call;
  let email: string;
  let alice: string;
  let bob: string;
  const [aliceNumber, bobNumber] = [newNumber(), newNumber()];
  before(async () => {
    server = await startServer();
    person = newPerson();
    ({ call, email } = await server.account());
    alice = await connectSession(call, aliceNumber, { name: 'alice' });
    bob = await connectSession(call, bobNumber, { name: 'bob' });
    await run(['login', '--url', server.url, '--email', email], { env: { SWITCHBOARD_PASSWORD: PASSWORD } });
  });
  after(async () => {
    await server.stop();
    person.remove();
  });
  const run = (args: readonly string[], options?: RunOptions) => cli(person, args, options);
  const jsonOf = async (...args: string[]) => (await run([...args, '--json'])).json;
  const send = (...args: string[]) => run(['send', bobNumber, ...args, '--session', alice]);

  it('print help and version, and refuse wrong arguments with exit code 2', async () => {
    const help = await run(['--help']);
    assert.deepEqual([help.code, help.stderr], [0, '']);
    for (const word of ['listen', 'SWITCHBOARD_KEY', 'Exit codes:']) assert.ok(help.stdout.includes(word), word);
    assert.match((await run(['--version'])).stdout, /^\d+\.\d+\.\d+\n$/);
    for (const [args, problem] of [
      [[], 'Usage: switchboard'],
      [['sessions'], 'Usage: switchboard sessions'],
      [['sesions'], "Unknown command 'sesions'\n(Did you mean sessions?)"],
      [['send'], "Missing required argument 'to'"],
      [['listen'], "Required option '--forward-to <url>'"],
      [['send', '1', 'x', '--wait', 'never'], "Option '--wait <status>' argument 'never' is invalid"],
      [['messages', '--limit', '201'], "Option '--limit <n>' argument '201' is invalid. Pass a whole number from 1 to"],
      [['tail', '--events', 'a,,b'], 'Option'],
      [['listen', '--forward-to', 'http://localhost:1', '--include', 'chat,all'], 'Allowed groups of --include are'],
      [['listen', '--forward-to', 'localhost:3000'], 'Pass --forward-to a URL'],
      [['listen', '--forward-to', 'http://a:b@localhost'], 'Pass --forward-to a URL'],
      [['doctor', 'msg_1'], 'msg_1 is not the id of a delivery'],
      [['webhooks', 'replay'], 'Name deliveries'],
      [['sessions', 'delete', alice], 'This deletes ses_'],
      [['sessions', 'create', '--options', '[1]'], 'Pass --options a JSON object'],
    ] as const) {
      const { code, stdout, stderr } = await run(args);
      assert.deepEqual([code, stdout], [2, ''], args.join(' '));
      assert.ok(stderr.startsWith(problem), stderr);
      const json = await run([...args, '--json']);
      assert.deepEqual([json.code, json.stdout, JSON.parse(json.stderr).error.code], [2, '', 'usage'], args.join(' '));
    }
  });

  it('have an exit code for each kind of failure, and report it as JSON', async () => {
    const { key } = (await call('POST', '/api-keys/create', { name: 'x', permissions: ['sessions:read'] })).body;
    for (const [args, env, exitCode, error] of [
      [['sessions', 'get', 'ses_none'], {}, 4, 'not_found'],
      [['sessions', 'get', ''], {}, 2, 'usage'],
      [['webhooks', 'test', '..'], {}, 2, 'usage'],
      [['messages'], { SWITCHBOARD_KEY: key }, 6, 'permission_denied'],
      [['messages'], { SWITCHBOARD_KEY: 'wrong' }, 3, 'unauthorized'],
      [['send', bobNumber, 'x'], {}, 1, 'session_required'],
      [['messages'], { SWITCHBOARD_URL: 'http://127.0.0.1:9', SWITCHBOARD_KEY: 'x' }, 5, 'unreachable'],
      [['messages', '--profile', 'none'], {}, 3, 'unauthenticated'],
      [['tail'], { SWITCHBOARD_URL: 'http://127.0.0.1:9', SWITCHBOARD_KEY: 'x' }, 5, 'unreachable'],
      [['export', join(person.configFile, 'x')], {}, 1, 'failed'],
    ] as const) {
      const { code, stdout, stderr } = await run([...args, '--json'], { env: { SWITCHBOARD_URL: server.url, ...env } });
      assert.deepEqual([code, stdout, JSON.parse(stderr).error.code], [exitCode, '', error], args.join(' '));
      const text = await run(args, { env: { SWITCHBOARD_URL: server.url, ...env } });
      assert.equal(text.code, exitCode);
      assert.match(text.stderr, /^[A-Z`/].*\n$/s);
    }
  });

  it('create, connect, disconnect and delete a session', async () => {
    const { sessionId } = await jsonOf('sessions', 'create', '--name', 'third', '--network', 'sandbox');
    const connected = await run(['sessions', 'connect', sessionId]);
    assert.deepEqual([connected.code, /^Status +connected$/m.test(connected.stdout)], [0, true]);
    const listed = await run(['sessions', 'list']);
    assert.match(listed.stdout, /^SESSION +STATUS +NETWORK +NUMBER +NAME\n/);
    assert.match(listed.stdout, new RegExp(`^${sessionId} +connected +sandbox +\\d+ +third$`, 'm'));
    const { data, nextCursor } = await jsonOf('sessions', 'list', '--limit', '1');
    assert.deepEqual([data.length, data[0].sessionId], [1, sessionId]);
    assert.equal((await jsonOf('sessions', 'list', '--cursor', nextCursor)).data.length, 2);
    assert.equal((await jsonOf('sessions', 'disconnect', sessionId)).status, 'disconnected');
    assert.equal((await jsonOf('sessions', 'get', sessionId)).status, 'disconnected');
    assert.equal((await jsonOf('sessions', 'delete', sessionId, '--yes')).deleted, true);
    assert.equal((await run(['sessions', 'get', sessionId])).code, 4);
  });

  it('show the QR code of a session until a phone is linked', async () => {
    const options = '{"pairing": true}';
    for (const isTerminal of [true, false]) {
      const created = await run(['sessions', 'create', '--options', '-', '--json'], { stdin: options });
      const { sessionId } = created.json;
      let isPaired = false;
      const connecting = run(['sessions', 'connect', sessionId], {
        isTerminal,
        onOutput: (text) => {
          if (isPaired || !text.includes('Scan this code')) return;
          isPaired = true;
          void call('POST', `/sessions/${sessionId}/simulate`, { action: 'pair' });
        },
      });
      const { code, stdout } = await connecting;
      assert.equal(code, 0);
      assert.equal(stdout.includes('\x1b['), isTerminal, 'colors are for terminals');
      assert.match(stdout, /[▀▄█]{10}/);
      assert.match(stdout, /connected/);
      await call('DELETE', `/sessions/${sessionId}`);
    }
  });

  it('show a pairing code in place of the QR code, or return at once', async () => {
    const { sessionId } = await jsonOf('sessions', 'create', '--options', '{"pairing": true}');
    const at = await run(['sessions', 'connect', sessionId, '--pairing-code', '491709999999', '--no-wait', '--json']);
    const [code, session] = at.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.deepEqual([at.code, code.type, session.status], [0, 'pairingCode', 'awaiting_pairing']);
    const qr = await run(['sessions', 'connect', sessionId, '--no-wait', '--json']);
    assert.equal(JSON.parse(qr.stdout.split('\n')[0] ?? '').type, 'qr');
    const stop = new AbortController();
    const waiting = await run(['sessions', 'connect', sessionId], { stop: stop.signal, onOutput: () => stop.abort() });
    assert.equal(waiting.code, 130);
    await call('DELETE', `/sessions/${sessionId}`);
  });

  it('send text, text from standard input, and a file, and wait for a status', async () => {
    const { code, stdout } = await send('Hello', '--wait', 'delivered');
    assert.equal(code, 0);
    const [, id = ''] = /^(msg_\w+) delivered\n$/.exec(stdout) ?? [];
    assert.equal((await call('GET', `/messages/${id}`)).body.message, 'Hello');

    const piped = await run(['send', bobNumber, '-', '--session', alice, '--json'], { stdin: 'two\nlines\n' });
    assert.equal(piped.json.message, 'two\nlines');
    const longest = '\u{1f4e8}'.repeat(65_536);
    const long = await run(['send', bobNumber, '-', '--session', alice, '--json'], { stdin: `${longest}\r\n` });
    assert.equal(long.json.message, longest);
    const tooLong = await run(['send', bobNumber, '-', '--session', alice], { stdin: 'x'.repeat(300_000) });
    assert.deepEqual([tooLong.code, tooLong.stderr], [2, 'Standard input has more than 262146 bytes.\n']);

    const path = join(person.home, 'note.txt');
    writeFileSync(path, 'content');
    const file = await jsonOf('send', bobNumber, 'look', '--file', path, '--session', alice);
    assert.deepEqual([file.type, file.message, file.media.fileName], ['document', 'look', 'note.txt']);

    const later = await jsonOf('send', bobNumber, 'x', '--at', '2099-01-01T00:00:00Z', '--session', alice).catch(
      (e) => e,
    );
    assert.ok(later instanceof SyntaxError, 'too far ahead: the server refuses it');
    const at = new Date(Date.now() + 3_600_000).toISOString();
    assert.equal((await jsonOf('send', bobNumber, 'x', '--at', at, '--session', alice)).status, 'scheduled');
    assert.equal((await send('x', '--at', at, '--wait', 'read')).code, 2);
    assert.equal((await send('x', '--file', join(person.home, 'missing'))).code, 1);
    assert.equal((await send('', '--json')).code, 2);

    const keyed = [await send('once', '--idempotency-key', 'k1'), await send('once', '--idempotency-key', 'k1')];
    assert.equal(keyed[0]?.stdout, keyed[1]?.stdout);
  });

  it('fail if a message does not reach the status in time, or fails', async () => {
    const late = await send('unread', '--wait', 'read', '--timeout', '1');
    assert.equal(late.code, 1);
    assert.match(late.stderr, /^The message is (sent|delivered), not read, after 1 s\.\n$/);
    assert.match(late.stdout, /^msg_\w+ (sent|delivered)\n$/);
  });

  it('print a message that was sent, although the wait was interrupted', async () => {
    const args = ['send', bobNumber, 'unread', '--session', alice, '--wait', 'read'];
    const { code, stdout } = await run(args, { stop: AbortSignal.abort() });
    assert.equal(code, 130);
    assert.match(stdout, /^msg_\w+ \w+\n$/);
  });

  it('list messages and chats, without what a stranger wrote for the terminal', async () => {
    await call('POST', `/sessions/${bob}/simulate`, {
      action: 'incoming',
      from: '491708888888',
      message: '\x1b]0;owned\x07\x1b[2Jclean\nme \x9b31m\u202eright',
    });
    const args = ['messages', '--session', bob, '--chat', '491708888888'];
    const { stdout } = await run(args, { isTerminal: true, env: { NO_COLOR: '1' } });
    assert.match(stdout, /491708888888.* clean me right\n$/);
    assert.ok(!isHostile(stdout));
    const chats = await run(['chats', '--session', bob]);
    assert.match(chats.stdout, /^491708888888 +direct +1 +\S+ +clean me right$/m);
    const { stdout: json } = await run([...args, '--json'], { isTerminal: true });
    assert.ok(!isHostile(json));
    assert.ok(isHostile(JSON.parse(json).data[0].message));
    const colored = await run(['sessions', 'list'], { isTerminal: true });
    assert.ok(colored.stdout.includes('\x1b[32mconnected'));
    const plain = await run(['sessions', 'list'], { isTerminal: true, env: { NO_COLOR: '1' } });
    assert.ok(!plain.stdout.includes('\x1b'));
  });

  it('show events as they happen, and continue where they stopped', async () => {
    const tail = spawnCli(person, ['tail', '--session', alice, '--json']);
    // Events of before the stream begins are not shown, so it gets new ones until one arrives.
    const sending = (async () => {
      while (tail.output.stdout === '') await send('for tail');
    })();
    const [line] = await tail.waitFor(/^\{.*\}$/m);
    await sending;
    const event = JSON.parse(line);
    assert.match(event.id, /evt_/);
    assert.equal(event.data.sessionId, alice);
    assert.equal(await tail.end('SIGINT'), 0);

    const later = spawnCli(person, ['tail', '--after', event.id, '--events', 'message.*,session.connected']);
    const [, id] = await later.waitFor(/^(\S+) {2}message\.\w+ .*$/m);
    assert.ok((id ?? '') > event.id);
    assert.equal(await later.end('SIGTERM'), 0);
    assert.match(later.output.stderr, /Continue here with: --after \d+\.evt_/);
  });

  it('set and test a webhook, and explain a delivery', async () => {
    const receiver = await startReceiver();
    const set = await run(['webhooks', 'set', receiver.url, '--events', 'message.sent', '--secret-stdin'], {
      stdin: 'a secret of sixteen\n',
    });
    assert.match(set.stdout, /^Secret {2}yes$/m);
    const tested = await run(['webhooks', 'test']);
    assert.deepEqual([tested.code, /^http +ok/m.test(tested.stdout)], [0, true]);
    receiver.respond(500);
    const failing = await run(['webhooks', 'test', '--event', 'message.sent']);
    assert.deepEqual([failing.code, failing.stderr], [1, 'Answered 500\n']);
    assert.match((await run(['webhooks', 'list'])).stdout, /whk_\w+ \(default\) +closed +yes +message\.sent/);

    await send('not delivered');
    const list = () => jsonOf('webhooks', 'deliveries', '--state', 'pending');
    const { data } = await eventually(list, (page) => page.data[0]?.attempts > 0);
    const [{ deliveryId, webhookId }] = data;
    const doctor = await run(['doctor', deliveryId]);
    assert.equal(doctor.code, 0);
    for (const text of [
      /^State +pending$/m,
      /Why +Attempt 1 failed/,
      /^1 +\S+ +server_error +500/m,
      /The receiver failed/,
    ])
      assert.match(doctor.stdout, text);
    const early = await run(['webhooks', 'replay', deliveryId]);
    assert.equal(early.code, 1);
    assert.match(early.stdout, new RegExp(`^Not replayed: ${deliveryId}\\. Attempt 1 failed`, 'm'));
    assert.deepEqual(Object.keys(await jsonOf('doctor', deliveryId)), ['delivery', 'webhook', 'breaker', 'advice']);
    assert.equal((await run(['doctor', 'dlv_none'])).code, 4);

    receiver.respond(200);
    await call('POST', `/webhooks/deliveries/${deliveryId}/cancel`);
    assert.match((await run(['doctor', deliveryId])).stdout, /switchboard webhooks replay dlv_/);
    assert.match((await run(['webhooks', 'reset', webhookId])).stdout, /breaker is closed/);
    assert.match((await run(['webhooks', 'replay', deliveryId])).stdout, /^1 deliveries are sent again\.\n$/);
    await receiver.waitFor((all) => all.some(({ parsed }) => parsed.data.messageId === data[0].messageId));
    receiver.respond(500); // so that the delivery is pending when its webhook is removed
    const unknown = await run(['webhooks', 'replay', deliveryId, 'dlv_none']);
    assert.deepEqual([unknown.code, /^Not replayed: dlv_none$/m.test(unknown.stdout)], [4, true]);
    await call('DELETE', '/webhooks');
    assert.match((await run(['doctor', deliveryId])).stdout, /The webhook was removed/);
    await receiver.close();
  });

  it('create, list and revoke keys with the password', async () => {
    const env = { SWITCHBOARD_PASSWORD: PASSWORD };
    const args = ['keys', 'create', 'for ci', '--permissions', 'messages:send', '--sessions', alice, '--quota', '5'];
    const created = await run(args, { env });
    assert.match(created.stdout, /^sb_\w+\n$/);
    const [key] = (await jsonOf('keys', 'list')).data;
    assert.deepEqual(
      [key.name, key.permissions, key.sessionIds, key.sendQuota],
      ['for ci', ['messages:send'], [alice], 5],
    );
    assert.ok(!(await run(['keys', 'list'])).stdout.includes(created.stdout.trim()));
    assert.equal((await run(['keys', 'revoke', key.keyId], { stdin: 'wrong' })).code, 3);
    assert.equal((await run(['keys', 'revoke', key.keyId], { answers: { 'Password of': `${PASSWORD}\r` } })).code, 0);
    assert.equal((await run(['keys', 'revoke', key.keyId], { env })).code, 4);
  });

  it('create keys that ask their user, and name a kind of call that does not exist', async () => {
    const env = { SWITCHBOARD_PASSWORD: PASSWORD };
    const create = (kinds: string) => run(['keys', 'create', 'careful', '--confirm', kinds], { env });
    assert.equal((await create('destructive, new_recipients')).code, 0);
    const [key] = (await jsonOf('keys', 'list')).data;
    assert.deepEqual(key.confirm, ['destructive', 'new_recipients']);
    for (const kinds of ['everything', 'destructive,', '']) {
      const { code, stderr } = await create(kinds);
      assert.equal(code, 2, kinds);
      assert.match(stderr, /Allowed are destructive and new_recipients|separated by commas/);
    }
    assert.equal((await run(['keys', 'revoke', key.keyId], { env })).code, 0);
  });

  it('end quietly if the reader of their output goes away', async () => {
    const tail = spawnCli(person, ['tail', '--events', '*', '--after', '0.evt_00000000000000000000000000']);
    await tail.waitFor(/evt_/);
    tail.child.stdout?.destroy();
    await eventually(
      async () => {
        await send('into a closed pipe');
        return tail.child.exitCode;
      },
      (code) => code !== null,
    );
    assert.deepEqual([tail.child.exitCode, tail.output.stderr], [0, '']);
  });
});
