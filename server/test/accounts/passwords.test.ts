import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import { it, type TestContext } from 'node:test';
import { LoginDevices } from '../../src/auth/loginDevices.ts';
import { type Guess, LoginLimit } from '../../src/auth/loginLimit.ts';
import { networkOf } from '../../src/auth/network.ts';
import { PasswordRules } from '../../src/auth/passwordRules.ts';
import { PasswordHasher } from '../../src/auth/passwords.ts';
import { openDatabase } from '../../src/db/database.ts';
import { AppError } from '../../src/errors.ts';
import { createLog } from '../../src/log.ts';
import { describeOnEachDatabase, newHome } from '../support/databases/databases.ts';
import { createFakeClock } from '../support/fakeClock.ts';
import { startServer } from '../support/server.ts';

function newHasher(test: TestContext): PasswordHasher {
  // A busy machine may take longer than the server lets a password wait.
  const hasher = new PasswordHasher({ timeoutMs: 250_000 });
  test.after(() => hasher.stop());
  return hasher;
}

const isTooBusy = (error: unknown) => error instanceof AppError && error.code === 'too_busy';
const countRefused = async (work: readonly Promise<unknown>[]) =>
  (await Promise.allSettled(work)).filter((one) => one.status === 'rejected' && isTooBusy(one.reason)).length;

it('hashes and verifies passwords', async (test) => {
  const hasher = newHasher(test);
  const stored = await hasher.hash('correct horse battery', '192.0.2.1');
  assert.match(stored, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  assert.equal(await hasher.verify('correct horse battery', stored, '192.0.2.1'), true);
  assert.equal(await hasher.verify('wrong', stored, '192.0.2.1'), false);
  assert.equal(await hasher.verify('correct horse battery', undefined, '192.0.2.1'), false);
  await assert.rejects(hasher.verify('any', 'no hash at all', '192.0.2.1'), /hashing a password failed/);
});

/** The threads of libuv, which serve files among others. If hashes could exceed them, they would block files. */
const POOL_THREADS = 4;

it('reads files while passwords are hashed, however many are queued', async (test) => {
  const hasher = newHasher(test);
  let left = 12;
  const hashes = Array.from({ length: left }, () => hasher.hash('x', '192.0.2.1').then(() => left--));
  let readMeanwhile = 0;
  while (left > POOL_THREADS) {
    const before = left;
    await stat(import.meta.filename);
    if (left === before) readMeanwhile++;
  }
  assert.ok(readMeanwhile > 0, 'reads waited for hashes');
  await Promise.all(hashes);
});

it('queues 32 passwords beyond the two in progress, and rejects more', async (test) => {
  const hasher = newHasher(test);
  const work = Array.from({ length: 40 }, (_, n) => hasher.hash('x', `192.0.2.${n}`));
  assert.equal(await countRefused(work), 6);
});

it('leaves half of the queue to others when one network fills its share', async (test) => {
  const hasher = newHasher(test);
  const flood = Array.from({ length: 30 }, (_, n) => hasher.hash('x', `2001:db8::${n}`));
  const other = hasher.hash('x', '2001:db8:0:1::1');
  assert.equal(await countRefused(flood), 12);
  await other;
});

it('hashes a password in another thread when its thread exits before it has started', {
  timeout: 300_000,
}, async (test) => {
  const hasher = newHasher(test);
  process.once('worker', (thread) => void thread.terminate());
  assert.match(await hasher.hash('x', '192.0.2.1'), /^\$argon2id/);
});

it('rejects queued passwords when it stops', async () => {
  const hasher = new PasswordHasher();
  const work = Array.from({ length: 4 }, () => hasher.hash('x', '192.0.2.1'));
  const ended = Promise.allSettled(work);
  await hasher.stop();
  for (const one of await ended) assert.equal(one.status === 'rejected' && one.reason.code, 'shutting_down');
  await hasher.stop();
});

it('reads the common passwords again after a failed read', async () => {
  const lists = [Promise.reject(new Error('too many open files')), Promise.resolve(new Set(['correct horse']))];
  const rules = new PasswordRules(async () => lists.shift() ?? assert.fail('read again without need'));
  const check = () => rules.weaknessOf('correct horse', 'you@example.com');
  await assert.rejects(check(), /too many open files/);
  for (const _ of [1, 2]) assert.equal((await check())?.code, 'common_password');
});

it('returns 503 with Retry-After on too many concurrent logins, without counting guesses', async (test) => {
  const server = await startServer({ env: { LOGIN_RATE_LIMIT: '2' }, clock: createFakeClock() });
  test.after(() => server.stop());
  const { email } = await server.account();
  const login = (password: string) => server.call('POST', '/auth/login', { email, password });
  const { passwords } = server.app.services;
  const verify = passwords.verify.bind(passwords);
  const others: Promise<unknown>[] = [];
  const crowded = test.mock.method(passwords, 'verify', (...args: Parameters<typeof verify>) => {
    // As many as may queue, from the same address.
    for (let n = 0; n < 18; n++) others.push(passwords.hash('x', args[2]).catch(() => {}));
    return verify(...args);
  });
  for (let n = 0; n < 5; n++) {
    const { status, body, headers } = await login('wrong');
    assert.deepEqual([status, body.code, headers.get('retry-after')], [503, 'too_busy', '2']);
  }
  crowded.mock.restore();
  await Promise.all(others);
  assert.equal((await login('correct horse battery')).status, 200);
});

it('counts an IPv6 network as one address', () => {
  assert.equal(networkOf('203.0.113.7'), '203.0.113.7');
  assert.equal(networkOf('::ffff:203.0.113.7'), '203.0.113.7');
  assert.equal(networkOf('2001:db8:1:2:3:4:5:6'), networkOf('2001:db8:1:2::9'));
  assert.notEqual(networkOf('2001:db8:1:2::1'), networkOf('2001:db8:1:3::1'));
  assert.equal(networkOf('fe80::1%eth0'), networkOf('fe80::2'));
  assert.equal(networkOf('no address'), 'no address');
});

it('a registration that was not stored does not count against its address', async (test) => {
  const server = await startServer({ env: { LOGIN_RATE_LIMIT: '1', REGISTRATION_RATE_LIMIT: '1' } });
  test.after(() => server.stop());
  const account = { email: 'you@example.com', password: 'correct horse battery' };
  const register = async () => (await server.call('POST', '/auth/register', account)).status;
  const { database } = server.app.services;
  const run = (statement: string) => database.commit(({ connection }) => connection.query(statement, []));
  await run(`create trigger refuse before insert on accounts begin select raise(abort, 'refused'); end`);
  assert.deepEqual([await register(), await register()], [500, 500]);
  await run('drop trigger refuse');
  assert.equal(await register(), 201);
});

it('a registration that loses a race for its email does not count against its address', async (test) => {
  const server = await startServer({ env: { REGISTRATION_RATE_LIMIT: '2' } });
  test.after(() => server.stop());
  const register = async (email: string) =>
    (await server.call('POST', '/auth/register', { email, password: 'correct horse battery' })).status;
  const both = await Promise.all(['one@example.com', 'one@example.com'].map(register));
  assert.deepEqual(both.toSorted(), [201, 409]);
  assert.equal(await register('two@example.com'), 201);
});

it('a browser that logged in before gets in while strangers exhaust the limits of its address', async (test) => {
  const server = await startServer({ env: { LOGIN_RATE_LIMIT: '1' } });
  test.after(() => server.stop());
  const { email } = await server.account();
  const dashboard = { 'x-switchboard-dashboard': '1' };
  const login = (password: string, headers: Record<string, string> = {}) =>
    server.call('POST', '/auth/login', { email, password }, headers);
  const { headers } = await login('correct horse battery', dashboard);
  const set = headers.getSetCookie().find((cookie) => cookie.startsWith('switchboard-device='));
  assert.match(set ?? '', /; Path=\/; Max-Age=31536000; HttpOnly; SameSite=Strict$/);
  const device = { ...dashboard, cookie: set?.split(';', 1)[0] ?? '' };
  assert.equal((await login('wrong')).status, 401);
  assert.equal((await login('correct horse battery', dashboard)).status, 429);
  assert.equal((await login('correct horse battery', device)).status, 200);
  assert.equal((await login('wrong', device)).status, 401);
  assert.equal((await login('wrong', device)).status, 429, 'guesses with a stolen token are limited');
});

it('rejects common passwords', async () => {
  const rules = new PasswordRules();
  const codeOf = async (password: string) => (await rules.weaknessOf(password, 'jane.doe@example.com'))?.code;
  for (const password of [
    'qwertyuiop',
    'QwertyUiop',
    'Sunshine2026!',
    '!!password12',
    'passwordpassword',
    'abc123abc123',
    'ｐａｓｓｗｏｒｄ１２',
    'switchboard',
    'Switchboard1',
  ])
    assert.equal(await codeOf(password), 'common_password', password);
  for (const password of ['aaaaaaaaaa', '1212121212', 'abcdefghijkl', '9876543210', ' '.repeat(20)])
    assert.equal(await codeOf(password), 'simple_password', password);
  for (const password of ['jane.doe@example.com', 'Jane.Doe@Example.com', 'jane.doe123', 'JANE.DOE!!'])
    assert.equal(await codeOf(password), 'email_as_password', password);
  for (const password of ['correct horse battery', 'tr0ub4dor&3x', '8f2k9d7s1q', 'eine kurze Zeile', 'пароль из слов'])
    assert.equal(await codeOf(password), undefined, password);
  assert.equal((await rules.weaknessOf('short and long', 'a@example.com'))?.code, undefined, 'a name of one letter');
});

it('an account whose older password is too short still logs in', async (test) => {
  const server = await startServer();
  test.after(() => server.stop());
  const { email, accountId } = await server.account();
  const { passwords, database } = server.app.services;
  const password_hash = await passwords.hash('8 letter', '192.0.2.1');
  await database.commit(({ kysely }) =>
    kysely.updateTable('accounts').set({ password_hash }).where('account_id', '=', accountId).execute(),
  );
  assert.equal((await server.call('POST', '/auth/login', { email, password: '8 letter' })).status, 200);
});

it('warns at startup if strangers can reach it and register', async () => {
  const warningsWith = async (env: Record<string, string>) => {
    const lines: string[] = [];
    const log = createLog('warn', { write: (line: string) => void lines.push(line) });
    const server = await startServer({ env, log });
    await server.stop();
    return lines.filter((line) => line.includes('REGISTRATION=closed')).length;
  };
  assert.equal(await warningsWith({}), 0);
  assert.equal(await warningsWith({ PUBLIC_URL: 'https://gateway.example' }), 1);
  assert.equal(await warningsWith({ PUBLIC_URL: 'https://gateway.example', REGISTRATION: 'closed' }), 0);
  assert.equal(await warningsWith({ TRUST_PROXY: 'on' }), 1);
  assert.equal(await warningsWith({ ALLOWED_HOSTS: 'gateway.example' }), 1);
});

it('concurrent logins with the right password do not count as failures', async (test) => {
  const server = await startServer({ env: { LOGIN_RATE_LIMIT: '3' } });
  test.after(() => server.stop());
  const { email } = await server.account();
  const login = (password: string) => server.call('POST', '/auth/login', { email, password });
  const all = await Promise.all(Array.from({ length: 8 }, () => login('correct horse battery')));
  assert.deepEqual(
    all.map(({ status }) => status),
    Array.from({ length: 8 }, () => 200),
  );
  const wrong = await Promise.all(Array.from({ length: 5 }, () => login('wrong')));
  assert.deepEqual(wrong.map(({ status }) => status).sort(), [401, 401, 401, 429, 429]);
});

it('queues 32 logins of one account and network, and rejects more', async (test) => {
  const home = await newHome('sqlite');
  const database = await openDatabase(home, createFakeClock());
  test.after(async () => {
    await database.close();
    await home.remove();
  });
  const limit = new LoginLimit(database, { loginsPerMinute: 0, registrationsPerHour: 0 }, createFakeClock());
  const { promise, resolve } = Promise.withResolvers<void>();
  const me = { email: 'me@example.com', address: '192.0.2.1' };
  const waiting = Array.from({ length: 32 }, () => limit.guess(me, () => promise));
  await assert.rejects(
    limit.guess(me, () => promise),
    isTooBusy,
  );
  await limit.guess({ ...me, address: '192.0.2.2' }, async () => {});
  resolve();
  await Promise.all(waiting);
  await limit.guess(me, async () => {});
});

it('recognizes a device by a token issued for its account on this server', () => {
  const devices = new LoginDevices('the secret of this test');
  const token = devices.issue('me@example.com');
  assert.equal(devices.recognize('me@example.com', token), token.split('.')[0]);
  assert.equal(devices.recognize('other@example.com', token), undefined);
  assert.equal(new LoginDevices('another secret').recognize('me@example.com', token), undefined);
  for (const damaged of [undefined, '', 'x', `${token}x`, `A${token.slice(1)}`])
    assert.equal(devices.recognize('me@example.com', damaged === token ? 'x' : damaged), undefined);
});

describeOnEachDatabase('limits of logins', (newHome) => {
  async function newLimit(test: TestContext, limits: { loginsPerMinute?: number; registrationsPerHour?: number }) {
    const home = await newHome();
    const clock = createFakeClock();
    const database = await openDatabase(home, clock);
    test.after(async () => {
      await database.close();
      await home.remove();
    });
    return {
      clock,
      limit: new LoginLimit(database, { loginsPerMinute: 0, registrationsPerHour: 0, ...limits }, clock),
    };
  }
  const isLimited = (error: unknown) => error instanceof AppError && error.code === 'rate_limited';
  const wrong = async () => {};
  const right = (guess: Guess) => guess.wasRight();

  it('successful logins count for their address', async (test) => {
    const address = '203.0.113.1';
    const { limit, clock } = await newLimit(test, { loginsPerMinute: 1 });
    for (let n = 0; n < 20; n++) await limit.guess({ email: `${n}@example.com`, address }, right);
    await assert.rejects(limit.guess({ email: '21@example.com', address }, wrong), isLimited);
    await limit.guess({ email: '21@example.com', address: '203.0.113.2' }, wrong);
    await clock.advance(3000);
    await limit.guess({ email: '22@example.com', address }, wrong);
  });

  it('guesses from many networks lock out strangers, but not a network or device of the owner', async (test) => {
    const { limit, clock } = await newLimit(test, { loginsPerMinute: 1 });
    const email = 'owner@example.com';
    const home = { email, address: '2001:db8:1::1' };
    await limit.guess(home, right);
    for (let n = 0; n < 10; n++) await limit.guess({ email, address: `203.0.113.${n}` }, wrong);
    await assert.rejects(limit.guess({ email, address: '203.0.113.99' }, wrong), isLimited);
    await limit.guess({ email, address: '203.0.113.99', device: 'phone' }, right);
    await limit.guess({ email, address: '2001:db8:1::2' }, right);
    await limit.guess({ email, address: '203.0.113.99' }, wrong); // where the owner has logged in before
    await limit.guess({ email: 'other@example.com', address: '203.0.113.98' }, wrong);
    await clock.advance(91 * 24 * 3_600_000);
    for (let n = 0; n < 10; n++) await limit.guess({ email, address: `203.0.113.${n}` }, wrong);
    await assert.rejects(limit.guess(home, wrong), isLimited, 'networks are not remembered');
  });

  it('a device of the owner gets in while guesses exhaust the limit of its address', async (test) => {
    const { limit } = await newLimit(test, { loginsPerMinute: 1 });
    const guesser = { email: 'owner@example.com', address: '203.0.113.1' };
    await limit.guess(guesser, wrong);
    await assert.rejects(limit.guess(guesser, wrong), isLimited);
    await limit.guess({ ...guesser, device: 'phone' }, wrong);
    await assert.rejects(limit.guess({ ...guesser, device: 'phone' }, wrong), isLimited, 'its guesses are limited too');
  });

  it('registrations are limited per address and hour, and an IPv6 network counts as one address', async (test) => {
    const { limit, clock } = await newLimit(test, { registrationsPerHour: 3 });
    for (let n = 0; n < 3; n++) await limit.takeRegistration(`2001:db8::${n}`);
    await assert.rejects(limit.takeRegistration('2001:db8::9'), isLimited);
    await limit.takeRegistration('2001:db8:0:1::1');
    await clock.advance(20 * 60_000);
    const taken = await limit.takeRegistration('2001:db8::a');
    await assert.rejects(limit.takeRegistration('2001:db8::b'), isLimited);
    await taken.refund();
    await limit.takeRegistration('2001:db8::b');
  });
});
