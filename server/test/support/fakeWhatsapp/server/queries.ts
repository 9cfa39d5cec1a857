import type { BinaryNode } from 'baileys';
import type { Connection } from '../connection.ts';
import type { Network } from '../network.ts';
import { SERVER_JID, stanza } from '../stanza.ts';
import type { Account, Companion } from './account.ts';

export interface Query {
  readonly network: Network;
  readonly connection: Connection;
  /** The client that asks. */
  readonly companion: Companion;
  readonly account: Account;
  /** The whole stanza. */
  readonly iq: BinaryNode;
  /** The content of the query: its first child. */
  readonly ask: BinaryNode | undefined;
}

export type Answer = BinaryNode[] | undefined;
export type AnswerQuery = (query: Query) => Answer | Promise<Answer>;

/** A query that the server rejects with its own error. */
export class QueryError extends Error {
  readonly code: number;
  constructor(code: number, text: string) {
    super(text);
    this.code = code;
  }
}

/** Answers a query of a client that has logged in. */
export async function answerQuery(handlers: Readonly<Record<string, AnswerQuery>>, query: Query): Promise<void> {
  const { network, connection, iq, ask } = query;
  const namespace = iq.attrs['xmlns'] ?? '';
  network.counters.queries[namespace] = (network.counters.queries[namespace] ?? 0) + 1;
  if (network.faults.ignoredQueries.has(namespace)) return;
  const { id, to } = iq.attrs;
  const reply = (type: 'result' | 'error', content: Answer) =>
    connection.send(stanza('iq', { from: to ?? SERVER_JID, id, type }, content));
  if (network.faults.emptiedQueries.has(namespace)) return reply('result', undefined);
  const { limitedQueries } = network.faults;
  const limited = [namespace, ask?.tag ?? ''].find((name) => (limitedQueries.get(name) ?? 0) > 0);
  if (limited !== undefined) {
    limitedQueries.set(limited, (limitedQueries.get(limited) ?? 0) - 1);
    return reply('error', [stanza('error', { code: '429', text: 'rate-overlimit' })]);
  }
  try {
    // Most queries of a client about itself, such as statistics, need only an empty result.
    const answer = await handlers[namespace]?.(query);
    const kept = network.faults.withheldAnswers.get(ask?.tag ?? '');
    if (kept === undefined) reply('result', answer);
    else kept.push(() => reply('result', answer));
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    reply('error', [stanza('error', { code: String(error.code), text: error.message })]);
  }
}
