import type { Migration } from './migration.ts';

/**
 * Stores the ad of messages with a referral, to filter lists by it: few messages have one, so the indexes cost nothing
 * for the others. Messages of an earlier preview keep their referral, and the filters do not find them.
 */
export const ads: Migration = {
  version: 44,
  name: 'ads',
  statements: () => [
    'alter table messages add column ad_id text',
    'create index messages_referral on messages (account_id, message_id) where ad_id is not null',
    'create index messages_ad on messages (account_id, ad_id, message_id) where ad_id is not null',
    'create index messages_referral_chat on messages (session_id, chat_id, ad_id) where ad_id is not null',
  ],
};
