import { AppError } from '../../../errors.ts';
import { thrownMessage } from '../../../thrown.ts';
import type { NetworkWarning } from '../../contract/standing.ts';
import { boomOf, rateLimited } from '../link/errors.ts';

/* The errors of sends, and what the server's codes mean. */

export const UNCONFIRMED =
  'WhatsApp did not confirm in time: the message may or may not have been sent, and is not sent again automatically; check its status before you send it again';

export const BUSY =
  'The message was not sent, because the session was still encrypting earlier ones for large groups; try again later';

const limited = (cause?: unknown): AppError =>
  rateLimited('WhatsApp limits how much this number sends; wait before the next message', 60_000, cause);

export function sendFailure(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (boomOf(error).statusCode === 429) return limited(error);
  const message = thrownMessage(error);
  return new AppError('send_failed', `The message could not be sent: ${message}`, { cause: error });
}

/** WhatsApp lets the session start no chat at an address. */
export const NO_NEW_CHATS = '463';

/** WhatsApp does not accept the addresses in a message, or the encryption for one of them. */
export const WRONG_ADDRESSES = '479';

export const ANSWER_REFUSED =
  'WhatsApp refused the message (463), although the recipient has written to the session; try again later';

/** Error codes of the server, as far as their meaning is known. */
const REFUSALS: Readonly<Record<string, string>> = {
  '403': 'The session is not allowed to send messages to this chat',
  '404': 'The chat does not exist on WhatsApp',
  '421': 'WhatsApp does not accept this type of message in this chat',
  '463': 'WhatsApp currently does not let this number start new chats',
  '475': 'WhatsApp has restricted the number',
  '479':
    'WhatsApp did not accept the recipient addresses or their encryption; check the phone numbers, and reconnect the session if it refuses every message',
};

export const WARNINGS: Readonly<Record<string, NetworkWarning>> = { '463': 'spam_limit', '475': 'restricted' };

/** The public reports of 463 are about direct messages. Its reason elsewhere is unknown. */
export const WITHOUT_CHAT = 'WhatsApp refused the message';

/** @param reason the meaning of the code, if it is another one than usual */
export function refused(error: string, reason = REFUSALS[error]): AppError {
  if (error === '429') return limited();
  const isDenied = error === '401' || error === '403';
  const shown = (isDenied ? REFUSALS['403'] : reason) ?? WITHOUT_CHAT;
  return new AppError(isDenied ? 'network_denied' : 'send_failed', `${shown} (${error})`);
}
