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

type Ad = Pick<MessageRow, 'account_id' | 'session_id' | 'chat_id'> & { readonly ad_id: string };

/** Stores the ads of messages that have one. */
export async function storeChatAds(
  tx: Tx,
  rows: readonly (Omit<Ad, 'ad_id'> & Pick<MessageRow, 'ad_id'>)[],
): Promise<void> {
  const ads = rows.flatMap(({ account_id, session_id, chat_id, ad_id }) =>
    ad_id === null ? [] : [{ account_id, session_id, chat_id, ad_id }],
  );
  if (ads.length === 0) return;
  const byChat = Map.groupBy(ads, keyOf);
  const chats = [...byChat.values()].flatMap(([first]) => first ?? []);
  const known = Map.groupBy(await adsOf.all(tx, chats), keyOf);
  // The statement itself cannot count: on PostgreSQL, it does not see the rows that it inserts.
  const fresh = [...byChat].flatMap(([chat, wanted]) => {
    const stored = new Set(known.get(chat)?.map(({ ad_id }) => ad_id));
    const others = new Map(wanted.filter(({ ad_id }) => !stored.has(ad_id)).map((ad) => [ad.ad_id, ad]));
    return [...others.values()].slice(0, Math.max(0, MAX_ADS - stored.size));
  });
  await insertAds.run(tx, fresh);
}

const keyOf = ({ session_id, chat_id }: Pick<Ad, 'session_id' | 'chat_id'>): string => `${session_id} ${chat_id}`;

const adsOf = batch(
  { session_id: 'text', chat_id: 'text' },
  ({ row, join }) => sql<Omit<Ad, 'account_id'>>`
    select a.session_id, a.chat_id, a.ad_id from chat_ads a ${join}
    where a.session_id = ${row.session_id} and a.chat_id = ${row.chat_id}`,
);

const insertAds = batch(
  { account_id: 'text', session_id: 'text', chat_id: 'text', ad_id: 'text' },
  ({ row, from }) => sql`
    insert into chat_ads (account_id, session_id, chat_id, ad_id)
    select ${row.account_id}, ${row.session_id}, ${row.chat_id}, ${row.ad_id} ${from}
    where true
    on conflict do nothing`,
);
