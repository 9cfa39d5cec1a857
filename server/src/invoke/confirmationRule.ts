import { createHash } from 'node:crypto';
import type { Caller } from '../auth/authenticate.ts';
import { scopeOf } from '../auth/keyScope.ts';
import type { Queryable } from '../db/dialect.ts';
import { query } from '../db/query.ts';
import { AppError, noSuch } from '../errors.ts';
import { canonical } from './idempotency.ts';
import { digitsOf } from './input/phoneNumbers.ts';
import { placesOf, referenceOf } from './input/references.ts';
import type { Call, Operation } from './operation.ts';
import { findSessionOf, isOfOneSession } from './owners.ts';
import { Questions } from './questions.ts';
import type { Services } from './services.ts';

type Input = Record<string, unknown>;

type Effects = Pick<Operation, 'effect' | 'stopsMessages' | 'reachesStrangers'>;
type Reach = Pick<Exclude<Operation, { credential: 'none' }>, 'recipients' | 'input'>;

/** Whether keys can ask their user before an operation. */
export function canNeedConfirmation(operation: Effects & Reach): boolean {
  return isDestructive(operation) || operation.reachesStrangers === true || recipientField(operation) !== undefined;
}

/** The calls that `destructive` covers: they remove or change something, or stop what others rely on. */
function isDestructive({ effect, stopsMessages }: Effects): boolean {
  return effect === 'destructive' || stopsMessages === true;
}

/** The field with the people or groups to whom an operation can write for the first time. */
function recipientField({ recipients, input }: Reach): string | undefined {
  if (recipients === undefined) return undefined;
  const places = placesOf(input).filter(({ to }) => to === 'recipient' || to === 'person');
  const place = places.find(({ path, to }) => (recipients === 'each' ? to === 'recipient' : path[0] === recipients));
  return place?.path[0];
}

/**
 * The rule of keys with `confirm`: which calls the user has to confirm. It is part of every call, so that no channel
 * can forget it; the channel decides how to ask.
 */
export class ConfirmationRule {
  readonly #services: Pick<Services, 'database' | 'sessions'>;
  readonly #questions: Questions;

  constructor(services: Pick<Services, 'database' | 'sessions'>) {
    this.#services = services;
    this.#questions = new Questions(services.database.reader);
  }

  /**
   * Asks if the key requires it. Returns the input with the session that was resolved for the question.
   * @throws {AppError} the errors of `Confirm`; `not_found` if the message or group of the question does not exist;
   * `session_required`
   */
  async require(operation: Operation, call: Call, input: Input): Promise<Input> {
    const { caller, isForwarded, confirm } = call;
    const kinds = caller === undefined ? undefined : scopeOf(caller)?.confirm;
    // The node that forwarded a call has asked.
    if (caller === undefined || kinds === undefined || isForwarded === true) return input;
    const asksFirst = kinds.includes('new_recipients');
    const named = asksFirst ? recipientsOf(operation, input) : [];
    const isCertain =
      (kinds.includes('destructive') && isDestructive(operation)) || (asksFirst && operation.reachesStrangers === true);
    if (!isCertain && named.length === 0) return input;
    const known = await this.#withSession(operation, caller, input);
    const newRecipients = await newRecipientsOf(this.#services.database.reader, { ...known, ...caller }, named);
    if (!isCertain && newRecipients.length === 0) return known.input;
    if (confirm === undefined) throw new AppError('confirmation_required', ASKS_FIRST);
    const question = await this.#questions.about(operation, caller, { ...known, newRecipients });
    const subject = digestOf(caller, operation, known.input, question);
    await confirm({ question, subject });
    return known.input;
  }

  /** The session of a call, which the run then uses too. Undefined for an operation that concerns no session. */
  async #withSession(
    operation: Operation,
    { accountId }: Caller,
    input: Input,
  ): Promise<{ input: Input; sessionId: string | undefined }> {
    if (operation.credential === 'none') return { input, sessionId: undefined };
    const { scope } = operation;
    const { database, sessions } = this.#services;
    const reference = referenceOf(operation.input, [scope]);
    if (isOfOneSession(reference)) {
      const id = String(input[scope]);
      const sessionId = await findSessionOf(database.reader, reference, { accountId, id });
      if (sessionId === undefined) throw noSuch(reference, id);
      return { input, sessionId };
    }
    if (typeof input['sessionId'] === 'string') return { input, sessionId: input['sessionId'] };
    if (scope !== 'sessionId') return { input, sessionId: undefined };
    const sole = await sessions.sole.of(accountId);
    if (typeof sole === 'string') throw new AppError('session_required');
    return { input: { ...input, ...sole }, sessionId: sole.sessionId };
  }
}

export const ASKS_FIRST = 'This API key asks its user before such a call (`confirm`), which is possible only over MCP';

/** Returns those of the recipients with whom the session has no chat; all of them if there is no session. */
export async function newRecipientsOf(
  on: Queryable,
  { accountId, sessionId }: { readonly accountId: string; readonly sessionId: string | undefined },
  recipients: readonly string[],
): Promise<string[]> {
  if (sessionId === undefined || recipients.length === 0) return [...recipients];
  const found = await chatsWith.all(on, { accountId, sessionId, chats: JSON.stringify(recipients) });
  const known = new Set(found.map(({ chat_id }) => chat_id));
  return recipients.filter((recipient) => !known.has(recipient));
}

/** The people and groups that a call can write to for the first time. */
function recipientsOf(operation: Operation, input: Input): string[] {
  const field = recipientField(operation);
  const { action = 'add' } = input;
  if (field === undefined || action !== 'add') return [];
  // Validated by the schema of the input, which also bounds the list.
  const named = [input[field]].flat() as string[];
  return [...new Set(named.map((one) => digitsOf(one) ?? one))];
}

function digestOf({ accountId, credential }: Caller, { id }: Operation, input: Input, question: string): string {
  const keyId = credential.type === 'api_key' ? credential.keyId : '';
  return createHash('sha256')
    .update(canonical([accountId, keyId, id, input, question]))
    .digest('base64url');
}

const chatsWith = query((db, p: { accountId: string; sessionId: string; chats: string }, dialect) =>
  db
    .selectFrom('chats')
    .select('chat_id')
    .where('account_id', '=', p.accountId)
    .where('session_id', '=', p.sessionId)
    .where('chat_id', 'in', dialect.texts(p.chats)),
);
