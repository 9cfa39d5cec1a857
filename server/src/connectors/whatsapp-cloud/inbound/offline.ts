import type { CallbackAnswer, CallbackRequest } from '../../contract/callbacks.ts';
import type { OfflineSession } from '../../contract/host.ts';
import { BusinessAccount } from '../number/businessAccount.ts';
import type { CloudOptions } from '../options.ts';
import { answerChallenge, isSigned, readChanges } from './callbacks.ts';
import { Concerned } from './concerned.ts';

/** Makes Meta send the callback again, until the session is connected. */
const LATER = 409;

/**
 * Answers a call for a number that is not connected. Meta repeats what concerns the number itself. The rest goes to the
 * other sessions that share the callback URL, or is acknowledged if it concerns no session at all.
 */
export async function takeOfflineCallback(request: CallbackRequest, session: OfflineSession): Promise<CallbackAnswer> {
  const { store, callbacks, log } = session;
  // Validated against the schema when they were set.
  const options = session.options as CloudOptions;
  if (request.method === 'GET') {
    const { status } = answerChallenge(request.query, options.verifyToken);
    return { status: status === 200 ? LATER : status };
  }
  if (!isSigned(request, options.appSecret)) {
    log.warn('rejected a callback with an invalid signature');
    return { status: 403 };
  }
  const read = readChanges(request.body);
  if (read === undefined) return { status: 400 };
  const account = new BusinessAccount({ store, callbacks }, options);
  const concerned = new Concerned({ options, account, callbacks }, request.isPassedOn === true);
  let isOwn = false;
  for (const change of read.changes) if (await concerned.add(change)) isOwn = true;
  return concerned.answer(isOwn ? LATER : 200);
}
