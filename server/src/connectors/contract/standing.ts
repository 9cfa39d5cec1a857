import type { UnreadableReason } from '../../events/networkTypes.ts';

/* The standing of a session's number at its network, and forecasts for messages that are not sent yet. */

/** Reports that come before a ban. */
export const networkWarnings = ['block_report', 'spam_limit', 'restricted'] as const;
/**
 * `block_report`: somebody blocked or reported the number. `spam_limit`: the network refused or dropped a message to
 * protect people from unwanted ones. `restricted`: the network has restricted the number.
 */
export type NetworkWarning = (typeof networkWarnings)[number];

/** The limits that a network itself sets for a number. A missing field is unknown. */
export interface NetworkStanding {
  /** The number may not start chats until then; null if it may. */
  readonly noNewChatsUntil?: number | null;
  /** How many chats the number may start, and has started; null if there is no such quota. */
  readonly newChats?: { readonly used: number; readonly total: number } | null;
}

export type StandingEvent =
  /**
   * Something that was received could not be read, after everything was tried, and has no placeholder. A placeholder
   * has the reason in `unreadable` instead. `isMessage` if a person wrote a message that is now missing in its chat.
   * `count` is the number of such messages, 1 if left out.
   */
  | {
      readonly type: 'unreadable';
      readonly reason: UnreadableReason;
      readonly isMessage: boolean;
      readonly count?: number;
    }
  /** Fields that are left out did not change. */
  | ({ readonly type: 'standing' } & NetworkStanding)
  /** Each report counts once, so a connector reports a warning only when its network does. */
  | { readonly type: 'warned'; readonly warning: NetworkWarning; readonly timestamp: number };

/** A recipient of a message that is not sent yet. */
export interface PlannedMessage {
  /** A `NetworkChat`. */
  readonly chat: { readonly type: 'direct' | 'group'; readonly id: string };
  /** Whether the session has no message of the chat. */
  readonly isNew: boolean;
  /** When the other side last wrote; null if it never did. */
  readonly lastIncomingAt: number | null;
  /** Whether the session has blocked the recipient. */
  readonly isBlocked: boolean;
}

/** A template that is not sent yet. */
export interface PlannedTemplate {
  readonly name: string;
  readonly language?: string;
}

export const forecastOutcomes = [
  'ok',
  'limit_near',
  'limit_reached',
  'template_required',
  'template_unavailable',
  'marketing_stopped',
  'blocked',
  'unknown',
] as const;

/**
 * The fate of a message, by the limits of the session and of its network. `blocked`: the network refuses messages to
 * people whom the session has blocked. `template_unavailable`: the network has no such template, or has not approved
 * it. `marketing_stopped`: the template is for marketing, and the recipient does not want such messages.
 */
export interface Forecast {
  readonly outcome: (typeof forecastOutcomes)[number];
  /** Why it is not `ok`, as a sentence. */
  readonly reason?: string;
  /** How long a limit lasts. */
  readonly retryAfterMs?: number;
}

/** The share of a limit from which on it is near. */
const NEAR = 0.2;

/** Returns the gravest forecast: a limit that is reached, or else one that is near. */
export function worst(forecasts: readonly (Forecast | undefined)[]): Forecast {
  const found = forecasts.filter((one) => one !== undefined);
  const withOutcome = (wanted: Forecast['outcome']) => found.find(({ outcome }) => outcome === wanted);
  return withOutcome('limit_reached') ?? withOutcome('limit_near') ?? { outcome: 'ok' };
}

/**
 * Applies a limit to one more after `more` others.
 * @param what is limited, such as "the new chats of the day"
 */
export function limitForecast(
  { used, total, freeInMs }: { readonly used: number; readonly total: number; readonly freeInMs: number },
  more: number,
  what: string,
): Forecast {
  const outcome = limitOutcome(used + more, total);
  if (outcome === 'ok') return { outcome };
  const place = used + more + 1;
  return outcome === 'limit_reached'
    ? {
        outcome,
        reason: `It would be number ${place} of ${what}, of which ${total} are allowed`,
        retryAfterMs: freeInMs,
      }
    : { outcome, reason: `It would be number ${place} of the ${total} allowed for ${what}` };
}

/** Whether a limit is reached by what comes after the first `used` of `total`, or near. */
export function limitOutcome(used: number, total: number): 'ok' | 'limit_near' | 'limit_reached' {
  if (used >= total) return 'limit_reached';
  return total - used <= Math.ceil(total * NEAR) ? 'limit_near' : 'ok';
}
