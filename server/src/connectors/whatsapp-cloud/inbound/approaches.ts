import type { CustomerEvent } from '../../contract/business.ts';
import { referralOf } from './structured.ts';

/* Meta sends these as messages, though nobody wrote one. */

interface Received {
  readonly type: string;
  readonly referral?: Parameters<typeof referralOf>[0];
  readonly interactive?:
    | {
        readonly call_permission_reply?:
          | {
              readonly response: string;
              readonly is_permanent?: boolean | undefined;
              readonly expiration_timestamp?: string | number | undefined;
            }
          | undefined;
      }
    | undefined;
  readonly system?: { readonly type?: string | undefined; readonly marketing?: string | undefined } | undefined;
}

type Place = Pick<CustomerEvent, 'networkId' | 'chat' | 'from' | 'timestamp'>;

/** Reads an opening, a permission or a choice; undefined for a message. */
export function approachOf({ type, referral, interactive, system }: Received, place: Place): CustomerEvent | undefined {
  // https://github.com/netflie/whatsapp-cloud-api/issues/171
  if (type === 'request_welcome') return { type: 'chat_opened', ...place, ...referralOf(referral) };
  const permission = interactive?.call_permission_reply;
  if (permission !== undefined) {
    const { response, is_permanent: isPermanent, expiration_timestamp: until } = permission;
    const isGranted = /^accept/i.test(response);
    const isLimited = isGranted && isPermanent !== true && until !== undefined;
    return { type: 'call_permission', ...place, isGranted, ...(isLimited && { expiresAt: Number(until) * 1000 }) };
  }
  // https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/user_preferences
  if (system?.type !== 'user_preference_changed') return undefined;
  const isStopped = isStop(system.marketing);
  return isStopped === undefined ? undefined : { type: 'marketing_choice', ...place, isStopped };
}

/** Reads Meta's value for marketing messages; undefined for an unknown one. */
export function isStop(value: string | undefined): boolean | undefined {
  return value === 'stop' ? true : value === 'resume' ? false : undefined;
}
