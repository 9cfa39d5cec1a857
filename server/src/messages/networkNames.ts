import type { Connector } from '../connectors/contract/connector.ts';
import type { NetworkChat } from '../connectors/contract/messageKey.ts';
import type { Queryable } from '../db/dialect.ts';
import { query } from '../db/query.ts';
import type { MessageRow } from '../db/schema.ts';

/* The names that messages, people and groups have on their network. */

/**
 * The network's id of a message. Undefined if it has only ours: then the network has not accepted it, or tells no id.
 * @param connector undefined if this server does not have it
 */
export function networkIdOf(
  { direction, network_id: id, sent_at: sentAt }: Pick<MessageRow, 'direction' | 'network_id' | 'sent_at'>,
  connector: Connector | undefined,
): string | undefined {
  if (direction === 'incoming' || !id.startsWith('msg_')) return id;
  return sentAt === null ? undefined : connector?.messageIdOf?.(id);
}

/** The network's address of a person, or of a group by the network's id of it. */
export function addressOf(chat: NetworkChat, connector: Connector | undefined): string {
  return connector?.addressOf?.(chat) ?? chat.id;
}

/** Reads the network's ids of an account's groups, by their ids. */
export async function networkIdsOfGroups(
  on: Queryable,
  accountId: string,
  groupIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const groups = await networkIds.all(on, { accountId, ids: JSON.stringify(groupIds) });
  return new Map(groups.map(({ group_id, network_id }) => [group_id, network_id]));
}

const networkIds = query((db, p: { accountId: string; ids: string }, dialect) =>
  db
    .selectFrom('groups')
    .select(['group_id', 'network_id'])
    .where('account_id', '=', p.accountId)
    .where('group_id', 'in', dialect.texts(p.ids)),
);
