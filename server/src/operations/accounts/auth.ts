import { Type } from 'typebox';
import { scopeOf } from '../../auth/keyScope.ts';
import type { TakenTokens } from '../../auth/loginLimit.ts';
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '../../auth/passwordRules.ts';
import { isoTime } from '../../clock.ts';
import { serialize, type Tx } from '../../db/commit.ts';
import type { AccountTable } from '../../db/schema.ts';
import { AppError, invalidField } from '../../errors.ts';
import { list, named, object, oneOf, onlyTrue, optional, orNull, string, time } from '../../invoke/input/fields.ts';
import { EMAIL } from '../../invoke/input/patterns.ts';
import { type Context, defineOperation, type PublicContext } from '../../invoke/operation.ts';
import { limitOutput, noLimits, toLimits } from './keyLimits.ts';

const Email = string('Email address, such as you@example.com. Case does not matter.', {
  maxLength: 254,
  pattern: EMAIL,
});
const Password = string(
  `${MIN_PASSWORD_LENGTH} to 256 characters. Must not be the email address or a common password.`,
  { minLength: MIN_PASSWORD_LENGTH, maxLength: MAX_PASSWORD_LENGTH },
);

const Account = named('Account', {
  accountId: string('Id of the account (`acc_…`).'),
  email: string('Email address, in lower case.'),
  name: orNull(Type.String(), 'Name of the account; null if none was given.'),
  createdAt: time('When the account was registered.'),
});

const Login = named('Login', {
  token: string('Login token (JWT) to send as `Authorization: Bearer`. Empty for the dashboard, which gets a cookie.'),
  tokenType: Type.Literal('Bearer', { description: 'Always `Bearer`.' }),
  expiresAt: time('When the token stops working.'),
  account: Account,
});

export const register = defineOperation({
  id: 'auth.register',
  login: 'begins',
  route: 'POST /auth/register',
  credential: 'none',
  permission: null,
  effect: 'write',
  uses: ['authenticator', 'tokens', 'loginLimit', 'passwords', 'passwordRules'],
  summary: 'Register an account',
  description:
    'Create an account and log in. Returns a login token, with which you can create API keys. Fails with `registration_closed` if the server accepts no new accounts.',
  status: 201,
  input: {
    email: Email,
    password: Password,
    name: optional(
      string('Name of the account, such as that of your company. Only you see it.', { minLength: 1, maxLength: 100 }),
    ),
  },
  output: Login,
  errors: ['email_taken', 'registration_closed', 'too_busy'],
  example: { email: 'you@example.com', password: 'correct horse battery' },
  async run(ctx, input) {
    const email = input.email.toLowerCase();
    await requireStrongPassword(ctx, 'password', input.password, email);
    const registration = await ctx.loginLimit.takeRegistration(ctx.address);
    // Finding out which emails exist is limited like guessing passwords.
    const registering = ctx.loginLimit.guess({ email, address: ctx.address }, async (guess) => {
      await requireRegistrable(ctx, email); // before the hash, which is expensive
      const row: AccountTable = {
        account_id: ctx.newId('acc'),
        email,
        name: input.name ?? null,
        password_hash: await refundOnFailure(ctx.passwords.hash(input.password, ctx.address), guess),
        token_version: 1,
        created_at: ctx.clock.now(),
        link_salt: null,
      };
      const inserting = ctx.database.commit((tx) => insertAccount(ctx, tx, row));
      const refusal = await refundOnFailure(inserting, guess);
      // does not return the guess, because the error reveals whether the email exists
      if (refusal !== undefined) throw new AppError(refusal);
      await guess.wasRight();
      return row;
    });
    return logIn(ctx, await refundOnFailure(registering, registration));
  },
});

export const login = defineOperation({
  id: 'auth.login',
  login: 'begins',
  route: 'POST /auth/login',
  credential: 'none',
  permission: null,
  effect: 'write',
  uses: ['authenticator', 'tokens', 'loginLimit', 'devices', 'passwords'],
  summary: 'Log in',
  description:
    'Exchange the email address and the password for a login token. Failed logins are limited per account and address.',
  input: {
    email: Email,
    password: string('Password of the account.', { minLength: 1, maxLength: MAX_PASSWORD_LENGTH }),
  },
  output: Login,
  errors: ['invalid_credentials', 'too_busy'],
  example: { email: 'you@example.com', password: 'correct horse battery' },
  async run(ctx, input) {
    const email = input.email.toLowerCase();
    const guesser = { email, address: ctx.address, device: ctx.devices.recognize(email, ctx.device) };
    return ctx.loginLimit.guess(guesser, async (guess) => {
      const row = await ctx.database.reader.kysely
        .selectFrom('accounts')
        .selectAll()
        .where('email', '=', email)
        .executeTakeFirst();
      const fits = await refundOnFailure(ctx.passwords.verify(input.password, row?.password_hash, ctx.address), guess);
      if (row === undefined || !fits) throw new AppError('invalid_credentials');
      await guess.wasRight();
      return logIn(ctx, row);
    });
  },
});

export const logout = defineOperation({
  id: 'auth.logout',
  login: 'ends',
  route: 'POST /auth/logout',
  credential: 'jwt',
  permission: null,
  scope: 'account',
  effect: 'destructive',
  uses: ['authenticator'],
  summary: 'Log out everywhere',
  description: 'Revoke all login tokens of the account, on all devices. API keys keep working.',
  input: {},
  output: object({ loggedOut: onlyTrue() }),
  async run(ctx) {
    await raiseTokenVersion(ctx);
    return { loggedOut: true as const };
  },
});

export const forgetLogin = defineOperation({
  id: 'auth.forget_login',
  login: 'ends',
  route: 'POST /auth/forget-login',
  credential: 'none', // works with an expired login too
  permission: null,
  effect: 'write',
  summary: 'Log out in this browser',
  description: 'Delete the login cookie of the dashboard. Login tokens keep working; `auth.logout` revokes them.',
  input: {},
  output: object({ loggedOut: onlyTrue() }),
  run: async () => ({ loggedOut: true as const }),
});

export const me = defineOperation({
  id: 'auth.me',
  route: 'GET /auth/me',
  permission: null,
  scope: 'none',
  effect: 'read',
  summary: 'Get the account and the credential',
  description:
    'Get the account, and the permissions of the credential that you send, with the limits of a key. Use it to check a credential.',
  input: {},
  output: object({
    account: Account,
    credential: object({
      type: oneOf(['jwt', 'api_key'], '`jwt` is a login token.'),
      keyId: optional(string('Id of the API key (`key_…`).')),
      permissions: list(Type.String(), 'Permissions of the credential.'),
      ...Type.Partial(Type.Object(limitOutput)).properties,
    }),
  }),
  async run(ctx) {
    const { credential } = ctx.caller;
    // A login token has none.
    const limits = credential.type === 'api_key' && toLimits(scopeOf(ctx.caller)?.columns ?? noLimits);
    return {
      account: toAccount(await ownAccount(ctx)),
      credential: { ...credential, permissions: [...credential.permissions], ...limits },
    };
  },
});

export const changePassword = defineOperation({
  id: 'auth.change_password',
  login: 'begins',
  route: 'POST /auth/password',
  credential: 'jwt',
  permission: null,
  scope: 'account',
  effect: 'write',
  uses: ['authenticator', 'tokens', 'loginLimit', 'passwords', 'passwordRules'],
  summary: 'Change the password',
  description:
    'Change the password of the account. Revokes all login tokens and returns a new one. API keys keep working.',
  input: {
    currentPassword: string('Current password, as a check.', { minLength: 1, maxLength: MAX_PASSWORD_LENGTH }),
    newPassword: Password,
  },
  output: Login,
  errors: ['validation_failed', 'too_busy'],
  async run(ctx, input) {
    const account = await ownAccount(ctx);
    await requireStrongPassword(ctx, 'newPassword', input.newPassword, account.email);
    // Logged-in callers share no limit with strangers.
    const device = `that is logged in to ${account.account_id}`;
    await ctx.loginLimit.guess({ email: account.email, address: ctx.address, device }, async (guess) => {
      const verifying = ctx.passwords.verify(input.currentPassword, account.password_hash, ctx.address);
      if (!(await refundOnFailure(verifying, guess)))
        throw invalidField('currentPassword', 'The current password is wrong');
      await guess.wasRight();
    });
    const version = await raiseTokenVersion(ctx, await ctx.passwords.hash(input.newPassword, ctx.address));
    return logIn(ctx, { ...account, token_version: version });
  },
});

/** @throws {AppError} `validation_failed` */
async function requireStrongPassword(
  { passwordRules }: PublicContext<'passwordRules'>,
  field: string,
  password: string,
  email: string,
): Promise<void> {
  const weakness = await passwordRules.weaknessOf(password, email);
  if (weakness !== undefined) throw invalidField(field, weakness.message, weakness.code);
}

/** Returns the taken tokens if the work fails, so that a busy server costs no guess. */
async function refundOnFailure<T>(working: Promise<T>, ...taken: readonly TakenTokens[]): Promise<T> {
  try {
    return await working;
  } catch (error) {
    for (const each of taken) await each.refund().catch(() => {}); // the first error is the cause
    throw error;
  }
}

/** @throws {AppError} `registration_closed`, `email_taken` */
async function requireRegistrable({ settings, database }: PublicContext, email: string): Promise<void> {
  const select = database.reader.kysely.selectFrom('accounts').select('account_id');
  if (settings.registration === 'closed' && (await select.limit(1).executeTakeFirst()) !== undefined) {
    throw new AppError('registration_closed');
  }
  if ((await select.where('email', '=', email).executeTakeFirst()) !== undefined) throw new AppError('email_taken');
}

/** @returns the reason why the account was not inserted */
async function insertAccount(
  { settings }: PublicContext,
  tx: Tx,
  row: AccountTable,
): Promise<'registration_closed' | 'email_taken' | undefined> {
  if (settings.registration === 'closed') {
    await serialize(tx, 'register');
    const first = await tx.kysely.selectFrom('accounts').select('account_id').limit(1).executeTakeFirst();
    if (first !== undefined) return 'registration_closed';
  }
  const { numInsertedOrUpdatedRows } = await tx.kysely
    .insertInto('accounts')
    .values(row)
    .onConflict((conflict) => conflict.column('email').doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n ? undefined : 'email_taken';
}

async function logIn(ctx: PublicContext<'authenticator' | 'tokens'>, row: AccountTable) {
  const { token, expiresAt } = await ctx.tokens.issue(row.account_id, row.token_version);
  ctx.authenticator.made(token);
  return { token, tokenType: 'Bearer' as const, expiresAt: isoTime(expiresAt), account: toAccount(row) };
}

function toAccount(row: AccountTable) {
  return { accountId: row.account_id, email: row.email, name: row.name, createdAt: isoTime(row.created_at) };
}

async function ownAccount(ctx: Context): Promise<AccountTable> {
  return ctx.database.reader.kysely
    .selectFrom('accounts')
    .selectAll()
    .where('account_id', '=', ctx.accountId)
    .executeTakeFirstOrThrow(() => new AppError('unauthorized'));
}

/** Revokes every login token, and sets the password if a hash is passed. */
async function raiseTokenVersion(ctx: Context<'authenticator'>, passwordHash?: string): Promise<number> {
  const { token_version } = await ctx.database.commit(({ kysely }) =>
    kysely
      .updateTable('accounts')
      .set((eb) => ({
        token_version: eb('token_version', '+', 1),
        ...(passwordHash && { password_hash: passwordHash }),
      }))
      .where('account_id', '=', ctx.accountId)
      .returning('token_version')
      .executeTakeFirstOrThrow(),
  );
  ctx.authenticator.changed(ctx.accountId);
  return token_version;
}
