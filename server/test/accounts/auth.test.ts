import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { SignJWT, UnsecuredJWT } from 'jose';
import { describeOnEachDatabase } from '../support/databases/databases.ts';
import { createFakeClock } from '../support/fakeClock.ts';
import { type Answer, bearer, type Call, startAgain, startServer, type TestServer } from '../support/server.ts';

const PASSWORD = 'correct horse battery';
const SECRET = 'the secret of this test, which is long enough';
const HOUR_MS = 3_600_000;

describeOnEachDatabase('accounts and logins', (_, database) => {
  let server: TestServer;
  before(async () => {
    server = await startServer({ database, env: { JWT_SECRET: SECRET, LOGIN_RATE_LIMIT: '0' } });
  });
  after(() => server.stop());

  const register = (fields: object, call = server.call) => call('POST', '/auth/register', fields);
  const login = (email: string, password: string, call = server.call) =>
    call('POST', '/auth/login', { email, password });
  const meBy = (token: string) => bearer(server.url, token)('GET', '/auth/me');

  it('registration returns the account and a valid token', async () => {
    const answer = await register({ email: 'Me@Example.com', password: PASSWORD, name: 'Me' });
    assert.equal(answer.status, 201);
    const { token, tokenType, expiresAt, account } = answer.body;
    assert.deepEqual([tokenType, account.email, account.name], ['Bearer', 'me@example.com', 'Me']);
    assert.match(account.accountId, /^acc_/);
    assert.ok(Math.abs(Date.parse(expiresAt) - Date.now() - 12 * HOUR_MS) < 60_000);
    const me = await meBy(token);
    assert.deepEqual(me.body, { account, credential: { type: 'jwt', permissions: ['*'] } });
    assert.doesNotMatch(JSON.stringify([answer.body, me.body]), /password|argon|hash/i);
  });

  it('an email registers once, regardless of case, even concurrently', async () => {
    assert.equal((await register({ email: 'once@example.com', password: PASSWORD })).status, 201);
    const again = await register({ email: 'ONCE@Example.com', password: PASSWORD });
    assert.deepEqual([again.status, again.body.code], [409, 'email_taken']);
    const race = await Promise.all(
      Array.from({ length: 4 }, () => register({ email: 'race@example.com', password: PASSWORD })),
    );
    assert.deepEqual(race.map(({ status }) => status).sort(), [201, 409, 409, 409]);
  });

  it('registration names invalid emails, passwords and names', async () => {
    const good = { email: 'good@example.com', password: PASSWORD };
    const bad: [field: string, fields: object][] = [
      ['email', { ...good, email: 'nobody' }],
      ['email', { ...good, email: 'a b@example.com' }],
      ['email', { ...good, email: 'a@b@c' }],
      ['email', { ...good, email: `${'x'.repeat(250)}@y.z` }],
      ['email', { ...good, email: 'nul\0@example.com' }],
      ['email', { password: PASSWORD }],
      ['password', { ...good, password: '9 letters' }],
      ['password', { ...good, password: 'Password2026!' }],
      ['password', { ...good, password: 'good@example.com' }],
      ['password', { ...good, password: 'x'.repeat(257) }],
      ['password', { email: good.email }],
      ['name', { ...good, name: '' }],
      ['name', { ...good, name: 'x'.repeat(101) }],
      ['accountId', { ...good, accountId: 'acc_mine' }],
    ];
    for (const [field, fields] of bad) {
      const { status, body } = await register(fields);
      assert.deepEqual([status, body.errors?.[0]?.field], [400, field], JSON.stringify(fields));
    }
    assert.equal((await login(good.email, PASSWORD)).status, 401, 'no account was registered');
  });

  it('an unknown account and a wrong password get the same response after the same time', async () => {
    await register({ email: 'known@example.com', password: PASSWORD });
    const ask = async (email: string) => {
      const startedAt = performance.now();
      const answer = await login(email, 'wrong password');
      assert.equal(answer.status, 401);
      return { answer, ms: performance.now() - startedAt };
    };
    const [wrong, unknown] = [await ask('known@example.com'), await ask('unknown@example.com')];
    assert.equal(wrong.answer.body.code, 'invalid_credentials');
    const visible = ({ answer: { status, body, headers } }: { answer: Answer }) => {
      const { requestId: _, ...problem } = body;
      return { status, problem, headers: [...headers.keys()] };
    };
    assert.deepEqual(visible(wrong), visible(unknown));
    // Without a hash to compare with, it would be some 20 times faster.
    // The fastest of many shows the cost alone: a busy machine only ever adds to it, and without a hash the gap never
    // closes.
    let ofWrong = Number.POSITIVE_INFINITY;
    let ofUnknown = Number.POSITIVE_INFINITY;
    for (let n = 0; n < 200 && (n < 5 || ofUnknown <= ofWrong / 3); n++) {
      ofWrong = Math.min(ofWrong, (await ask('known@example.com')).ms);
      ofUnknown = Math.min(ofUnknown, (await ask('unknown@example.com')).ms);
    }
    assert.ok(ofUnknown > ofWrong / 3, `${ofUnknown} ms for an unknown account, ${ofWrong} ms for a wrong password`);
  });

  it('accepts a login token only as Bearer', async () => {
    const { token } = await server.account();
    for (const scheme of ['Bearer', 'bearer', 'BEARER ']) {
      const answer = await server.call('GET', '/auth/me', undefined, { authorization: `${scheme} ${token}` });
      assert.equal(answer.status, 200, scheme);
    }
    const { token: unused } = await server.account();
    for (const value of [token, unused]) {
      const what = value === token ? 'one that was just used as Bearer' : 'one that was never used';
      const refused = [
        await server.call('GET', '/auth/me', undefined, { authorization: value }),
        await server.call('GET', '/auth/me', undefined, { authorization: `Basic ${value}` }),
        await server.call('GET', '/auth/me', undefined, { 'x-api-key': value }),
        await server.call('GET', `/auth/me?key=${value}`),
      ];
      assert.deepEqual(
        refused.map(({ status }) => status),
        [401, 401, 401, 401],
        what,
      );
    }
  });

  it('a logout ends every token of the account, but no API keys and no other accounts', async () => {
    const [mine, other] = [await server.account(), await server.account()];
    const second = (await login(mine.email, PASSWORD)).body.token;
    const { key } = (await mine.call('POST', '/api-keys/create', { name: 'stays' })).body;
    assert.deepEqual((await meBy(second)).status, 200);
    const answer = await bearer(server.url, second)('POST', '/auth/logout');
    assert.deepEqual([answer.status, answer.body], [200, { loggedOut: true }]);
    assert.equal((await meBy(second)).status, 401);
    assert.equal((await meBy(mine.token)).status, 401);
    assert.equal((await meBy(key)).status, 200);
    assert.equal((await meBy(other.token)).status, 200);
    assert.equal((await meBy((await login(mine.email, PASSWORD)).body.token)).status, 200);
  });

  it('a password change ends the old password and all other tokens, and returns a new token', async () => {
    const { call, token, email } = await server.account();
    const { key } = (await call('POST', '/api-keys/create', { name: 'stays' })).body;
    const other = (await login(email, PASSWORD)).body.token;
    const change = (currentPassword: string, newPassword: string) =>
      call('POST', '/auth/password', { currentPassword, newPassword });
    const wrong = await change('not this one', 'a new long password');
    assert.deepEqual([wrong.status, wrong.body.errors[0].field], [400, 'currentPassword']);
    const short = await change(PASSWORD, 'short');
    assert.deepEqual([short.status, short.body.errors[0].field], [400, 'newPassword']);
    const common = await change(PASSWORD, 'qwertyuiop');
    assert.deepEqual([common.body.errors[0].field, common.body.errors[0].code], ['newPassword', 'common_password']);
    assert.equal((await meBy(token)).status, 200, 'a rejected change ends no token');

    const changed = await change(PASSWORD, 'a new long password');
    assert.equal(changed.status, 200);
    assert.equal((await meBy(token)).status, 401);
    assert.equal((await meBy(other)).status, 401);
    assert.equal((await meBy(changed.body.token)).status, 200);
    assert.equal((await meBy(key)).status, 200);
    assert.equal((await login(email, PASSWORD)).status, 401);
    assert.equal((await login(email, 'a new long password')).status, 200);
  });

  it('rejects a token that is forged, unsigned, damaged or of another kind', async () => {
    const { accountId, token } = await server.account();
    const claims = { ver: 1 };
    const soon = () => new SignJWT(claims).setIssuer('switchboard').setSubject(accountId).setExpirationTime('1h');
    const sign = (jwt: SignJWT, alg = 'HS256', secret = SECRET) =>
      jwt.setProtectedHeader({ alg }).sign(new TextEncoder().encode(secret));
    assert.equal((await meBy(await sign(soon()))).status, 200, 'valid when signed with the right secret');

    const [head, payload = '', signature] = token.split('.');
    const forOther = JSON.parse(Buffer.from(payload, 'base64url').toString());
    const swapped = Buffer.from(JSON.stringify({ ...forOther, sub: 'acc_somebody' })).toString('base64url');
    const noneHead = Buffer.from('{"alg":"none"}').toString('base64url');
    const bad: Record<string, string> = {
      'another secret': await sign(soon(), 'HS256', 'another secret, which is long enough too'),
      unsigned: new UnsecuredJWT(claims)
        .setIssuer('switchboard')
        .setSubject(accountId)
        .setExpirationTime('1h')
        .encode(),
      'alg none with a signature': `${noneHead}.${payload}.${signature}`,
      'another algorithm': await sign(soon(), 'HS512'),
      'another issuer': await sign(soon().setIssuer('somebody')),
      'an account that is none': await sign(soon().setSubject('acc_00000000000000000000000000')),
      'no expiry': await sign(new SignJWT(claims).setIssuer('switchboard').setSubject(accountId)),
      'an older version': await sign(
        new SignJWT({ ver: 0 }).setIssuer('switchboard').setSubject(accountId).setExpirationTime('1h'),
      ),
      'a version that is no number': await sign(
        new SignJWT({ ver: '1' }).setIssuer('switchboard').setSubject(accountId).setExpirationTime('1h'),
      ),
      expired: await sign(soon().setExpirationTime('-1s')),
      'another subject under the same signature': `${head}.${swapped}.${signature}`,
      'a damaged signature': `${token.slice(0, -5)}AAAAA`,
      'no signature': `${head}.${payload}.`,
      nonsense: 'nonsense',
      'nonsense that looks like a key': 'sb_nonsense',
    };
    for (const [what, value] of Object.entries(bad)) {
      const answer = await meBy(value);
      assert.deepEqual([answer.status, answer.body.code], [401, 'unauthorized'], what);
    }
  });
});

describeOnEachDatabase('logins over time', (_, database) => {
  const clock = createFakeClock();
  let server: TestServer;
  before(async () => {
    server = await startServer({ database, clock, env: { LOGIN_RATE_LIMIT: '3', TRUST_PROXY: 'on' } });
  });
  after(() => server.stop());

  let addresses = 0;
  /** A caller with an address of its own, as set by a proxy. */
  const newAddress = () => `203.0.113.${++addresses}`;
  const from =
    (address: string): Call =>
    (method, path, body) =>
      server.call(method, path, body, { 'x-forwarded-for': address });
  const login = (call: Call, email: string, password: string) => call('POST', '/auth/login', { email, password });
  async function newAccount(call: Call): Promise<string> {
    const email = `time${++addresses}@example.com`;
    const { status } = await call('POST', '/auth/register', { email, password: PASSWORD });
    assert.equal(status, 201);
    return email;
  }
  async function guess(call: Call, email: string, times: number): Promise<number[]> {
    const statuses: number[] = [];
    for (let n = 0; n < times; n++) statuses.push((await login(call, email, 'wrong')).status);
    return statuses;
  }

  it('a login token expires after 12 hours', async () => {
    const { call } = await server.account();
    await clock.advance(60_000);
    clock.set(clock.now() + 12 * HOUR_MS - 61_000);
    assert.equal((await call('GET', '/auth/me')).status, 200, 'one second before');
    clock.set(clock.now() + 1000);
    assert.equal((await call('GET', '/auth/me')).status, 401, 'even if it was used a second ago');
  });

  it('limits guesses per account, with the time of the next one in Retry-After', async () => {
    const call = from(newAddress());
    const email = await newAccount(call);
    assert.deepEqual(await guess(call, email, 3), [401, 401, 401]);
    const limited = await login(call, email, PASSWORD);
    assert.deepEqual([limited.status, limited.body.code], [429, 'rate_limited']);
    const seconds = Number(limited.headers.get('retry-after'));
    assert.ok(seconds >= 1 && seconds <= 60, String(seconds));
    await clock.advance(seconds * 1000);
    assert.equal((await login(call, email, PASSWORD)).status, 200);
  });

  it('limits guesses of the current password in the same way', async () => {
    const { call } = await server.account();
    const change = (currentPassword: string) =>
      call('POST', '/auth/password', { currentPassword, newPassword: PASSWORD });
    for (let n = 0; n < 3; n++) assert.equal((await change('wrong')).status, 400);
    assert.equal((await change(PASSWORD)).status, 429);
  });

  it('successful logins do not count', async () => {
    const call = from(newAddress());
    const email = await newAccount(call);
    for (let n = 0; n < 8; n++) assert.equal((await login(call, email, PASSWORD)).status, 200);
  });

  it('concurrent guesses are limited like sequential ones', async () => {
    const call = from(newAddress());
    const email = await newAccount(call);
    const statuses = (await Promise.all(Array.from({ length: 12 }, () => login(call, email, 'wrong')))).map(
      ({ status }) => status,
    );
    assert.equal(statuses.filter((status) => status === 401).length, 3);
  });

  it('an address can log in to other accounts until it has made ten times the guesses of one account', async () => {
    const call = from(newAddress());
    const victims: string[] = [];
    for (let n = 0; n < 10; n++) victims.push(await newAccount(call));
    const mine = await newAccount(call);
    for (const victim of victims) {
      assert.equal((await login(call, mine, PASSWORD)).status, 200);
      assert.deepEqual(await guess(call, victim, 3), [401, 401, 401]);
    }
    assert.equal((await login(call, mine, PASSWORD)).status, 429);
    assert.equal((await login(from(newAddress()), mine, PASSWORD)).status, 200, 'other addresses are not limited');
  });

  it('a stranger who keeps guessing does not lock the owner out', async () => {
    const [owner, stranger] = [from(newAddress()), from(newAddress())];
    const email = await newAccount(owner);
    const statuses = await guess(stranger, email, 60);
    assert.deepEqual(statuses.slice(0, 4), [401, 401, 401, 429]);
    assert.equal((await login(owner, email, PASSWORD)).status, 200);
  });

  it('rejected attempts do not count for others at the same address', async () => {
    const call = from(newAddress());
    const [guessed, mine] = [await newAccount(call), await newAccount(call)];
    await guess(call, guessed, 60);
    assert.equal((await login(call, mine, PASSWORD)).status, 200);
  });

  it('trusts only the address that the proxy itself adds', async () => {
    const real = newAddress();
    const email = await newAccount(from(real));
    const statuses: number[] = [];
    for (let n = 0; n < 4; n++) statuses.push((await login(from(`198.51.100.${n}, ${real}`), email, 'wrong')).status);
    assert.deepEqual(statuses, [401, 401, 401, 429]);
  });

  it('ignores X-Forwarded-For without a proxy', async (test) => {
    const direct = await startServer({ database, env: { LOGIN_RATE_LIMIT: '3' } });
    test.after(() => direct.stop());
    const statuses: number[] = [];
    for (let n = 0; n < 4; n++) {
      const headers = { 'x-forwarded-for': newAddress() };
      const fields = { email: 'x@example.com', password: 'wrong' };
      statuses.push((await direct.call('POST', '/auth/login', fields, headers)).status);
    }
    assert.deepEqual(statuses, [401, 401, 401, 429]);
  });

  it('limits registrations per address, with the time of the next one in Retry-After', async (test) => {
    const limited = await startServer({ database, env: { REGISTRATION_RATE_LIMIT: '2' } });
    test.after(() => limited.stop());
    const ask = (n: number) =>
      limited.call('POST', '/auth/register', { email: `many${n}@example.com`, password: PASSWORD });
    assert.deepEqual([(await ask(1)).status, (await ask(2)).status], [201, 201]);
    const refused = await ask(3);
    assert.deepEqual([refused.status, refused.body.code], [429, 'rate_limited']);
    const seconds = Number(refused.headers.get('retry-after'));
    assert.ok(seconds > 60 && seconds <= 1800, String(seconds));
    assert.equal(
      (await login(limited.call, 'many1@example.com', PASSWORD)).status,
      200,
      'logins do not count as registrations',
    );
    for (let n = 4; n < 40; n++) assert.equal((await ask(n)).status, 429);
    assert.equal(
      (await login(limited.call, 'many2@example.com', PASSWORD)).status,
      200,
      'rejected registrations do not count as failed logins',
    );
  });

  it('limits probing for registered emails', async () => {
    const call = from(newAddress());
    const email = await newAccount(call);
    const ask = async () => (await call('POST', '/auth/register', { email, password: PASSWORD })).status;
    assert.deepEqual([await ask(), await ask(), await ask(), await ask()], [409, 409, 409, 429]);
  });
});

describeOnEachDatabase('closed registration', (newHome, database) => {
  it('accepts the first account only, even concurrently and after a restart', async (test) => {
    const start = startAgain(test, newHome, { database, env: { REGISTRATION: 'closed' } });
    const first = await start();
    const race = await Promise.all(
      [...'abcdefgh'].map((name) =>
        first.call('POST', '/auth/register', { email: `${name}@example.com`, password: PASSWORD }),
      ),
    );
    const { email } = race.find(({ status }) => status === 201)?.body.account ?? {};
    await first.stop();

    const second = await start();
    const refused = await second.call('POST', '/auth/register', { email: 'late@example.com', password: PASSWORD });
    assert.deepEqual([refused.status, refused.body.code], [403, 'registration_closed']);
    assert.equal((await second.call('POST', '/auth/login', { email, password: PASSWORD })).status, 200);
    assert.deepEqual(race.map(({ status }) => status).sort(), [201, ...Array(7).fill(403)]);
  });
});
