import { sql } from 'kysely';
import type { Tx } from '../db/commit.ts';
import { batch } from '../db/query.ts';
import type { MessageRow } from '../db/schema.ts';

/*
 * Ads and posts that led people to a chat, with a message or by opening it. They stay when the messages are deleted, so
 * that the chat is still found by its ad, until the chat itself is deleted.
 */

/** Different ads per chat. A sender can make up any number of them on a linked WhatsApp session. */
const MAX_ADS = 100;

/** Stores the ads of messages that have one. */
export async function storeChatAds(
  tx: Tx,
  rows: readonly Pick<MessageRow, 'account_id' | 'session_id' | 'chat_id' | 'ad_id'>[],
): Promise<void> {
  await insertAds.run(
    tx,
    rows.flatMap(({ account_id, session_id, chat_id, ad_id }) =>
      ad_id === null ? [] : [{ account_id, session_id, chat_id, ad_id }],
    ),
  );
}

const insertAds = batch(
  { account_id: 'text', session_id: 'text', chat_id: 'text', ad_id: 'text' },
  ({ row, from }) => sql`
    insert into chat_ads (account_id, session_id, chat_id, ad_id)
    select ${row.account_id}, ${row.session_id}, ${row.chat_id}, ${row.ad_id} ${from}
    where (
      select count(*) from chat_ads as a where a.session_id = ${row.session_id} and a.chat_id = ${row.chat_id}
    ) < ${sql.lit(MAX_ADS)}
    on conflict do nothing`,
);
