import type { ProfileBook, SandboxProfile } from '../connectors/sandbox/profiles.ts';
import type { Database } from '../db/database.ts';
import type { Queryable } from '../db/dialect.ts';
import { query } from '../db/query.ts';
import type { Media } from '../media/media.ts';
import { reopened } from './sandboxPost.ts';

const NOTHING: SandboxProfile = { name: null, about: null, picture: null };

/** The profiles of the sandbox network, in the database: every node reads those of all. */
export function createSandboxProfiles({ database, media }: { database: Database; media: Media }): ProfileBook {
  async function read(on: Queryable, number: string): Promise<SandboxProfile> {
    const row = await profileOf.first(on, { number });
    if (row === undefined) return NOTHING;
    // Written by `change`.
    const profile: SandboxProfile = JSON.parse(row.state);
    return profile.picture === null ? profile : { ...profile, picture: reopened(profile.picture, media) };
  }

  return {
    read: (number) => read(database.reader, number),
    change: (number, sessionId, { name, about, picture }) =>
      database.commit(async (tx) => {
        const profile: SandboxProfile = {
          ...(await read(tx, number)),
          ...(name !== undefined && { name }),
          ...(about !== undefined && { about: about === '' ? null : about }),
          ...(picture !== undefined && { picture }),
        };
        await putProfile.run(tx, { number, sessionId, state: JSON.stringify(profile) });
      }, sessionId),
    async forget(number, sessionId) {
      await database.commit((tx) => dropProfile.run(tx, { number, sessionId }));
    },
  };
}

const profileOf = query((db, p: { number: string }) =>
  db.selectFrom('sandbox_profiles').select('state').where('number', '=', p.number),
);

const putProfile = query((db, p: { number: string; sessionId: string; state: string }) =>
  db
    .insertInto('sandbox_profiles')
    .values({ number: p.number, session_id: p.sessionId, state: p.state })
    .onConflict((conflict) => conflict.column('number').doUpdateSet({ session_id: p.sessionId, state: p.state })),
);

const dropProfile = query((db, p: { number: string; sessionId: string }) =>
  db.deleteFrom('sandbox_profiles').where('number', '=', p.number).where('session_id', '=', p.sessionId),
);
