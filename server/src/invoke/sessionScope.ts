import type { TSchema } from 'typebox';
import type { Caller } from '../auth/authenticate.ts';
import { mediaTypes } from '../connectors/contract/content.ts';
import { accountNumber } from '../db/numbers.ts';
import { query } from '../db/query.ts';
import { AppError, noSuch } from '../errors.ts';
import { sessionOf as sessionOfConversation } from '../events/conversation.ts';
import { firstIdAt } from '../ids.ts';
import { fieldsOf, placesOf, textsAt } from './input/references.ts';
import { findSessionOf, ofOneSession } from './owners.ts';
import { isPosted } from './postedFiles.ts';
import type { Services } from './services.ts';

/**
 * The part of an operation that a key with `sessionIds` can use:
 * - `account`: nothing, because the operation concerns the whole account.
 * - `none`: all of it, because the operation concerns no session.
 * - `filtered`: what belongs to its sessions. The handler selects it, by `sessionsOf`.
 * - an input field: what the field names, if that belongs to its sessions. A `sessionId` that is left out is the only
 *   one of its sessions.
 *
 * A new operation has to choose one. Any other value is refused like `account`.
 */
export type SessionScope = 'account' | 'none' | 'filtered' | IdField;

const FIELDS = [
  'sessionId',
  'messageId',
  'batchId',
  'groupId',
  'channelId',
  'statusId',
  'deliveryId',
  'mediaId',
] as const;
type IdField = (typeof FIELDS)[number];

/** Resources that belong to sessions. */
const resources = ['session', ...ofOneSession, 'delivery', 'file'] as const;
type Resource = (typeof resources)[number];

/** Files are stored before their messages, but the id of a message with a key is older than its file. */
const OLDEST_MESSAGE_MS = 3_600_000;

/** Whether a key that is limited to sessions may call the operation at all. */
export function isOpenToSessions(scope: SessionScope): boolean {
  return scope === 'none' || scope === 'filtered' || isIdField(scope);
}

function isIdField(scope: SessionScope): scope is IdField {
  return FIELDS.some((field) => field === scope);
}

type Input = Record<string, unknown>;

interface Scoped {
  readonly scope: SessionScope;
  readonly input: TSchema;
}

/** Keeps the calls of keys that are limited to sessions within their sessions. */
export class SessionScopes {
  readonly #services: Pick<Services, 'database' | 'steady' | 'liveSessions'>;

  constructor(services: Pick<Services, 'database' | 'steady' | 'liveSessions'>) {
    this.#services = services;
  }

  /**
   * Returns the input, with the key's only session if it names none.
   * @throws {AppError} `not_found` for an id outside the sessions, as if it did not exist; `session_required`
   */
  async limit(
    { scope, input: schema }: Scoped,
    caller: Caller,
    sessionIds: readonly string[],
    input: Input,
  ): Promise<Input> {
    const scoped = fieldsOf(schema, resources).filter(({ field }) => field === scope);
    for (const { field, to } of [...fieldsOf(schema, ['session']), ...scoped]) {
      const id = input[field];
      if (typeof id === 'string' && !(await this.#belongs(to, caller, sessionIds, id)))
        throw noSuch(to, id, to === 'session' ? field : undefined);
    }
    for (const id of filesIn(schema, input))
      if (!(await this.hasFile(caller, sessionIds, id))) throw noSuch('file', id);
    if (scope !== 'sessionId' || input['sessionId'] !== undefined) return input;
    return { ...input, sessionId: await this.#soleOf(caller.accountId, sessionIds) };
  }

  /** Whether a resource belongs to one of the sessions. */
  async #belongs(to: Resource, caller: Caller, sessionIds: readonly string[], id: string): Promise<boolean> {
    if (to === 'file') return this.hasFile(caller, sessionIds, id);
    const sessionId = await this.#sessionIdOf(to, caller.accountId, id);
    return sessionId !== undefined && sessionIds.includes(sessionId);
  }

  async #sessionIdOf(to: Exclude<Resource, 'file'>, accountId: string, id: string): Promise<string | undefined> {
    const { reader } = this.#services.database;
    if (to === 'session') return id; // whether it exists is for the operation to find
    if (to !== 'delivery') return findSessionOf(reader, to, { accountId, id });
    const delivery = await conversationOf.first(reader, { accountId, id });
    return delivery && sessionOfConversation(delivery.conversation);
  }

  /** Whether a message or a group of the sessions has the file, or the key has added it. */
  async hasFile({ accountId, credential }: Caller, sessionIds: readonly string[], id: string): Promise<boolean> {
    const { database, steady } = this.#services;
    const keyId = credential.type === 'api_key' ? credential.keyId : '';
    const file = await fileOf.first(database.reader, { accountId, id, keyId });
    if (file === undefined) return false;
    if (file.key_id !== null) return true;
    const found = {
      accountId,
      mediaId: id,
      sessionIds: JSON.stringify(sessionIds),
      content: `%"mediaId":"${id}"%`,
      from: firstIdAt('msg', steady.fromWall(file.created_at - OLDEST_MESSAGE_MS)),
    };
    if ((await groupWithPicture.first(database.longReader, found)) !== undefined) return true;
    if (await isPosted(database.reader, found)) return true;
    return (await messageWithFile.first(database.longReader, found)) !== undefined;
  }

  /** @throws {AppError} `session_required` unless exactly one of the sessions exists */
  async #soleOf(accountId: string, sessionIds: readonly string[]): Promise<string> {
    const [sessionId = ''] = sessionIds;
    const { liveSessions } = this.#services;
    // Most sends, which then cost no query.
    if (sessionIds.length === 1 && liveSessions.stateOf({ accountId, sessionId }) !== undefined) return sessionId;
    const found = await presentSessions.all(this.#services.database.reader, {
      accountId,
      sessionIds: JSON.stringify(sessionIds),
    });
    const [first, second] = found;
    if (first === undefined)
      throw new AppError('session_required', 'The sessions of this API key no longer exist; change the key');
    if (second === undefined) return first.session_id;
    const message = 'is required because the API key has several sessions';
    throw new AppError('session_required', `\`sessionId\` ${message}`, {
      fields: [{ field: 'sessionId', code: 'required', message }],
    });
  }
}

/**
 * Whether an output that was stored for an earlier request belongs to the sessions. One that names no session belongs
 * to the session of the input.
 */
export function isWithin(sessionIds: readonly string[], input: Input, output: unknown): boolean {
  const named = sessionsIn(output);
  return (named.length === 0 ? [input['sessionId']] : named).every((id) => sessionIds.includes(id as string));
}

/** The sessions of a resource, or of the entries of a list in it. */
function sessionsIn(output: unknown): unknown[] {
  const { sessionId, ...rest } = output as Input;
  if (sessionId !== undefined) return [sessionId];
  return Object.values(rest).flatMap((value) =>
    Array.isArray(value) ? value.flatMap((entry: { sessionId?: unknown } | null) => entry?.sessionId ?? []) : [],
  );
}

/** The ids of all files that an input names. */
function filesIn(schema: TSchema, input: Input): ReadonlySet<string> {
  const named = placesOf(schema).flatMap(({ path, to }) => {
    if (to !== 'file' && to !== 'fileOrUrl') return [];
    return textsAt(input, path).filter(({ text }) => to === 'file' || text.startsWith('med_'));
  });
  return new Set(named.map(({ text }) => text));
}

const presentSessions = query((db, p: { accountId: string; sessionIds: string }, dialect) =>
  db
    .selectFrom('sessions')
    .select('session_id')
    .where('account_id', '=', p.accountId)
    .where('session_id', 'in', dialect.texts(p.sessionIds))
    .limit(2),
);

const conversationOf = query((db, p: { accountId: string; id: string }) =>
  db
    .selectFrom('deliveries as d')
    .innerJoin('events as e', 'e.position', 'd.event')
    .select('e.conversation')
    .where('d.account', '=', accountNumber(p.accountId))
    .where('d.delivery_id', '=', p.id),
);

const fileOf = query((db, p: { accountId: string; id: string; keyId: string }) =>
  db
    .selectFrom('media as m')
    .leftJoin('key_media as k', (join) =>
      join
        .onRef('k.account_id', '=', 'm.account_id')
        .onRef('k.media_id', '=', 'm.media_id')
        .on('k.key_id', '=', p.keyId),
    )
    .select(['m.created_at', 'k.key_id'])
    .where('m.account_id', '=', p.accountId)
    .where('m.media_id', '=', p.id),
);

interface Found {
  accountId: string;
  mediaId: string;
  sessionIds: string;
  content: string;
  from: string;
}

const groupWithPicture = query((db, p: Found, dialect) =>
  db
    .selectFrom('groups')
    .select('group_id')
    .where('account_id', '=', p.accountId)
    .where('session_id', 'in', dialect.texts(p.sessionIds))
    .where('picture_media_id', '=', p.mediaId)
    .limit(1),
);

/** Reads on from the time of the file: the message that brought it is one of the next. */
const messageWithFile = query((db, p: Found, dialect) =>
  db
    .selectFrom('messages')
    .select('message_id')
    .where('account_id', '=', p.accountId)
    .where('message_id', '>=', p.from)
    .where('session_id', 'in', dialect.texts(p.sessionIds))
    // Other types can contain JSON of the caller, which could name any file.
    .where('type', 'in', mediaTypes)
    .where('content', 'like', p.content)
    .orderBy('message_id')
    .limit(1),
);
