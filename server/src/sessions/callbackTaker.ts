import type { CallbackAnswer, CallbackRequest } from '../connectors/contract/callbacks.ts';
import type { Connector } from '../connectors/contract/connector.ts';
import type { Database } from '../db/database.ts';
import { AppError, noSuch } from '../errors.ts';
import type { Log } from '../log.ts';
import { findSession, type SessionRef } from '../messages/store.ts';
import { callbackDirectoryOf } from './callbackDirectory.ts';
import type { LiveSessions } from './liveSessions.ts';
import { readOptions } from './options.ts';
import { storeOf } from './store.ts';

interface Needed {
  readonly database: Database;
  readonly sessions: { readonly connectors: ReadonlyMap<string, Connector> };
  readonly liveSessions: LiveSessions;
  readonly log: Log;
}

type Take = (request: CallbackRequest) => Promise<CallbackAnswer>;

/**
 * Returns the receiver of a network's calls for a session: its connection, or else its connector, if that answers for
 * sessions that are not connected.
 * @throws {AppError} `not_found`, `session_not_connected`, `not_supported`, and the errors of
 * `LiveSessions.requireOwner`
 */
export async function callbackTakerOf(needed: Needed, session: SessionRef): Promise<Take> {
  try {
    return await needed.liveSessions.part(session, 'takeCallback');
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'session_not_connected') throw error;
    const take = await offlineTakerOf(needed, session);
    if (take === undefined) throw error;
    return take;
  }
}

const never = () => false;

/** Such a call changes nothing, so every node can answer it. */
async function offlineTakerOf({ database, sessions, log }: Needed, session: SessionRef): Promise<Take | undefined> {
  const { sessionId } = session;
  const row = await findSession(database.reader, session);
  if (row === undefined) throw noSuch('session', sessionId);
  const connector = sessions.connectors.get(row.connector);
  const take = connector?.takeOfflineCallback?.bind(connector);
  if (take === undefined) return undefined;
  const options = readOptions(database.seal, row);
  return (request) =>
    take(request, {
      options,
      store: storeOf(database, sessionId, never),
      callbacks: callbackDirectoryOf(database, session, row.connector, options, never),
      log: log.child({ session: sessionId }),
    });
}
