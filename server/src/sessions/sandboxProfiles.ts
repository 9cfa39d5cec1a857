import type { ProfileBook, SandboxProfile } from '../connectors/sandbox/profiles.ts';
import type { Database } from '../db/database.ts';
import type { Queryable } from '../db/dialect.ts';
import { query } from '../db/query.ts';
import type { Media } from '../media/media.ts';
import { addressOf, reopened } from './sandboxPost.ts';

const NOTHING: SandboxProfile = { name: null, about: null, picture: null };

/** The profiles of the sandbox networks, by their scope, in the database: every node reads those of all. */
export function createSandboxProfiles({
  database,
  media,
}: {
  database: Database;
  media: Media;
}): (scope: string) => ProfileBook {
  async function read(on: Queryable, address: string): Promise<SandboxProfile> {
    const row = await profileOf.first(on, { address });
    if (row === undefined) return NOTHING;
    // Written by `change`.
    const profile: SandboxProfile = JSON.parse(row.state);
    return profile.picture === null ? profile : { ...profile, picture: reopened(profile.picture, media) };
  }

  return (scope) => ({
    read: (number) => read(database.reader, addressOf(scope, number)),
    change: (number, sessionId, { name, about, picture }) =>
      database.commit(async (tx) => {
        const address = addressOf(scope, number);
        const profile: SandboxProfile = {
          ...(await read(tx, address)),
          ...(name !== undefined && { name }),
          ...(about !== undefined && { about: about === '' ? null : about }),
          ...(picture !== undefined && { picture }),
        };
        await putProfile.run(tx, { address, sessionId, state: JSON.stringify(profile) });
      }, sessionId),
    async forget(number, sessionId) {
      const addresses = { address: addressOf(scope, number), bare: number };
      await database.commit((tx) => dropProfile.run(tx, { ...addresses, sessionId }));
    },
  });
}

const profileOf = query((db, p: { address: string }) =>
  db.selectFrom('sandbox_profiles').select('state').where('number', '=', p.address),
);

const putProfile = query((db, p: { address: string; sessionId: string; state: string }) =>
  db
    .insertInto('sandbox_profiles')
    .values({ number: p.address, session_id: p.sessionId, state: p.state })
    .onConflict((conflict) => conflict.column('number').doUpdateSet({ session_id: p.sessionId, state: p.state })),
);

/** Also the one that an older version has stored, under the bare number. */
const dropProfile = query((db, p: { address: string; bare: string; sessionId: string }) =>
  db.deleteFrom('sandbox_profiles').where('number', 'in', [p.address, p.bare]).where('session_id', '=', p.sessionId),
);
