import { counted } from './format.ts';
import { timeStrings } from './shared.ts';

const { minutes: inMinutes, seconds: inSeconds } = timeStrings;

type BreakerState = 'closed' | 'open' | 'half_open';

/** Explains the circuit breaker to readers who have never seen one. */
export const breakerStrings = {
  title: 'Circuit breaker',
  states: { closed: 'Closed', open: 'Open', half_open: 'Half open' },
  explain: {
    closed: 'Deliveries are sent as events happen.',
    open: 'Deliveries are paused so that the receiver can recover. Events are held, and none is lost.',
    half_open: 'Single probes check whether the receiver works again. Two consecutive successes close the breaker.',
  },
  held: (count: number) => counted(count, 'event is held', 'events are held'),
  since: (time: string) => `for ${time}`,
  lastError: (message: string) => `Last error: ${message}`,
  nextProbe: (time: string) => `next probe in ${time}`,
  probeNow: 'next probe now',
  inARow: (count: number, limit: number) => `${count} of the ${limit} consecutive failures that open it`,
  window: (failures: number, attempts: number, seconds: number) =>
    `${failures} of ${attempts} attempts failed in the last ${seconds} s`,
  rule: (inARow: number, rate: number, attempts: number, seconds: number) =>
    `Opens after ${inARow} consecutive failures, or when ${Math.round(rate * 100)} % of at least ${attempts} attempts within ${seconds} s fail. A 410 response or a forbidden address opens it immediately.`,
  probes: (openSeconds: number, steady: number, longest: number) =>
    `Probes go out every ${openSeconds < 60 ? inSeconds(openSeconds) : inMinutes(Math.round(openSeconds / 60))}. After ${inMinutes(Math.round(steady / 60))}, each failed probe doubles the pause, up to ${inMinutes(Math.round(longest / 60))}.`,
  reset: 'Reset breaker',
  resetHint: 'A reset closes the breaker now and sends the held events in order, slowly at first.',
  wasReset: (released: number) =>
    released === 0 ? 'Breaker reset' : `Breaker reset; ${counted(released, 'held event')} released`,
  history: 'History',
  noHistory: 'The breaker has never opened.',
  change: (from: BreakerState, to: BreakerState) =>
    `${breakerStrings.states[from]} → ${breakerStrings.states[to].toLowerCase()}`,
  at: 'Time',
  what: 'Change',
  why: 'Reason',
  reasons: {
    failures_in_a_row: 'Five consecutive attempts failed.',
    failure_rate: 'Half of the attempts within a minute failed.',
    gone: 'The receiver returned 410: the URL is gone permanently.',
    invalid_target: 'The URL points to a forbidden address.',
    probe_failed: 'The probe failed.',
    probe_due: 'The wait ended, and a probe was sent.',
    probes_succeeded: 'Two consecutive probes succeeded.',
    test_succeeded: 'A test delivery succeeded.',
    reset: 'The breaker was reset manually.',
    new_url: 'The URL was changed.',
  } as Readonly<Record<string, string>>,
} as const;
