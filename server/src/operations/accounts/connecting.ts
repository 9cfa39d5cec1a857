import { Type } from 'typebox';
import type { LimitColumns } from '../../auth/keyScope.ts';
import { isoTime } from '../../clock.ts';
import type { Tx } from '../../db/commit.ts';
import type { ApiKeyTable } from '../../db/schema.ts';
import { AppError, invalidField } from '../../errors.ts';
import { requireBelowLimit } from '../../invoke/accountLimit.ts';
import { boolean, list, named, object, optional, orNull, string, time } from '../../invoke/input/fields.ts';
import { ref } from '../../invoke/input/references.ts';
import { type Context, defineOperation } from '../../invoke/operation.ts';
import type { AppRequest, OAuth } from '../../oauth/oauth.ts';
import { supportedScopes } from '../../oauth/scopes.ts';
import { requireSessions } from '../shared/sessionFields.ts';
import { ExpiresAt, expiry } from './apiKeys.ts';
import { type App, appColumns } from './connectedApp.ts';
import { limitCreated } from './createdByKey.ts';
import { limitColumns, limitInput, limitOutput, noLimits, toLimits } from './keyLimits.ts';

const RequestId = string('Id of the request, from the address of the consent page.', {
  ...ref('other'),
  maxLength: 100,
});

const Connection = named('AppConnection', {
  keyId: string('Id of the API key that stands for the app (`key_…`).'),
  permissions: list(Type.String(), 'Permissions that the app has.'),
  expiresAt: orNull(time(), 'When the connection ends; null for never.'),
  ...limitOutput,
});

const ConnectionRequest = named('ConnectionRequest', {
  requestId: RequestId,
  clientId: string('Id of the app, which is the address of its description if it is a URL.'),
  name: orNull(Type.String(), 'Name that the app chose, which nobody has verified; null if it has none.'),
  url: orNull(Type.String(), 'Website that the app names, which nobody has verified; null if none.'),
  redirectUri: string('Where the browser continues with the answer.'),
  redirectHost: string('Host of `redirectUri`, or the scheme of a native app.'),
  isLocal: boolean('Whether `redirectUri` leads to a program on the device of the person.'),
  permissions: list(Type.String(), 'Permissions that the app asks for.'),
  morePermissions: list(Type.String(), 'Permissions that the app does not ask for, and that you can add.'),
  connection: orNull(Connection, 'The present connection of the app, which an approval replaces; null if none.'),
  expiresAt: time('When the request expires.'),
});

const Continue = {
  redirectUrl: string('Path of this server where the same browser continues.'),
};

export const getConnectionRequest = defineOperation({
  id: 'connections.get_request',
  route: 'GET /connections/requests/{requestId}',
  credential: 'jwt',
  permission: null,
  scope: 'account',
  effect: 'read',
  uses: ['oauth'],
  summary: 'Get the request of an app',
  description:
    'Get the app that asks to be connected by OAuth, and the permissions that it asks for. For the consent page of the dashboard.',
  input: { requestId: RequestId },
  output: ConnectionRequest,
  errors: ['not_found'],
  async run(ctx, { requestId }) {
    const request = await readRequest(ctx, requestId);
    const present = await findConnection(ctx.database.reader, ctx.accountId, request.clientId);
    return {
      requestId,
      clientId: request.clientId,
      name: request.name,
      url: request.url,
      redirectUri: request.redirectUri,
      redirectHost: request.redirectHost,
      isLocal: request.isLocal,
      permissions: [...request.scopes],
      morePermissions: supportedScopes.filter((one) => !request.scopes.includes(one)),
      connection:
        present === undefined
          ? null
          : {
              keyId: present.key_id,
              permissions: JSON.parse(present.permissions) as string[],
              expiresAt: isoTime(present.expires_at),
              ...toLimits(present),
            },
      expiresAt: isoTime(request.expiresAt),
    };
  },
});

export const approveConnection = defineOperation({
  id: 'connections.approve',
  route: 'POST /connections/requests/{requestId}/approve',
  credential: 'jwt',
  permission: null,
  scope: 'account',
  effect: 'write',
  uses: ['keyChanges', 'oauth', 'engine'],
  summary: 'Connect an app',
  description:
    'Approve the request of an app, with the permissions that you choose, and with the limits of an API key. The app becomes an API key without a secret. If it is connected already, its permissions are replaced, and its limits as far as you give them. Only the browser in which the request began can continue.',
  input: {
    requestId: RequestId,
    permissions: list(Type.String(), 'Permissions for the app, among `permissions` and `morePermissions`.', {
      minItems: 1,
      maxItems: 50,
    }),
    expiresAt: optional(ExpiresAt),
    ...limitInput,
  },
  output: object({ keyId: string('Id of the API key that stands for the app.'), ...Continue }),
  errors: ['not_found', 'too_many'],
  async run(ctx, input) {
    const { requestId, permissions } = input;
    const request = await readRequest(ctx, requestId);
    const unknown = permissions.findIndex((permission) => !supportedScopes.includes(permission));
    if (unknown >= 0)
      throw invalidField(`permissions.${unknown}`, `"${permissions[unknown]}" is not a permission for apps`);
    const { clientId, name, url, redirectHost } = request;
    const app: App = { clientId, name, url, redirectHost };
    const granted = {
      permissions: JSON.stringify([...new Set(permissions)]),
      ...limitColumns(input),
      ...appColumns(app),
    };
    const wantedExpiry = input.expiresAt === undefined ? undefined : expiry(ctx, input.expiresAt);
    const answer = await ctx.database.commit(async (tx) => {
      const present = await lockConnection(ctx, tx, clientId);
      await requireSessions(tx, ctx.accountId, input.sessionIds, present && toLimits(present).sessionIds);
      const expires_at = wantedExpiry === undefined ? presentExpiry(ctx, present) : wantedExpiry;
      const keyId = await putConnection(ctx, tx, present, app, { ...granted, expires_at });
      const redirectUrl = await oauthOf(ctx).approve(tx, requestId, { accountId: ctx.accountId, keyId, permissions });
      if (redirectUrl === undefined) throw gone();
      return { keyId, redirectUrl };
    });
    await ctx.keyChanges.changed(ctx.accountId, answer.keyId);
    return answer;
  },
});

export const denyConnection = defineOperation({
  id: 'connections.deny',
  route: 'POST /connections/requests/{requestId}/deny',
  credential: 'jwt',
  permission: null,
  scope: 'account',
  effect: 'destructive',
  uses: ['oauth'],
  summary: 'Deny the request of an app',
  description: 'Deny the request of an app, which learns of it. A present connection of the app does not change.',
  input: { requestId: RequestId },
  output: object(Continue),
  errors: ['not_found'],
  async run(ctx, { requestId }) {
    await readRequest(ctx, requestId);
    const redirectUrl = await ctx.database.commit((tx) => oauthOf(ctx).deny(tx, requestId));
    if (redirectUrl === undefined) throw gone();
    return { redirectUrl };
  },
});

/** @throws {AppError} `not_found` */
async function readRequest(ctx: Context<'oauth'>, requestId: string): Promise<AppRequest> {
  const request = await oauthOf(ctx).readRequest(requestId);
  if (request === undefined) throw gone();
  return request;
}

/** @throws {AppError} `not_found` if OAuth is off */
function oauthOf({ oauth }: Context<'oauth'>): OAuth {
  if (oauth === undefined) throw new AppError('not_found', 'This server does not connect apps (MCP_OAUTH is off)');
  return oauth;
}

const gone = () => new AppError('not_found', 'The request has expired or was answered; connect the app again');

function findConnection({ kysely }: Pick<Tx, 'kysely'>, accountId: string, clientId: string) {
  return kysely
    .selectFrom('api_keys')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('oauth_client_id', '=', clientId)
    .executeTakeFirst();
}

/**
 * Finds the present connection. If there is none, checks the account's limit of keys, and keeps other calls from adding
 * a key until the transaction ends.
 */
async function lockConnection(ctx: Context, tx: Tx, clientId: string): Promise<ApiKeyTable | undefined> {
  const { accountId, settings } = ctx;
  const present = await findConnection(tx, accountId, clientId);
  if (present !== undefined) return present;
  const advice = 'API keys and connected apps (MAX_API_KEYS); revoke one first';
  await requireBelowLimit(tx, accountId, 'api_keys', settings.maxApiKeys, advice);
  return findConnection(tx, accountId, clientId);
}

/** The expiry of a connection stays, unless it has passed: then the approval begins a new one. */
function presentExpiry({ clock }: Context, present: ApiKeyTable | undefined): number | null {
  const at = present?.expires_at ?? null;
  return at !== null && at > clock.now() ? at : null;
}

type Granted = Pick<ApiKeyTable, 'permissions' | 'expires_at'> & Partial<LimitColumns> & ReturnType<typeof appColumns>;

/**
 * Leaves the limits that are not given as they are, and the name, which a person may have changed.
 * @returns the id of the key
 */
async function putConnection(
  ctx: Context<'engine'>,
  tx: Tx,
  present: ApiKeyTable | undefined,
  { name, redirectHost }: App,
  granted: Granted,
): Promise<string> {
  const { accountId, clock } = ctx;
  if (present !== undefined) {
    const own = { account_id: accountId, key_id: present.key_id };
    const changed = await tx.kysely
      .updateTable('api_keys')
      .set(granted)
      .where((eb) => eb.and(own))
      .returningAll()
      .executeTakeFirstOrThrow();
    await limitCreated(ctx, tx, changed);
    return present.key_id;
  }
  const keyId = ctx.newId('key');
  const added = {
    account_id: accountId,
    key_id: keyId,
    name: name ?? redirectHost.slice(0, 100),
    created_at: clock.now(),
    last_used_at: null,
  };
  await tx.kysely
    .insertInto('api_keys')
    .values({ ...added, ...noLimits, ...granted })
    .execute();
  return keyId;
}
