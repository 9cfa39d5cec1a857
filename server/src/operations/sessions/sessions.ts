import { Type } from 'typebox';
import { isoTime } from '../../clock.ts';
import type { SessionTable } from '../../db/schema.ts';
import { AppError, invalidField, noSuch } from '../../errors.ts';
import { requireBelowLimit } from '../../invoke/accountLimit.ts';
import {
  IdempotencyKey,
  integer,
  list,
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
} from '../../invoke/input/fields.ts';
import { PhoneNumberInput } from '../../invoke/input/phoneNumbers.ts';
import { validator } from '../../invoke/input/validate.ts';
import { type Context, defineOperation, requireNoApproval, sessionsOf } from '../../invoke/operation.ts';
import { pageInput, pageOf, readPage } from '../../invoke/pages.ts';
import { findSession } from '../../invoke/resources.ts';
import { historyStateOf, shownHistory } from '../../messages/history/historyState.ts';
import { findSession as readSession, type SessionRef } from '../../messages/store.ts';
import { callbackPath } from '../../sessions/callbacks.ts';
import {
  keepSecrets,
  type Options as OptionValues,
  optionsColumn,
  readOptions,
  withoutSecrets,
} from '../../sessions/options.ts';
import { callTextKey, requireCallText } from '../shared/callText.ts';
import { acceptedMetadata, Metadata } from '../shared/metadata.ts';
import { SessionId } from '../shared/sessionFields.ts';
import { Health, healthOf } from './sessionHealth.ts';
import { SessionNetwork, sessionNetwork } from './sessionNetwork.ts';

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
  callTextKeyId: optional({
    ...string('API key that set the text for callers (`calls.message`); left out for a login.'),
    ...notForAgents,
  }),
  error: orNull(Type.String(), 'Why the session is not connected, as a sentence; null if there was no error.'),
  options: record(Type.Unknown(), 'Options of the network, without their secrets.'),
  callbackUrl: orNull(
    Type.String(),
    'URL that the network calls for this session; null if the network makes no calls.',
  ),
  metadata: record(Type.String(), 'Your own data, as you set it.'),
  createdAt: time('When the session was created.'),
  history: { ...SessionHistory, ...notForAgents },
  network: SessionNetwork,
  health: optional(Health),
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
    let own = ctx.database.reader.kysely
      .selectFrom('sessions')
      .selectAll()
      .where('account_id', '=', ctx.accountId)
      .where('deleting_at', 'is', null);
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
  approval: 'checked',
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
      phone_number: input.phoneNumber ?? null,
      status: 'created',
      wanted: 0,
      connected_at: null,
      disconnected_at: null,
      will_reconnect: 0,
      last_event_at: null,
      error: null,
      ...checkedOptions(ctx, sessionId, connector, { ...input.options }),
      metadata: acceptedMetadata(input.metadata ?? {}),
      created_at: ctx.clock.now(),
      history: null,
      lease_owner: null,
      lease_generation: 0,
      number_state: null,
      deleting_at: null,
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
  async readStored(ctx) {
    const row = await readSession(ctx.database.reader, {
      accountId: ctx.accountId,
      sessionId: `ses_${ctx.resourceId}`,
    });
    return row && toSession(ctx, row);
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
  approval: 'checked',
  // The options reach the connection, which is at the owner.
  owner: { field: 'sessionId', onlyWith: 'options' },
  permission: 'sessions:write',
  scope: 'sessionId',
  effect: 'write',
  summary: 'Update a session',
  description:
    'Change the name, the metadata or the options of a session. Fields that you leave out do not change. `metadata` and `options` replace what was set before, except that secret options stay unless you pass new ones. A session that is connected or connecting connects again with new options before the response, so `status` and `error` show whether they work. Other sessions use new options once they connect; `warnings` says so.',
  input: {
    sessionId: SessionId,
    name: optional(orNull(Name, 'Label for people; null removes it.')),
    metadata: optional(Metadata),
    options: optional(Options),
  },
  output: Type.Object({
    ...Session.properties,
    warnings: optional(
      list(Type.String(), 'Sentences that explain why the change has no effect yet; absent if it already has.'),
    ),
  }),
  errors: ['not_found'],
  async run(ctx, { sessionId, name, metadata, options }) {
    const present = await findSession(ctx, sessionId);
    const session = { accountId: ctx.accountId, sessionId };
    if (options !== undefined) await ctx.liveSessions.requireOwner(session);
    await ctx.database.commit(({ kysely }) =>
      kysely
        .updateTable('sessions')
        .set({
          session_id: sessionId,
          ...(name !== undefined && { name }),
          ...(metadata !== undefined && { metadata: acceptedMetadata(metadata) }),
          ...(options !== undefined && checkedOptions(ctx, sessionId, present.connector, { ...options }, present)),
        })
        .where('account_id', '=', ctx.accountId)
        .where('session_id', '=', sessionId)
        .execute(),
    );
    const warnings = options === undefined ? [] : await applyOptions(ctx, session);
    return { ...toSession(ctx, await findSession(ctx, sessionId)), ...(warnings.length > 0 && { warnings }) };
  },
});

/**
 * Connects a live session again, and returns remarks for the caller. The new options are stored, so a failure is one of
 * them.
 */
async function applyOptions(ctx: Context, session: SessionRef): Promise<string[]> {
  const { sessionId } = session;
  try {
    if (await ctx.sessions.applyOptions(session, ctx.signal())) return [];
    return [
      `The session is not connected: the new options are stored, and take effect when it connects (POST /sessions/${sessionId}/connect)`,
    ];
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    ctx.log.warn({ err: error, session: sessionId }, 'failed to connect a session with its new options');
    return [
      `The new options are stored, and take effect when the session connects (POST /sessions/${sessionId}/connect): ${error.message}`,
    ];
  }
}

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
  approval: 'free',
  owner: { field: 'sessionId' },
  permission: 'sessions:write',
  scope: 'sessionId',
  findsItself: true,
  effect: 'destructive',
  summary: 'Delete a session',
  description:
    'Delete a session with its chats, messages, contacts and groups. This cannot be undone. A connected session is first logged out of its network, which may take up to 5 s. Its events stay in the delivery log. The response comes after at most 10 s; a large session is deleted in the background, and a restart does not stop the deletion. Until it ends, other operations on the session return `not_found`.',
  input: sessionInput,
  output: object({ sessionId: SessionId, deleted: onlyTrue() }),
  errors: ['not_found'],
  async run(ctx, { sessionId }) {
    const session = { accountId: ctx.accountId, sessionId };
    // Not `findSession`: a repeated call waits for the deletion that is in progress.
    if ((await readSession(ctx.database.reader, session)) === undefined)
      throw noSuch('session', sessionId, 'sessionId');
    await ctx.sessions.delete(session);
    return { sessionId, deleted: true as const };
  },
});

/** @param present the current session, whose secrets stay unless new ones are passed */
function checkedOptions(
  ctx: Context,
  sessionId: string,
  name: string,
  given: OptionValues,
  present?: SessionTable,
): Pick<SessionTable, 'options' | 'call_text_key'> {
  const { connectors } = ctx.sessions;
  const { seal } = ctx.database;
  const connector = connectors.get(name);
  if (connector === undefined) {
    const known = [...connectors.keys()].join(', ');
    throw invalidField('connector', `This server has no connector "${name}"; use one of ${known}`, 'unknown_connector');
  }
  if (Object.keys(given).length > 0 || present !== undefined) requireNoApproval(ctx, 'Change the options of a session');
  const options = present ? keepSecrets(connector.options, readOptions(seal, present), given) : given;
  const checked = validator(object({ options: connector.options }))({ options })['options'] as OptionValues;
  connector.checkOptions?.(checked);
  const before = { options: present ? readOptions(seal, present) : {}, keyId: present?.call_text_key ?? null };
  requireCallText(ctx, checked, before.options);
  return { options: optionsColumn(seal, sessionId, checked), call_text_key: callTextKey(ctx, checked, before) };
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
    ...(row.call_text_key !== null && { callTextKeyId: row.call_text_key }),
    history: shownHistory(historyStateOf(row)),
    network: sessionNetwork(row),
  };
}
