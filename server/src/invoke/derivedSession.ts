import type { Caller } from '../auth/authenticate.ts';
import { query } from '../db/query.ts';
import { AppError } from '../errors.ts';
import { isGroupId } from '../ids.ts';
import { digitsOf } from './input/phoneNumbers.ts';
import { fieldsOf } from './input/references.ts';
import { type Call, type Operation, sessionsOf } from './operation.ts';
import { findSessionOf } from './owners.ts';
import type { Services } from './services.ts';

type Input = Record<string, unknown>;

/** References by a phone number or the id of a group. */
const CHATS = ['chat', 'recipient', 'person'] as const;
/** Sessions that an error lists. */
const MAX_LISTED = 20;

type Needed = Pick<Services, 'database' | 'sessions'>;

/**
 * Finds the session that a call means without naming it, for callers that ask for that: the only one with the message,
 * group or chat of its input.
 */
export class DerivedSessions {
  readonly #services: Needed;

  constructor(services: Needed) {
    this.#services = services;
  }

  /**
   * Returns the input with the session that it determines, or unchanged if it determines none.
   * @throws {AppError} `session_required` if several sessions have the chat
   */
  async derive(operation: Operation, call: Call, input: Input): Promise<Input> {
    const { caller, channel, derivedSessionId } = call;
    if (operation.credential === 'none' || operation.scope !== 'sessionId' || caller === undefined) return input;
    if (input['sessionId'] !== undefined) return input;
    if (derivedSessionId !== undefined) return { ...input, sessionId: derivedSessionId };
    if (channel !== 'mcp' || (await this.#hasOneSession(caller))) return input;
    const chats = fieldsOf(operation.input, CHATS).map(({ field }) => input[field]);
    const sessionId =
      (await this.#ofId(operation, caller, input, chats)) ?? (await this.#ofChat(caller, chats.filter(isText)));
    return sessionId === undefined ? input : { ...input, sessionId };
  }

  async #hasOneSession(caller: Caller): Promise<boolean> {
    if (sessionsOf({ caller })?.length === 1) return true;
    return (await this.#services.sessions.sole.of(caller.accountId)) !== 'several';
  }

  /** By something that belongs to one session. */
  async #ofId(
    operation: Operation,
    caller: Caller,
    input: Input,
    chats: readonly unknown[],
  ): Promise<string | undefined> {
    const { accountId } = caller;
    const named = fieldsOf(operation.input, ['message', 'group']).map(({ field, to }) => [to, input[field]] as const);
    for (const [to, id] of [...named, ...chats.map((chat) => ['group', chat] as const)]) {
      if (!isText(id) || (to === 'group' && !isGroupId(id))) continue;
      const sessionId = await findSessionOf(this.#services.database.reader, to, { accountId, id });
      if (sessionId !== undefined && isAllowed(caller, sessionId)) return sessionId;
    }
    return undefined;
  }

  async #ofChat(caller: Caller, chats: readonly string[]): Promise<string | undefined> {
    const { accountId } = caller;
    for (const chat of chats) {
      if (isGroupId(chat)) continue;
      const found = await sessionsWithChat.all(this.#services.database.reader, {
        accountId,
        chatId: digitsOf(chat) ?? chat,
      });
      const allowed = found.map(({ session_id }) => session_id).filter((id) => isAllowed(caller, id));
      if (allowed.length > 1) throw ambiguous(chat, allowed);
      if (allowed[0] !== undefined) return allowed[0];
    }
    return undefined;
  }
}

const isText = (value: unknown): value is string => typeof value === 'string';

const isAllowed = (caller: Caller, sessionId: string) => sessionsOf({ caller })?.includes(sessionId) ?? true;

function ambiguous(chat: string, sessionIds: readonly string[]): AppError {
  const listed = sessionIds.slice(0, MAX_LISTED).join(', ');
  const more = sessionIds.length > MAX_LISTED ? ` and ${sessionIds.length - MAX_LISTED} more` : '';
  const message = `is required because several sessions have a chat with ${chat}: ${listed}${more}`;
  return new AppError('session_required', `\`sessionId\` ${message}`, {
    fields: [{ field: 'sessionId', code: 'required', message }],
  });
}

/** By the sessions of the account, because the key of chats begins with the session. */
const sessionsWithChat = query((db, p: { accountId: string; chatId: string }) =>
  db
    .selectFrom('sessions as s')
    .innerJoin('chats as c', 'c.session_id', 's.session_id')
    .select('s.session_id')
    .where('s.account_id', '=', p.accountId)
    .where('s.deleting_at', 'is', null)
    .where('c.chat_id', '=', p.chatId)
    .orderBy('s.session_id'),
);
