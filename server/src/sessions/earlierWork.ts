import { endedWithin } from '../async.ts';
import type { Clock } from '../clock.ts';
import { AppError, isAway } from '../errors.ts';
import type { Deletions } from '../jobs/deletions.ts';
import { finishIdentities } from '../messages/identities/identities.ts';
import { finishQueue } from '../messages/messages/queueFailure.ts';

/** A connection waits this long for work that earlier ones left. */
const EARLIER_WORK_MS = 10_000;

const EARLIER_WORK = 'Earlier changes of the session';

/**
 * Finishes the work that earlier connections of the session left, before it connects again.
 * @throws {AppError} `session_unavailable` if it fails, or takes long and continues; `shutting_down`, or an error of
 * the database
 */
export async function finishEarlierWork(clock: Clock, deletions: Deletions, sessionId: string): Promise<void> {
  let isDone = false;
  const finish = async () => {
    await finishIdentities(deletions, { sessionId });
    await finishQueue(deletions, { sessionId });
    isDone = true;
  };
  try {
    await endedWithin(clock, EARLIER_WORK_MS, finish());
  } catch (error) {
    if (isAway(error)) throw error;
    if (deletions.isStopped) throw new AppError('shutting_down');
    const detail = `${EARLIER_WORK} could not be completed; try again, and check the log of the server`;
    throw new AppError('session_unavailable', detail, { cause: error });
  }
  if (!isDone)
    throw new AppError('session_unavailable', `${EARLIER_WORK} are still being completed; try again`, {
      retryAfterSeconds: EARLIER_WORK_MS / 1000,
    });
}
