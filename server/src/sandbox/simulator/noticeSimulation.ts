import type { Referral } from '../../connectors/contract/contentParts.ts';
import type { NetworkChat } from '../../connectors/contract/messageKey.ts';
import { boolean, optional, orNull, time } from '../../invoke/input/fields.ts';
import { parseTime } from '../../invoke/input/validate.ts';
import type { NoticeSimulation } from '../simulatedActions.ts';

/* Actions of the simulator for what people do without writing a message. */

export const noticeActions = [
  'chat_open',
  'call_permission',
  'marketing_choice',
  'status_mention',
  'number_request',
] as const satisfies readonly NoticeSimulation['action'][];

export const isNotice = (action: string): action is NoticeSimulation['action'] =>
  noticeActions.some((notice) => notice === action);

export const noticeText =
  '`chat_open` (`from`, `referral`) opens the chat for the first time. `call_permission` (`from`, `granted`, `permittedUntil`) allows or refuses calls. `marketing_choice` (`from`, `stopped`) stops or resumes marketing messages. `status_mention` (`from`, `groupId` for a group, `statusId`) mentions the session in a status. `number_request` (`from`) asks for its phone number.';

export const noticeInput = {
  granted: optional(boolean('Whether the person allows calls; true by default.')),
  permittedUntil: optional(orNull(time(), 'Time at which the permission to call ends; null, the default, for never.')),
  stopped: optional(boolean('Whether the person stops marketing messages; true by default.')),
};

interface Given {
  readonly granted?: boolean | undefined;
  readonly permittedUntil?: string | null | undefined;
  readonly stopped?: boolean | undefined;
  readonly referral?: Referral | undefined;
  /** The network's id of the status; null if none is mentioned. */
  readonly status: string | null;
}

export function toNoticeSimulation(
  action: NoticeSimulation['action'],
  of: { readonly chat: NetworkChat; readonly from: string },
  { granted = true, permittedUntil = null, stopped = true, referral, status }: Given,
): NoticeSimulation {
  switch (action) {
    case 'chat_open':
      return { action, ...of, ...(referral && { referral }) };
    case 'call_permission': {
      const isLimited = granted && permittedUntil !== null;
      const expiresAt = isLimited && { expiresAt: parseTime('permittedUntil', permittedUntil) };
      return { action, ...of, isGranted: granted, ...expiresAt };
    }
    case 'marketing_choice':
      return { action, ...of, isStopped: stopped };
    case 'status_mention':
      return { action, ...of, status };
    case 'number_request':
      return { action, ...of };
  }
}
