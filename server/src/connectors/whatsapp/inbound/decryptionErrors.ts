import type { UnreadableReason } from '../../../events/networkTypes.ts';
import { thrownMessage } from '../../../thrown.ts';

/** The network repeats stanzas that were not confirmed, and their keys are used up. */
const DUPLICATE = /Key used already or never filled|old counter/;

/** Errors of libsignal, and of the group cipher of Baileys, which have no codes. */
const REASONS: readonly (readonly [RegExp, UnreadableReason])[] = [
  [/No session record|No sessions available/, 'no_session'],
  [/No matching sessions|Bad MAC|into the future|Chain closed/, 'wrong_session'],
  [/PreKey/, 'no_pre_key'],
  [/SenderKeyRecord|No session found to decrypt|No sender message key/, 'no_group_key'],
  [/InvalidMessageException|Invalid signature/, 'wrong_group_key'],
];

/** Returns the reason for a failed decryption; undefined if the message was decrypted before. */
export function reasonOf(error: unknown): UnreadableReason | undefined {
  const message = thrownMessage(error);
  if (DUPLICATE.test(message)) return undefined;
  return REASONS.find(([pattern]) => pattern.test(message))?.[1] ?? 'other';
}
