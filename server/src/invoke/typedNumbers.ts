import type { Caller } from '../auth/authenticate.ts';
import { AppError, type FieldError } from '../errors.ts';
import { type NetworkNumbers, shownNumbers } from '../messages/people/networkNumbers.ts';
import { isTyped, notPhoneNumber, readNumber } from './input/phoneNumbers.ts';
import { changedAt, pathsWhere, textsAt } from './input/references.ts';
import { type Operation, sessionsOf } from './operation.ts';
import type { Services } from './services.ts';

/*
 * The numbers of an input are judged by the numbering plans, because people mistype them. A number that the account was
 * shown is not judged: its network gave it, and would not find the person under another.
 */

type Input = Record<string, unknown>;

interface Found {
  readonly field: string;
  readonly text: string;
  readonly digits: string;
  readonly doubt: string | undefined;
  readonly meant: string | undefined;
}

export class TypedNumbers {
  readonly #database: Services['database'];
  readonly #noted: NetworkNumbers;
  /** Paths of typed numbers. */
  readonly #paths = new Map<Pick<Operation, 'input'>, readonly (readonly string[])[]>();

  constructor({ database }: Pick<Services, 'database'>, noted: NetworkNumbers) {
    this.#database = database;
    this.#noted = noted;
  }

  /**
   * Returns the input with the numbers that a person means.
   * @throws {AppError} `validation_failed` naming every number that no network could dial and that the account was
   * never shown
   */
  async check(operation: Pick<Operation, 'input'>, caller: Caller, input: Input): Promise<Input> {
    const found = this.#pathsOf(operation)
      .flatMap((path) => textsAt(input, path))
      .flatMap(({ field, text }) => doubtfulAt(field, text));
    if (found.length === 0) return input;
    const shown = await this.#shown(caller, found, input);
    const fields = found.flatMap(({ field, text, digits, doubt }): FieldError[] =>
      doubt === undefined || shown.has(digits) ? [] : [{ field, code: 'phone_number', message: notPhoneNumber(text) }],
    );
    const [first] = fields;
    if (first !== undefined) throw new AppError('validation_failed', `${first.field} ${first.message}`, { fields });
    const meant = new Map(
      found.flatMap(({ digits, text, meant }) => (meant === undefined || shown.has(digits) ? [] : [[text, meant]])),
    );
    if (meant.size === 0) return input;
    const correct = (text: string) => meant.get(text) ?? text;
    return this.#pathsOf(operation).reduce((changed, path) => changedAt(changed, path, correct), input);
  }

  /** Stores the numbers in an output, so that they are accepted from the account. */
  async noteOutput(accountId: string, output: unknown): Promise<void> {
    if (this.#noted.newIn(accountId, output).size === 0) return;
    await this.#database.commit(async (tx) => this.#noted.note(tx, accountId, output));
  }

  #shown(caller: Caller, found: readonly Found[], { sessionId, groupId }: Input): Promise<Set<string>> {
    const digits = [...new Set(found.map((one) => one.digits))];
    const sessionIds = typeof sessionId === 'string' ? [sessionId] : sessionsOf({ caller });
    const group = typeof groupId === 'string' ? groupId : undefined;
    return shownNumbers(this.#database.longReader, caller.accountId, digits, { sessionIds, groupId: group });
  }

  #pathsOf(operation: Pick<Operation, 'input'>): readonly (readonly string[])[] {
    let paths = this.#paths.get(operation);
    if (paths === undefined) {
      paths = pathsWhere(operation.input, (schema) => isTyped(schema) || undefined).map(([path]) => path);
      this.#paths.set(operation, paths);
    }
    return paths;
  }
}

/**
 * Reads the numbers of a list in which each entry has its own result, and returns a function that returns an entry with
 * the corrected number. The function throws for a number that no network could dial.
 */
export async function numberFinder(
  { database }: Pick<Services, 'database'>,
  { accountId, sessionId }: { readonly accountId: string; readonly sessionId: string },
  list: readonly string[],
): Promise<(entry: string, field: string) => string> {
  const doubtful = list.flatMap((text) => doubtfulAt('to', text)).map(({ digits }) => digits);
  const people = { sessionIds: [sessionId], groupId: undefined };
  const shown =
    doubtful.length === 0
      ? new Set<string>()
      : await shownNumbers(database.longReader, accountId, [...new Set(doubtful)], people);
  return (entry, field) => {
    const [found] = doubtfulAt(field, entry);
    if (found === undefined || shown.has(found.digits)) return entry;
    if (found.meant !== undefined) return found.meant;
    const message = notPhoneNumber(entry);
    throw new AppError('validation_failed', `${field} ${message}`, {
      fields: [{ field, code: 'phone_number', message }],
    });
  };
}

/** The number at a field, if only a network could have given it or if it means another one. */
function doubtfulAt(field: string, text: string): Found[] {
  const reading = readNumber(text);
  if (!('digits' in reading)) return [];
  const { digits, doubt, meant } = reading;
  return doubt === undefined && meant === undefined ? [] : [{ field, text, digits, doubt, meant }];
}
