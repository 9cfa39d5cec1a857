import type { Caller } from '../auth/authenticate.ts';
import { mediaTypes } from '../connectors/connector.ts';
import { query } from '../db/query.ts';
import { AppError, noSuch } from '../errors.ts';
import { sessionOf as sessionOfConversation } from '../events/conversation.ts';
import { firstIdAt } from '../ids.ts';
import type { Services } from './context.ts';
import { findSessionOf, ofOneSession } from './owners.ts';
import { isPosted } from './postedFiles.ts';

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

type IdField = keyof typeof resources;

/** The resources that belong to sessions, by the input fields that name them. */
const resources = {
  sessionId: 'session',
  ...ofOneSession,
  deliveryId: 'delivery',
  mediaId: 'file',
} as const;

/** Fields that name files, at any depth of an input. */
const FILE_FIELDS: readonly string[] = ['mediaId', 'pictureMediaId'];
/** Fields that name a file or have a URL. */
const FILE_OR_URL_FIELDS: readonly string[] = ['image'];

/** Files are stored before their messages, but the id of a message with a key is older than its file. */
const OLDEST_MESSAGE_MS = 3_600_000;

/** Whether a key that is limited to sessions may call the operation at all. */
export function isOpenToSessions(scope: SessionScope): boolean {
  return scope === 'none' || scope === 'filtered' || isIdField(scope);
}

function isIdField(scope: SessionScope): scope is IdField {
  return Object.hasOwn(resources, scope);
}

type Input = Record<string, unknown>;

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
  async limit(scope: SessionScope, caller: Caller, sessionIds: readonly string[], input: Input): Promise<Input> {
    const fields = new Set<IdField>(['sessionId', ...(isIdField(scope) ? [scope] : [])]);
    for (const field of fields) {
      const id = input[field];
      if (typeof id === 'string' && !(await this.#belongs(field, caller, sessionIds, id)))
        throw noSuch(resources[field], id, field === 'sessionId' ? field : undefined);
    }
    for (const id of filesIn(input))
      if (!(await this.#hasMedia(caller, sessionIds, id))) throw noSuch(resources.mediaId, id);
    if (scope !== 'sessionId' || input['sessionId'] !== undefined) return input;
    return { ...input, sessionId: await this.#soleOf(caller.accountId, sessionIds) };
  }

  /** Whether a resource belongs to one of the sessions. */
  async #belongs(kind: IdField, caller: Caller, sessionIds: readonly string[], id: string): Promise<boolean> {
    if (kind === 'mediaId') return this.#hasMedia(caller, sessionIds, id);
    const sessionId = await this.#sessionIdOf(kind, caller.accountId, id);
    return sessionId !== undefined && sessionIds.includes(sessionId);
  }

  async #sessionIdOf(field: Exclude<IdField, 'mediaId'>, accountId: string, id: string): Promise<string | undefined> {
    const { reader } = this.#services.database;
    if (field === 'sessionId') return id; // whether it exists is for the operation to find
    if (field !== 'deliveryId') return findSessionOf(reader, field, { accountId, id });
    const delivery = await conversationOf.first(reader, { accountId, id });
    return delivery && sessionOfConversation(delivery.conversation);
  }

  /** Whether a message or a group of the sessions has the file, or the key has added it. */
  async #hasMedia({ accountId, credential }: Caller, sessionIds: readonly string[], id: string): Promise<boolean> {
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
    if ((await groupWithPicture.first(database.reader, found)) !== undefined) return true;
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

/** The ids of all files that an input names. Does not recurse, because free JSON of the caller can be nested deeply. */
function filesIn(input: Input): ReadonlySet<string> {
  const ids = new Set<string>();
  const open: unknown[] = [input];
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    for (const [field, value] of Object.entries(part as object)) {
      if (typeof value === 'object' && value !== null) open.push(value);
      else if (typeof value === 'string' && isFileId(field, value)) ids.add(value);
    }
  }
  return ids;
}

const isFileId = (field: string, value: string): boolean =>
  FILE_FIELDS.includes(field) || (FILE_OR_URL_FIELDS.includes(field) && value.startsWith('med_'));

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
    .selectFrom('deliveries')
    .select('conversation')
    .where('account_id', '=', p.accountId)
    .where('delivery_id', '=', p.id),
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
