import { type CompleteResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { eventKinds } from '../../events/events.ts';
import { denialOf, type Invoke, type Operation } from '../../invoke/operation.ts';
import { listChats } from '../../operations/messages/chats.ts';
import { listContacts } from '../../operations/messages/contacts.ts';
import { listConnectors } from '../../operations/sessions/connectors.ts';
import { listSessions } from '../../operations/sessions/sessions.ts';
import { listDeliveries } from '../../operations/webhooks/deliveries.ts';
import type { Principal } from './mount.ts';

/**
 * The kind of values that a client can suggest for an argument. `sessionId` suggests ids, `session` the names that
 * people gave sessions. `events` is a list with commas.
 */
export type Source = 'sessionId' | 'session' | 'chat' | 'connector' | 'events' | 'undeliveredMessage';

export interface Typed {
  readonly value: string;
  /** The arguments that are already filled in. */
  readonly others: Readonly<Record<string, string>>;
}

interface Candidate {
  readonly value: string;
  /** The texts whose beginning a person may type. Third parties chose some, so they are never suggested. */
  readonly terms: readonly (string | null)[];
}

interface Found {
  readonly candidates: readonly Candidate[];
  /** Whether there are candidates that were not read. */
  readonly hasMore: boolean;
}

/** The protocol's limit. */
const MAX_VALUES = 100;
/** One page of a list, so that the cost of a keystroke is bounded. */
const READ = 200;
/** Limit of the search of contacts. */
const MAX_SEARCH_LENGTH = 100;

const NONE: Found = { candidates: [], hasMore: false };

/**
 * Suggests values for arguments of prompts and variables of resource templates. It reads through the operations, as the
 * caller, so it shows nothing that the caller's key could not list.
 */
export class Completions {
  readonly #invoke: Invoke;

  constructor(invoke: Invoke) {
    this.#invoke = invoke;
  }

  async complete(principal: Principal, source: Source | undefined, typed: Typed): Promise<CompleteResult> {
    // It would match everything, because spaces and the punctuation of numbers are ignored.
    if (/^[\s\p{P}+]+$/u.test(typed.value)) return answer([], false);
    if (source === 'events') return answer(eventLists(typed.value), false);
    const { candidates, hasMore } = source === undefined ? NONE : await this.#find(principal, source, typed);
    const matches = candidates.filter(({ terms }) => terms.some((term) => begins(term, typed.value)));
    return answer([...new Set(matches.map(({ value }) => value))], hasMore);
  }

  #find(principal: Principal, source: Exclude<Source, 'events'>, typed: Typed): Promise<Found> {
    switch (source) {
      case 'sessionId':
        return this.#sessions(principal, ({ sessionId }) => sessionId);
      case 'session':
        return this.#sessions(principal, familiarName);
      case 'chat':
        return this.#chats(principal, typed);
      case 'connector':
        return this.#connectors(principal);
      case 'undeliveredMessage':
        return this.#undeliveredMessages(principal);
    }
  }

  async #sessions(principal: Principal, shownAs: (session: SessionOutput, all: readonly SessionOutput[]) => string) {
    const { data, hasMore } = await this.#list<SessionOutput>(principal, listSessions);
    const candidates = data.map((session) => ({
      value: shownAs(session, data),
      terms: [session.sessionId, session.name, session.phoneNumber],
    }));
    return { candidates, hasMore };
  }

  /** The most recent chats, and contacts that match what was typed. Suggests numbers and group ids. */
  async #chats(principal: Principal, { value, others }: Typed): Promise<Found> {
    const sessionId = await this.#sessionOf(principal, others['sessionId'] ?? others['session']);
    if (sessionId === null) return NONE;
    const ofSession = sessionId === undefined ? {} : { sessionId };
    const chats = await this.#list<ChatOutput>(principal, listChats, ofSession);
    const typed = value.trim();
    const isSearch = typed !== '' && typed.length <= MAX_SEARCH_LENGTH;
    const contacts = isSearch
      ? await this.#list<ContactOutput>(principal, listContacts, { ...ofSession, q: typed, limit: MAX_VALUES })
      : { data: [], hasMore: false };
    return {
      candidates: [
        ...chats.data.map(({ chatId, name }) => ({ value: chatId, terms: [chatId, name] })),
        ...contacts.data.map(({ phoneNumber, name }) => ({ value: phoneNumber, terms: [phoneNumber, name] })),
      ],
      hasMore: chats.hasMore || contacts.hasMore,
    };
  }

  /**
   * Returns the id of the session that an argument names: undefined if it names none, null if it names an unknown one.
   */
  async #sessionOf(principal: Principal, given: string | undefined): Promise<string | undefined | null> {
    if (!given) return undefined;
    const { data } = await this.#list<SessionOutput>(principal, listSessions);
    const named = (session: SessionOutput) => [session.sessionId, session.name, session.phoneNumber].includes(given);
    return data.find(named)?.sessionId ?? null;
  }

  async #connectors(principal: Principal): Promise<Found> {
    const { data } = await this.#list<{ name: string }>(principal, listConnectors, {});
    return { candidates: data.map(({ name }) => ({ value: name, terms: [name] })), hasMore: false };
  }

  async #undeliveredMessages(principal: Principal): Promise<Found> {
    const { data, hasMore } = await this.#list<DeliveryOutput>(principal, listDeliveries, { states: ['failed'] });
    const ids = data.flatMap(({ messageId }) => messageId ?? []);
    return { candidates: ids.map((id) => ({ value: id, terms: [id] })), hasMore };
  }

  /** Reads one page of a list; nothing if the caller may not read it, or names something that does not exist. */
  async #list<T>(principal: Principal, operation: Operation, filters: Readonly<Record<string, unknown>> = {}) {
    if (denialOf(operation, principal.caller) !== undefined) return { data: [] as readonly T[], hasMore: false };
    const input = operation === listConnectors ? filters : { limit: READ, ...filters };
    const found = await this.#invoke(operation, { ...principal, input, channel: 'mcp' });
    if (found.ok) {
      // As the operation's schema says.
      const { data, nextCursor } = found.output as { data: readonly T[]; nextCursor?: string | null };
      return { data, hasMore: typeof nextCursor === 'string' };
    }
    if (found.status >= 500) throw new ProtocolError(ProtocolErrorCode.InternalError, found.problem.detail);
    return { data: [] as readonly T[], hasMore: false };
  }
}

interface SessionOutput {
  readonly sessionId: string;
  readonly name: string | null;
  readonly phoneNumber: string | null;
}
interface ChatOutput {
  readonly chatId: string;
  readonly name: string | null;
}
interface ContactOutput {
  readonly phoneNumber: string;
  readonly name: string | null;
}
interface DeliveryOutput {
  readonly messageId: string | null;
}

/** The name of a session if no other has it, otherwise its number or id. */
function familiarName({ sessionId, name, phoneNumber }: SessionOutput, all: readonly SessionOutput[]): string {
  if (name !== null && all.filter((one) => one.name === name).length === 1) return name;
  return phoneNumber ?? sessionId;
}

/** Completes the last of several event types. */
function eventLists(value: string): string[] {
  const end = value.lastIndexOf(',') + 1;
  const last = value.slice(end).trimStart();
  const given = value.slice(0, value.length - last.length);
  const chosen = given.split(',').map((one) => one.trim());
  const rest = eventKinds.filter((kind) => begins(kind, last) && !chosen.includes(kind));
  // A long text that is not a list of event types is not repeated a hundred times.
  return given.length > MAX_LIST_LENGTH ? [] : rest.map((kind) => `${given}${kind}`);
}

/** More than all event types together. */
const MAX_LIST_LENGTH = 1000;

/** Whether a text, one of its words, or its digits begin with what was typed. */
function begins(term: string | null, typed: string): boolean {
  if (term === null) return false;
  const [text, start] = [term.toLowerCase(), typed.trim().toLowerCase()];
  if (text.startsWith(start)) return true;
  if (/^\+?[\d\s()-]+$/.test(start) && text.startsWith(start.replace(/\D/g, ''))) return true;
  return text.split(/\s+/).some((word) => word.startsWith(start));
}

function answer(values: readonly string[], hasUnread: boolean): CompleteResult {
  return {
    completion: {
      values: values.slice(0, MAX_VALUES),
      // Unknown as long as there are entries that were not read.
      ...(!hasUnread && { total: values.length }),
      hasMore: hasUnread || values.length > MAX_VALUES,
    },
  };
}
