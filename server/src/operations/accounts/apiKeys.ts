import { Type } from 'typebox';
import { deleteKey } from '../../auth/keyChanges.ts';
import { isGrant, notGrantable } from '../../auth/permissions.ts';
import { makeApiKey } from '../../auth/tokens.ts';
import { isoTime } from '../../clock.ts';
import type { Tx } from '../../db/commit.ts';
import type { ApiKeyTable } from '../../db/schema.ts';
import { AppError, invalidField, noSuch } from '../../errors.ts';
import { requireBelowLimit } from '../../invoke/accountLimit.ts';
import {
  integer,
  list,
  named,
  object,
  oneOf,
  onlyTrue,
  optional,
  orNull,
  string,
  time,
} from '../../invoke/input/fields.ts';
import { ref } from '../../invoke/input/references.ts';
import { parseTime } from '../../invoke/input/validate.ts';
import { type Context, defineOperation } from '../../invoke/operation.ts';
import { pageInput, pageOf, readPage } from '../../invoke/pages.ts';
import { type Deletion, isRecorded } from '../../jobs/deletions.ts';
import { requireSessions } from '../shared/sessionFields.ts';
import { appOutput, noApp, toApp } from './connectedApp.ts';
import { limitCreated, type Removed } from './createdByKey.ts';
import { limitColumns, limitInput, limitOutput, noLimits, toLimits } from './keyLimits.ts';

const Name = string('Label for the key, such as `my integration`.', { minLength: 1, maxLength: 100 });
const Permissions = list(
  Type.String(),
  'Permissions of the key: `*` for everything, `*:read` for reading, `messages:*` for a resource, or `messages:send` for one action.',
  { minItems: 1, maxItems: 50 },
);
export const ExpiresAt = orNull(time(), 'When the key stops working; null for never.');
const KeyId = string('Id of the key (`key_…`).', ref('other'));

const fields = {
  keyId: KeyId,
  name: string('Label for the key.'),
  permissions: list(Type.String(), 'Permissions of the key.'),
  createdAt: time('When the key was created.'),
  expiresAt: ExpiresAt,
  ...limitOutput,
};
const ApiKey = named('ApiKey', {
  ...fields,
  prefix: string('First characters of the key, to recognize it.'),
  lastUsedAt: orNull(time(), 'When the key was last used; null if never.'),
  ...appOutput,
});
const NewApiKey = named('NewApiKey', {
  ...fields,
  key: string('The key itself. It is returned only here; store it now.'),
});

/** Source: `POST /api-keys/create` of the contract. */
export const createApiKey = defineOperation({
  id: 'api_keys.create',
  route: 'POST /api-keys/create',
  credential: 'jwt',
  permission: null,
  scope: 'account',
  effect: 'write',
  uses: ['authenticator'],
  summary: 'Create an API key',
  description:
    'Create a key for a program or an agent. The key is returned once and cannot be read again. Grant only the permissions that the program needs; the default is `["*"]`. You cannot grant permissions that you do not have.',
  status: 201,
  input: {
    name: Name,
    permissions: optional({ ...Permissions, default: ['*'] }),
    expiresAt: optional(ExpiresAt),
    ...limitInput,
  },
  output: NewApiKey,
  errors: ['permission_not_grantable', 'too_many'],
  example: { name: 'my integration', permissions: ['messages:send', 'messages:read'] },
  async run(ctx, input) {
    const granted = input.permissions ?? ['*'];
    checkPermissions(ctx, granted);
    const keyId = ctx.newId('key');
    const { key, hash } = makeApiKey(keyId);
    const row: ApiKeyTable = {
      account_id: ctx.accountId,
      key_id: keyId,
      name: input.name,
      permissions: JSON.stringify(granted),
      key_hash: hash,
      created_at: ctx.clock.now(),
      last_used_at: null,
      expires_at: expiry(ctx, input.expiresAt ?? null),
      ...noLimits,
      ...noApp,
      ...limitColumns(input),
    };
    await ctx.database.commit(async (tx) => {
      await requireSessions(tx, ctx.accountId, input.sessionIds);
      const most = ctx.settings.maxApiKeys;
      await requireBelowLimit(tx, ctx.accountId, 'api_keys', most, 'API keys (MAX_API_KEYS); revoke one first');
      await tx.kysely.insertInto('api_keys').values(row).execute();
    });
    ctx.authenticator.made(key);
    return { ...toApiKey(row), key };
  },
});

export const listApiKeys = defineOperation({
  id: 'api_keys.list',
  route: 'GET /api-keys',
  permission: 'account:read',
  scope: 'account',
  effect: 'read',
  summary: 'List API keys',
  description:
    "List the account's API keys and connected apps with their permissions and last use, newest first. The keys themselves are never returned.",
  input: pageInput,
  output: pageOf(ApiKey),
  run(ctx, input) {
    const own = ctx.database.reader.kysely.selectFrom('api_keys').selectAll().where('account_id', '=', ctx.accountId);
    return readPage('api_keys', own, 'key_id', input, (rows) => rows.map(toApiKey));
  },
});

export const updateApiKey = defineOperation({
  id: 'api_keys.update',
  route: 'PATCH /api-keys/{keyId}',
  credential: 'jwt',
  permission: null,
  scope: 'account',
  effect: 'write',
  uses: ['keyChanges', 'engine'],
  summary: 'Update an API key',
  description:
    'Change the name, the permissions, the expiry or the limits of a key. Fields that you leave out do not change. The change applies at once, and ends the streams of a key whose limits it changes.',
  input: {
    keyId: KeyId,
    name: optional(Name),
    permissions: optional(Permissions),
    expiresAt: optional(ExpiresAt),
    ...limitInput,
  },
  output: ApiKey,
  errors: ['not_found', 'permission_not_grantable'],
  async run(ctx, input) {
    if (input.permissions !== undefined) checkPermissions(ctx, input.permissions);
    const change = {
      ...(input.name !== undefined && { name: input.name }),
      ...(input.permissions !== undefined && { permissions: JSON.stringify(input.permissions) }),
      ...(input.expiresAt !== undefined && { expires_at: expiry(ctx, input.expiresAt) }),
      ...limitColumns(input),
    };
    return changeKey(ctx, input.keyId, change, async (tx, present) => {
      await requireLasting(tx, input.keyId);
      await requireSessions(tx, ctx.accountId, input.sessionIds, toLimits(present).sessionIds);
    });
  },
});

export const rotateApiKey = defineOperation({
  id: 'api_keys.rotate',
  route: 'POST /api-keys/{keyId}/rotate',
  credential: 'jwt',
  permission: null,
  scope: 'account',
  effect: 'destructive',
  uses: ['authenticator', 'keyChanges', 'engine'],
  summary: 'Rotate an API key',
  description:
    'Replace a key with a new one, which is returned once. The id, the name, the permissions and the limits stay. The old key stops working at once. A connected app has no key.',
  input: { keyId: KeyId },
  output: NewApiKey,
  errors: ['not_found'],
  async run(ctx, { keyId }) {
    const { key, hash } = makeApiKey(keyId);
    const changed = await changeKey(ctx, keyId, { key_hash: hash }, async (tx, { oauth_client_id: clientId }) => {
      await requireLasting(tx, keyId);
      if (clientId !== null)
        throw invalidField('keyId', 'stands for a connected app, which has no key to rotate; revoke it instead');
    });
    ctx.authenticator.made(key);
    return { ...changed, key };
  },
});

export const revokeApiKey = defineOperation({
  id: 'api_keys.revoke',
  route: 'DELETE /api-keys/{keyId}',
  credential: 'jwt',
  permission: null,
  scope: 'account',
  effect: 'destructive',
  uses: ['keyChanges', 'deletions', 'engine'],
  summary: 'Revoke an API key',
  description:
    'Delete a key, or disconnect an app. It stops working immediately, and its open event streams and subscriptions end. Scheduled messages and webhooks that it made stay, unless `created` is `remove`.',
  input: {
    keyId: KeyId,
    created: optional(
      oneOf(
        ['keep', 'remove'],
        '`remove` also cancels its messages that are scheduled, queued or wait for approval, and removes its webhooks and its texts for callers. Defaults to `keep`.',
      ),
    ),
  },
  output: object({
    keyId: KeyId,
    revoked: onlyTrue(),
    removed: optional(
      object('Things that were removed with the key; only with `created=remove`.', {
        messages: integer('Number of messages that were cancelled.', { minimum: 0 }),
        webhooks: integer('Number of webhooks that were removed.', { minimum: 0 }),
      }),
    ),
  }),
  errors: ['not_found'],
  async run(ctx, { keyId, created = 'keep' }) {
    const { accountId } = ctx;
    if (created === 'remove') return { keyId, revoked: true as const, removed: await revokeWithCreated(ctx, keyId) };
    if (!(await ctx.database.commit((tx) => deleteKey(tx, { accountId, keyId })))) throw noSuch('API key', keyId);
    await ctx.keyChanges.changed(accountId, keyId);
    return { keyId, revoked: true as const };
  },
});

/**
 * Takes all permissions from a key before it removes what the key made, so that nothing more of it goes out. The key is
 * deleted last. An interrupted removal continues by itself.
 */
async function revokeWithCreated(ctx: Context<'keyChanges' | 'deletions' | 'engine'>, keyId: string): Promise<Removed> {
  const deletion: Deletion = { resourceId: keyId, accountId: ctx.accountId, kind: 'api_key', details: '{}' };
  await changeKey(ctx, keyId, { permissions: '[]' }, (tx) => ctx.deletions.record(tx, deletion));
  // `keyDeletion` returns this.
  return (await ctx.deletions.run(deletion)) as Removed;
}

/** @throws {AppError} `not_found` if the key is being revoked with what it made */
async function requireLasting(tx: Tx, keyId: string): Promise<void> {
  if (await isRecorded(tx, keyId)) throw new AppError('not_found', `The API key ${keyId} is being revoked`);
}

/** @param inSameTx runs in the transaction of the change, and throws to refuse it */
async function changeKey(
  ctx: Context<'keyChanges' | 'engine'>,
  keyId: string,
  change: Partial<ApiKeyTable>,
  inSameTx: (tx: Tx, present: ApiKeyTable) => Promise<void> = async () => {},
) {
  const row = await ctx.database.commit(async (tx) => {
    const own = { account_id: ctx.accountId, key_id: keyId };
    const present = await tx.kysely
      .selectFrom('api_keys')
      .selectAll()
      .where((eb) => eb.and(own))
      .executeTakeFirst();
    if (present === undefined) throw noSuch('API key', keyId);
    await inSameTx(tx, present);
    // Setting the id to itself keeps the statement valid if nothing changes.
    const changed = await tx.kysely
      .updateTable('api_keys')
      .set({ key_id: keyId, ...change })
      .where((eb) => eb.and(own))
      .returningAll()
      .executeTakeFirst();
    if (changed !== undefined) await limitCreated(ctx, tx, changed);
    return changed;
  });
  if (row === undefined) throw noSuch('API key', keyId);
  await ctx.keyChanges.changed(ctx.accountId, keyId);
  return toApiKey(row);
}

function checkPermissions({ caller }: Context, wanted: readonly string[]): void {
  const unknown = wanted.findIndex((permission) => !isGrant(permission));
  if (unknown >= 0)
    throw invalidField(
      `permissions.${unknown}`,
      `"${wanted[unknown]}" is not a permission; use one such as messages:send, messages:* or *`,
      'unknown_permission',
    );
  const lacking = notGrantable(caller.credential.permissions, wanted);
  if (lacking.length > 0)
    throw new AppError(
      'permission_not_grantable',
      `You cannot grant permissions that you do not have: ${lacking.join(', ')}`,
    );
}

export function expiry({ clock }: Pick<Context, 'clock'>, expiresAt: string | null): number | null {
  if (expiresAt === null) return null;
  const at = parseTime('expiresAt', expiresAt);
  if (at <= clock.now()) throw invalidField('expiresAt', 'must be in the future');
  return at;
}

function toApiKey(row: ApiKeyTable) {
  return {
    keyId: row.key_id,
    name: row.name,
    permissions: JSON.parse(row.permissions) as string[],
    prefix: `sb_${row.key_id.slice('key_'.length)}`,
    createdAt: isoTime(row.created_at),
    lastUsedAt: isoTime(row.last_used_at),
    expiresAt: isoTime(row.expires_at),
    ...toLimits(row),
    app: toApp(row),
  };
}
