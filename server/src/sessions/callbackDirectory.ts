import { createHash, timingSafeEqual } from 'node:crypto';
import type { CallbackDirectory } from '../connectors/contract/business.ts';
import type { Database } from '../db/database.ts';
import { FencedError } from '../db/dialect.ts';
import { query } from '../db/query.ts';
import type { SessionRef } from '../messages/store.ts';
import { type Options, readOptions } from './options.ts';

/** More than a business account has numbers. */
const MAX_PEERS = 200;

/**
 * Finds the sessions that a network's call concerns, on every node and in every account: a network calls one URL for
 * all numbers of an app. The connector names the option by which they belong together. It never gets the options of
 * other sessions, which contain secrets of other accounts.
 */
export function callbackDirectoryOf(
  { reader, commit, seal }: Database,
  { accountId, sessionId }: SessionRef,
  connector: string,
  options: Options,
  mayWrite: () => boolean,
): CallbackDirectory {
  return {
    async register(keys) {
      if (!mayWrite()) throw new FencedError();
      const known = await keysOf.all(reader, { sessionId });
      if (known.length === keys.length && known.every(({ callback_key: key }) => keys.includes(key))) return;
      const rows = [...new Set(keys)].map((key) => ({
        session_id: sessionId,
        callback_key: key,
        account_id: accountId,
        connector,
      }));
      await commit(async ({ kysely }) => {
        await kysely.deleteFrom('callback_keys').where('session_id', '=', sessionId).execute();
        if (rows.length > 0) await kysely.insertInto('callback_keys').values(rows).execute();
      }, sessionId);
    },
    async peers(key, option) {
      const own = options[option];
      if (typeof own !== 'string') return [];
      const rows = await sessionsWithKey.all(reader, { key, connector, sessionId });
      return rows.filter((row) => isSame(own, readOptions(seal, row)[option])).map(({ session_id: peerId }) => peerId);
    },
  };
}

const digestOf = (text: string) => createHash('sha256').update(text).digest();

/** Compares in constant time. */
function isSame(own: string, other: unknown): boolean {
  return typeof other === 'string' && timingSafeEqual(digestOf(own), digestOf(other));
}

const keysOf = query((db, p: { sessionId: string }) =>
  db.selectFrom('callback_keys').select('callback_key').where('session_id', '=', p.sessionId),
);

const sessionsWithKey = query((db, p: { key: string; connector: string; sessionId: string }) =>
  db
    .selectFrom('callback_keys')
    .innerJoin('sessions', 'sessions.session_id', 'callback_keys.session_id')
    .selectAll('sessions')
    .where('callback_keys.callback_key', '=', p.key)
    .where('callback_keys.connector', '=', p.connector)
    .where('callback_keys.session_id', '<>', p.sessionId)
    .orderBy('sessions.session_id')
    .limit(MAX_PEERS),
);
