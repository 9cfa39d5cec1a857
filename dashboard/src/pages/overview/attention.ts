import type { CircuitBreaker, Session } from '@switchboard/sdk/api';
import { duration } from '../../components/text/time.tsx';
import { sessionName } from '../../model/sessions.ts';
import { riskLabels } from '../../strings/sessionRisk.ts';
import { sessionStatusLabels } from '../../strings/sessionStatus.ts';
import { overviewStrings } from './strings.ts';
import type { WatchedWebhook } from './watched.ts';

/** A problem with a link to the page that solves it. */
export interface AttentionItem {
  readonly id: string;
  readonly tone: 'bad' | 'warn';
  readonly text: string;
  /** The subject, such as the URL of a webhook, or the reasons. */
  readonly about: string | undefined;
  readonly target:
    | { readonly page: 'webhook'; readonly webhookId: string }
    | { readonly page: 'deliveries'; readonly webhookId: string; readonly state: 'pending' | 'failed' | 'expired' }
    | { readonly page: 'session'; readonly sessionId: string; readonly isPairing: boolean }
    | { readonly page: 'sessions' };
}

/** Deliveries may be pending for this long, which covers the first retries. */
const LATE_MS = 60_000;
/** More sessions are counted instead of named. */
const MAX_NAMED = 5;

/** Everything that needs attention now, the most severe first. */
export function attentionItems(
  sessions: readonly Session[],
  webhooks: readonly WatchedWebhook[],
  now: number,
): AttentionItem[] {
  const all = [
    ...webhooks.flatMap((watched) => ofWebhook(watched, now)),
    ...ofSessions(sessions),
    ...ofRisks(sessions),
  ];
  return all.toSorted((one, other) => Number(other.tone === 'bad') - Number(one.tone === 'bad'));
}

function ofWebhook({ webhook, stats, breaker }: WatchedWebhook, now: number): AttentionItem[] {
  const { webhookId, webhookUrl, enabled } = webhook;
  const about = webhookUrl ?? undefined;
  const concerns: AttentionItem[] = [];
  const target = { page: 'webhook', webhookId } as const;
  if (!enabled) {
    concerns.push({ id: `${webhookId} off`, tone: 'warn', text: overviewStrings.isOff, about, target });
  } else if (breaker.state !== 'closed') {
    const tone = breaker.state === 'open' ? 'bad' : 'warn';
    concerns.push({ id: `${webhookId} breaker`, tone, text: breakerSentence(breaker, now), about, target });
  } else if ((stats.oldestPendingAgeMs ?? 0) > LATE_MS) {
    const text = overviewStrings.late(stats.pending, duration(stats.oldestPendingAgeMs ?? 0));
    const pending = { page: 'deliveries', webhookId, state: 'pending' } as const;
    concerns.push({ id: `${webhookId} late`, tone: 'warn', text, about, target: pending });
  }
  const { failed = 0, expired = 0 } = stats.windows['24h'].byState;
  if (failed + expired > 0) {
    const text = overviewStrings.givenUp(failed + expired);
    const givenUp = { page: 'deliveries', webhookId, state: failed > 0 ? 'failed' : 'expired' } as const;
    concerns.push({ id: `${webhookId} given up`, tone: 'warn', text, about, target: givenUp });
  }
  return concerns;
}

/** "1,204 events held for 14 min: receiver returns 502; next probe in 38 s". */
function breakerSentence({ state, held, lastError, nextProbeAt }: CircuitBreaker, now: number): string {
  const age = held.oldestAt === null ? undefined : duration(Math.max(0, now - Date.parse(held.oldestAt)));
  const what = held.count === 0 ? overviewStrings.nothingHeld : overviewStrings.held(held.count, age);
  return overviewStrings.failure(what, nextTry(state, nextProbeAt, now), reasonOf(lastError));
}

function nextTry(state: CircuitBreaker['state'], nextProbeAt: string | null, now: number): string | undefined {
  if (state === 'half_open') return overviewStrings.probing;
  if (nextProbeAt === null) return undefined;
  const waitMs = Date.parse(nextProbeAt) - now;
  return waitMs > 0 ? overviewStrings.nextProbe(duration(waitMs)) : overviewStrings.probeNow;
}

function reasonOf(error: CircuitBreaker['lastError']): string {
  if (error === null) return overviewStrings.unknownFailure;
  if (error.status !== null) return overviewStrings.responds(error.status);
  return overviewStrings.failures[error.class] ?? error.message;
}

function ofSessions(sessions: readonly Session[]): AttentionItem[] {
  const down = sessions.filter(needsAttention);
  const named = down.slice(0, MAX_NAMED).map((session): AttentionItem => {
    const { sessionId, status, error } = session;
    const isPairing = status === 'awaiting_pairing';
    return {
      id: sessionId,
      tone: status === 'logged_out' || status === 'failed' ? 'bad' : 'warn',
      text: overviewStrings.session(sessionName(session), sessionStatusLabels[status] ?? status, error),
      about: undefined,
      target: { page: 'session', sessionId, isPairing },
    };
  });
  return withOthers(named, 'sessions', down.length, overviewStrings.moreSessions);
}

const riskTones = { elevated: 'warn', high: 'bad' } as const;

/** Sessions whose numbers the network may ban, the gravest first. */
function ofRisks(sessions: readonly Session[]): AttentionItem[] {
  const atRisk = (['high', 'elevated'] as const).flatMap((risk) =>
    sessions.flatMap((session) =>
      session.health?.risk === risk ? [{ session, risk, reasons: session.health.reasons }] : [],
    ),
  );
  const named = atRisk.slice(0, MAX_NAMED).map(({ session, risk, reasons }): AttentionItem => {
    const { sessionId } = session;
    return {
      id: `${sessionId} risk`,
      tone: riskTones[risk],
      text: overviewStrings.session(sessionName(session), riskLabels[risk], null),
      about: reasons.map(({ message }) => message).join(' '),
      target: { page: 'session', sessionId, isPairing: false },
    };
  });
  return withOthers(named, 'risks', atRisk.length, overviewStrings.moreAtRisk);
}

/** Adds the number of the sessions that are not named. */
function withOthers(named: AttentionItem[], id: string, all: number, words: (count: number) => string) {
  const others = all - named.length;
  if (others === 0) return named;
  const text = words(others);
  return [...named, { id, tone: 'warn', text, about: undefined, target: { page: 'sessions' } } as const];
}

/** A session that was never connected, or is connecting for the first time, needs no attention. */
function needsAttention({ status, error }: Session): boolean {
  if (status === 'connecting') return error !== null;
  return status !== 'connected' && status !== 'created';
}
