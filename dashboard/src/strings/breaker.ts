import { timeWords } from './shared.ts';

const { minutes: inMinutes, seconds: inSeconds } = timeWords;

type BreakerState = 'closed' | 'open' | 'half_open';

/** The circuit breaker, explained to somebody who has never met one. */
export const breakerWords = {
  title: 'Circuit breaker',
  states: { closed: 'Closed', open: 'Open', half_open: 'Half open' },
  explain: {
    closed: 'Deliveries go out as events happen.',
    open: 'Nothing is sent for the moment, so that a receiver in trouble can recover. Events are held, none is lost.',
    half_open: 'Single probes find out whether the receiver works again. Two successes in a row close the breaker.',
  },
  held: (count: number) => (count === 1 ? '1 event is held' : `${count.toLocaleString('en')} events are held`),
  since: (time: string) => `for ${time}`,
  receiverSays: (message: string) => `Last error: ${message}`,
  nextProbe: (time: string) => `next try in ${time}`,
  probeNow: 'next try now',
  inARow: (count: number, limit: number) => `${count} of ${limit} failures in a row that open it`,
  window: (failures: number, attempts: number, seconds: number) =>
    `${failures} of ${attempts} attempts failed in the last ${seconds} s`,
  rule: (inARow: number, rate: number, attempts: number, seconds: number) =>
    `It opens after ${inARow} failures in a row, or when ${Math.round(rate * 100)} % of at least ${attempts} attempts within ${seconds} s fail; at once on an answer of 410 or a forbidden address.`,
  waits: (openSeconds: number, longest: number) =>
    `It stays open for ${openSeconds < 60 ? inSeconds(openSeconds) : inMinutes(Math.round(openSeconds / 60))}, twice as long after each failed probe, at most ${inMinutes(Math.round(longest / 60))}.`,
  reset: 'Reset breaker',
  resetHint: 'A reset closes it now: what is held goes out in order, slowly at first.',
  wasReset: (released: number) =>
    released === 0
      ? 'The breaker is closed'
      : `The breaker is closed; ${released === 1 ? '1 held event goes' : `${released.toLocaleString('en')} held events go`} out`,
  history: 'History',
  noHistory: 'It has never opened.',
  change: (from: BreakerState, to: BreakerState) =>
    `${breakerWords.states[from]} → ${breakerWords.states[to].toLowerCase()}`,
  at: 'When',
  what: 'Change',
  why: 'Why',
  reasons: {
    failures_in_a_row: 'Five attempts in a row failed.',
    failure_rate: 'Half of the attempts within a minute failed.',
    gone: 'The receiver answered 410: it says the address is gone for good.',
    invalid_target: 'The URL leads to an address that is not allowed.',
    probe_failed: 'The probe failed as well.',
    probe_due: 'The waiting time was over: a probe was sent.',
    probes_succeeded: 'Two probes in a row succeeded.',
    test_succeeded: 'A test delivery succeeded.',
    reset: 'It was reset by hand.',
    new_url: 'A new URL was set.',
  } as Readonly<Record<string, string>>,
} as const;
