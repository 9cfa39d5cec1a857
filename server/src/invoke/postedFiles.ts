import type { Queryable } from '../db/dialect.ts';
import { query } from '../db/query.ts';

interface Wanted {
  readonly accountId: string;
  /** JSON list. */
  readonly sessionIds: string;
  readonly mediaId: string;
}

/** Whether a status or a channel of the sessions has a file. */
export async function isPosted(on: Queryable, wanted: Wanted): Promise<boolean> {
  return (await statusWith.first(on, wanted)) !== undefined || (await postWith.first(on, wanted)) !== undefined;
}

const statusWith = query((db, p: Wanted, dialect) =>
  db
    .selectFrom('statuses')
    .select('status_id')
    .where('account_id', '=', p.accountId)
    .where('session_id', 'in', dialect.texts(p.sessionIds))
    .where('media_id', '=', p.mediaId)
    .limit(1),
);

const postWith = query((db, p: Wanted, dialect) =>
  db
    .selectFrom('channel_posts')
    .select('post_id')
    .where('account_id', '=', p.accountId)
    .where('session_id', 'in', dialect.texts(p.sessionIds))
    .where('media_id', '=', p.mediaId)
    .limit(1),
);
