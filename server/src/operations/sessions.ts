import { sql } from 'kysely';
import { Type } from 'typebox';
import { isoTime } from '../clock.ts';
import type { SessionTable } from '../db/schema.ts';
import { AppError, invalidField, noSuch } from '../errors.ts';
import { requireBelowLimit } from '../invoke/accountLimit.ts';
import {
  IdempotencyKey,
  integer,
  named,
  notForAgents,
  object,
  oneOf,
  onlyTrue,
  openObject,
  optional,
  orNull,
  record,
  string,
  time,
} from '../invoke/fields.ts';
import { type Context, defineOperation, sessionsOf } from '../invoke/operation.ts';
import { pageInput, pageOf, readPage } from '../invoke/pages.ts';
import { PhoneNumberInput, phoneNumber } from '../invoke/phoneNumbers.ts';
import { validator } from '../invoke/validate.ts';
import { historyStateOf, shownHistory } from '../messages/historyState.ts';
import { findSession as readSession, type SessionRef } from '../messages/store.ts';
import { callbackPath } from '../sessions/callbacks.ts';
import { deleteSessionRows } from '../sessions/deletion.ts';
import {
  keepSecrets,
  type Options as OptionValues,
  optionsColumn,
  readOptions,
  withoutSecrets,
} from '../sessions/options.ts';
import { acceptedMetadata, Metadata } from './metadata.ts';
import { Health, healthOf } from './sessionHealth.ts';
import { SessionNetwork, sessionNetwork } from './sessionNetwork.ts';

export const SessionId = string('Id of the session (`ses_…`).');
/** Filter of a list. */
export const ListedSessionId = optional(string('Only those of this session (`ses_…`).', { maxLength: 100 }));

export const OptionalSessionId = optional(
  string('Id of the session (`ses_…`). Required if the account has several sessions.'),
);
const Name = string('Label for people, such as `support`.', { minLength: 1, maxLength: 100 });
const Options = openObject('Options of the network that the user names, see `GET /connectors`.');

const SessionHistory = object('Import of the history of the phone, which begins when the session is linked.', {
  state: oneOf(
    ['none', 'waiting', 'importing', 'complete', 'failed'],
    '`none`: the session imports no history, or the network has none. `waiting`: the phone has sent nothing yet. `failed`: a part is missing; `error` says why.',
  ),
  progress: integer('Percent, as the phone reports it.', { minimum: 0, maximum: 100 }),
  messages: integer('Messages imported so far.', { minimum: 0 }),
  chats: integer('Chats that are new.', { minimum: 0 }),
  contacts: integer('Contacts that are new.', { minimum: 0 }),
  error: orNull(Type.String(), 'Why a part is missing, as a sentence; null if nothing failed.'),
  updatedAt: orNull(time(), 'When that last changed; null if it never did.'),
});

export const Session = named('Session', {
  sessionId: SessionId,
  name: orNull(Type.String(), 'Label for people; null if none was set.'),
  connector: string('Network of the session, such as `whatsapp`.'),
  phoneNumber: orNull(Type.String(), 'Phone number digits; null until the network has reported them.'),
  status: oneOf(
    ['created', 'connecting', 'awaiting_pairing', 'connected', 'disconnected', 'logged_out', 'failed'],
    'Only `connected` sessions send and receive. `awaiting_pairing`: a phone must scan the QR code or enter a pairing code.',
  ),
  connectedAt: orNull(time(), 'When the session connected; null while it is not connected.'),
  lastEventAt: orNull(time(), 'When the network last reported something; null if it never did.'),
  error: orNull(Type.String(), 'Why the session is not connected, as a sentence; null if there was no error.'),
  options: record(Type.Unknown(), 'Options of the network, without their secrets.'),
  callbackUrl: orNull(
    Type.String(),
    'URL that the network calls for this session; null if the network makes no calls.',
  ),
  metadata: record(Type.String(), 'Your own data, as you set it.'),
  createdAt: time('When the session was created.'),
  history: optional({ ...SessionHistory, ...notForAgents }),
  network: SessionNetwork,
  health: optional({ ...Health, ...notForAgents }),
});

export const sessionInput = { sessionId: SessionId };

/** Fields that the tools return which change a session. */
export const sessionReceipt = ['sessionId', 'name', 'connector', 'phoneNumber', 'status', 'error'] as const;

export const listSessions = defineOperation({
  id: 'sessions.list',
  route: 'GET /sessions',
  permission: 'sessions:read',
  scope: 'filtered',
  effect: 'read',
  tool: true,
  summary: 'List sessions',
  description:
    "List the account's sessions with their status, phone number and network, newest first. Use it to find a `sessionId`.",
  input: pageInput,
  output: pageOf(Session),
  run(ctx, input) {
    const sessionIds = sessionsOf(ctx);
    let own = ctx.database.reader.kysely.selectFrom('sessions').selectAll().where('account_id', '=', ctx.accountId);
    if (sessionIds !== undefined) own = own.where('session_id', 'in', sessionIds);
    return readPage('sessions', own, 'session_id', input, async (rows) => {
      const health = await healthOf(ctx, rows);
      return rows.map((row) => ({ ...toSession(ctx, row), health: health(row.session_id) }));
    });
  },
});

export const createSession = defineOperation({
  id: 'sessions.create',
  route: 'POST /sessions',
  permission: 'sessions:write',
  scope: 'account',
  effect: 'write',
  tool: true,
  summary: 'Create a session',
  description:
    'Add a session, which is one phone number on one network. Returns it with the status `created`; call `sessions.connect` next.',
  status: 201,
  idempotent: true,
  input: {
    name: optional(Name),
    connector: optional(
      string("Network, such as `sandbox` or `whatsapp`; the server's default if left out.", { maxLength: 50 }),
    ),
    phoneNumber: optional(PhoneNumberInput('Number of the session, if the network lets you choose it.')),
    options: optional(Options),
    metadata: optional(Metadata),
    idempotencyKey: IdempotencyKey,
  },
  output: Session,
  receipt: sessionReceipt,
  errors: ['too_many'],
  example: { name: 'support', phoneNumber: '491701234567' },
  async run(ctx, input) {
    const connector = input.connector ?? ctx.settings.defaultConnector;
    const sessionId = ctx.resourceId === undefined ? ctx.newId('ses') : `ses_${ctx.resourceId}`;
    const row: SessionTable = {
      account_id: ctx.accountId,
      session_id: sessionId,
      name: input.name ?? null,
      connector,
      phone_number: input.phoneNumber === undefined ? null : phoneNumber('phoneNumber', input.phoneNumber),
      status: 'created',
      wanted: 0,
      connected_at: null,
      disconnected_at: null,
      will_reconnect: 0,
      last_event_at: null,
      error: null,
      options: checkedOptions(ctx, sessionId, connector, { ...input.options }),
      metadata: acceptedMetadata(input.metadata ?? {}),
      created_at: ctx.clock.now(),
      history: null,
      lease_owner: null,
      lease_generation: 0,
      number_state: null,
    };
    await ctx.database.commit(async (tx) => {
      // A repeated request gets the session that it created.
      if ((await readSession(tx, { accountId: ctx.accountId, sessionId })) !== undefined) return;
      const most = ctx.settings.maxSessions;
      await requireBelowLimit(tx, ctx.accountId, 'sessions', most, 'sessions (MAX_SESSIONS); delete one first');
      await tx.kysely
        .insertInto('sessions')
        .values(row)
        .onConflict((conflict) => conflict.column('session_id').doNothing())
        .execute();
    });
    ctx.sessions.sole.forget(ctx.accountId);
    return toSession(ctx, await findSession(ctx, row.session_id));
  },
});

export const getSession = defineOperation({
  id: 'sessions.get',
  route: 'GET /sessions/{sessionId}',
  permission: 'sessions:read',
  scope: 'sessionId',
  effect: 'read',
  tool: true,
  summary: 'Get a session',
  description:
    'Get one session with its status, phone number and error. Use it to see whether the session is connected and, if not, why.',
  input: sessionInput,
  output: Session,
  errors: ['not_found'],
  async run(ctx, { sessionId }) {
    const row = await findSession(ctx, sessionId);
    const health = await healthOf(ctx, [row]);
    return { ...toSession(ctx, row), health: health(sessionId) };
  },
});

export const updateSession = defineOperation({
  id: 'sessions.update',
  route: 'PATCH /sessions/{sessionId}',
  permission: 'sessions:write',
  scope: 'sessionId',
  effect: 'write',
  summary: 'Update a session',
  description:
    'Change the name, the metadata or the options of a session. Fields that you leave out do not change. `metadata` and `options` replace what was set before, except that secret options stay unless you pass new ones. New options take effect the next time the session connects.',
  input: {
    sessionId: SessionId,
    name: optional(orNull(Name, 'Label for people; null removes it.')),
    metadata: optional(Metadata),
    options: optional(Options),
  },
  output: Session,
  errors: ['not_found'],
  async run(ctx, { sessionId, name, metadata, options }) {
    const present = await findSession(ctx, sessionId);
    await ctx.database.commit(({ kysely }) =>
      kysely
        .updateTable('sessions')
        .set({
          session_id: sessionId,
          ...(name !== undefined && { name }),
          ...(metadata !== undefined && { metadata: acceptedMetadata(metadata) }),
          ...(options !== undefined && {
            options: checkedOptions(ctx, sessionId, present.connector, { ...options }, present),
          }),
        })
        .where('account_id', '=', ctx.accountId)
        .where('session_id', '=', sessionId)
        .execute(),
    );
    return toSession(ctx, await findSession(ctx, sessionId));
  },
});

export const sessionHistory = defineOperation({
  id: 'sessions.history',
  route: 'GET /sessions/{sessionId}/history',
  permission: 'sessions:read',
  scope: 'sessionId',
  effect: 'read',
  summary: 'List the status changes of a session',
  description: 'List when and why the status of a session changed, newest first. Use it to investigate outages.',
  input: { sessionId: SessionId, ...pageInput },
  output: pageOf(
    object({
      status: string('Status that the session changed to.'),
      reason: orNull(Type.String(), 'Why, as a sentence; null if not known.'),
      at: time('When the status changed.'),
    }),
  ),
  errors: ['not_found'],
  async run(ctx, input) {
    await findSession(ctx, input.sessionId);
    const entriesOfSession = ctx.database.reader.kysely
      .selectFrom('session_history')
      .selectAll()
      .where('account_id', '=', ctx.accountId)
      .where('session_id', '=', input.sessionId);
    return readPage('history', entriesOfSession, 'entry_id', input, (rows) =>
      rows.map(({ status, reason, at }) => ({ status, reason, at: isoTime(at) })),
    );
  },
});

export const deleteSession = defineOperation({
  id: 'sessions.delete',
  route: 'DELETE /sessions/{sessionId}',
  owner: { field: 'sessionId' },
  permission: 'sessions:write',
  scope: 'sessionId',
  effect: 'destructive',
  summary: 'Delete a session',
  description:
    'Delete a session with its chats, messages, contacts and groups. This cannot be undone. A connected session is first logged out of its network, which may take up to 5 s. Its events stay in the delivery log.',
  input: sessionInput,
  output: object({ sessionId: SessionId, deleted: onlyTrue() }),
  errors: ['not_found'],
  async run(ctx, { sessionId }) {
    const session = await resolveSession(ctx, sessionId);
    await ctx.sessions.forget(session);
    await deleteSessionRows(ctx.database, session);
    ctx.sessions.sole.forget(ctx.accountId);
    return { sessionId, deleted: true as const };
  },
});

/**
 * Returns the session with this id, or the only one of the account.
 * @throws {AppError} `not_found`, `session_required`
 */
export async function resolveSession(ctx: Context, sessionId: string | undefined): Promise<SessionRef> {
  const { accountId } = ctx;
  if (sessionId !== undefined) {
    const session = { accountId, sessionId };
    if (ctx.liveSessions.stateOf(session) === undefined) await findSession(ctx, sessionId);
    return session;
  }
  const sole = await ctx.sessions.sole.of(accountId);
  if (sole === 'none') {
    throw new AppError('session_required', 'The account has no session; create and connect one first');
  }
  if (sole === 'several') {
    throw new AppError('session_required', '`sessionId` is required because the account has several sessions', {
      fields: [
        { field: 'sessionId', code: 'required', message: 'is required because the account has several sessions' },
      ],
    });
  }
  return { accountId, sessionId: sole.sessionId };
}

/** Returns the sessions that a list covers: the one that it names, or those of the caller's key; undefined for all. */
export async function listedSessions(
  ctx: Context,
  sessionId: string | undefined,
): Promise<readonly string[] | undefined> {
  if (sessionId !== undefined) return [(await resolveSession(ctx, sessionId)).sessionId];
  const allowed = sessionsOf(ctx);
  if (allowed !== undefined) return allowed;
  const sole = await ctx.sessions.sole.of(ctx.accountId);
  return typeof sole === 'object' ? [sole.sessionId] : undefined;
}

/**
 * Selects rows by `listedSessions`. By the session also for all of them, because the keys of the tables begin with it: an
 * account with little data must not scan that of others.
 */
export function isOfSessions({ accountId }: Context, sessionIds: readonly string[] | undefined) {
  const ids =
    sessionIds === undefined
      ? sql`select s.session_id from sessions as s where s.account_id = ${accountId}`
      : sql.join(sessionIds);
  return sql<boolean>`session_id in (${ids})`;
}

/** @throws {AppError} `not_found`, also for a session of another account */
export async function findSession(ctx: Context, sessionId: string): Promise<SessionTable> {
  const row = await readSession(ctx.database.reader, { accountId: ctx.accountId, sessionId });
  if (row === undefined) throw noSuch('session', sessionId, 'sessionId');
  return row;
}

/** @param present the current session, whose secrets stay unless new ones are passed */
function checkedOptions(
  ctx: Context,
  sessionId: string,
  name: string,
  given: OptionValues,
  present?: SessionTable,
): string {
  const { connectors } = ctx.sessions;
  const { seal } = ctx.database;
  const connector = connectors.get(name);
  if (connector === undefined) {
    const known = [...connectors.keys()].join(', ');
    throw invalidField('connector', `This server has no connector "${name}"; use one of ${known}`, 'unknown_connector');
  }
  const options = present ? keepSecrets(connector.options, readOptions(seal, present), given) : given;
  const checked = validator(object({ options: connector.options }))({ options })['options'] as OptionValues;
  connector.checkOptions?.(checked);
  return optionsColumn(seal, sessionId, checked);
}

function visibleOptions({ sessions, database }: Context, row: SessionTable): Record<string, unknown> {
  const connector = sessions.connectors.get(row.connector);
  // Without the connector it is unknown which options are secrets.
  return connector === undefined ? {} : { ...withoutSecrets(connector.options, readOptions(database.seal, row)) };
}

function callbackUrlOf({ sessions, settings }: Context, { connector, session_id }: SessionTable): string | null {
  if (sessions.connectors.get(connector)?.takesCallbacks !== true) return null;
  const path = callbackPath(session_id);
  return settings.publicUrl === undefined ? path : new URL(path, settings.publicUrl).href;
}

export function toSession(ctx: Context, row: SessionTable) {
  return {
    sessionId: row.session_id,
    name: row.name,
    connector: row.connector,
    phoneNumber: row.phone_number,
    status: row.status,
    connectedAt: isoTime(row.connected_at),
    lastEventAt: isoTime(ctx.liveSessions.stateById(row.session_id)?.lastEventAt ?? row.last_event_at),
    error: row.error,
    options: visibleOptions(ctx, row),
    callbackUrl: callbackUrlOf(ctx, row),
    metadata: JSON.parse(row.metadata) as Record<string, string>,
    createdAt: isoTime(row.created_at),
    history: shownHistory(historyStateOf(row)),
    network: sessionNetwork(row),
  };
}
