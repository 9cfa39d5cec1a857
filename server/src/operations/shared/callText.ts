import { scopeOf } from '../../auth/keyScope.ts';
import { allows } from '../../auth/permissions.ts';
import { AppError } from '../../errors.ts';
import type { Context } from '../../invoke/operation.ts';
import { callTextOf } from '../../sessions/callOptions.ts';
import type { Options } from '../../sessions/options.ts';

/* The text of `calls.autoReject`, which a session sends to everyone who calls it. */

type Caller = Context['caller'];

/**
 * @param present the options that the session has now
 * @throws {AppError} `permission_denied` if the options add or change a text that the caller's key could not send
 */
export function requireCallText({ caller }: Pick<Context, 'caller'>, options: Options, present: Options = {}): void {
  const text = callTextOf(options);
  if (text !== undefined && text !== callTextOf(present) && !maySendToEveryone(caller))
    throw new AppError(
      'permission_denied',
      'A text for callers (`calls.message`) requires `messages:send`, without limits on recipients and numbers of messages',
    );
}

/**
 * Returns the key to store with the text for callers: of the caller if the text is new, otherwise the present one.
 * @param present the stored options, and the key that set their text
 */
export function callTextKey(
  { caller: { credential } }: Pick<Context, 'caller'>,
  options: Options,
  present: { readonly options: Options; readonly keyId: string | null },
): string | null {
  const text = callTextOf(options);
  if (text === undefined) return null;
  if (text === callTextOf(present.options)) return present.keyId;
  return credential.type === 'api_key' ? credential.keyId : null;
}

/** Whether a caller may have texts sent to anyone, at any time, without being asked. */
export function maySendToEveryone(caller: Caller): boolean {
  const { recipients, sendQuota, requiresApproval, confirm } = scopeOf(caller) ?? {};
  return (
    allows(caller.credential.permissions, 'messages:send') &&
    recipients === undefined &&
    sendQuota === undefined &&
    requiresApproval !== true &&
    confirm?.includes('new_recipients') !== true
  );
}
