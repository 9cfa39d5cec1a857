import type { SessionHost } from '../../contract/host.ts';

const FIRST_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 30_000;
/** Limit of failed reads in a row. The group then waits for its next change, or for the next connection. */
const FAILURES = 5;
const FAILURE_PAUSE_MS = 10_000;

interface Reading {
  /** Whether the group has changed since its last read began. */
  isDue: boolean;
  pauseMs: number;
  failures: number;
  cancel: () => void;
}

/**
 * Reads groups that have changed. A group is read immediately, then at most once per pause, which grows while changes
 * continue: a read returns all members, and WhatsApp limits reads with `rate-overlimit` (WhiskeySockets/Baileys#797,
 * #1061, #1261). The last change is always read.
 */
export class ChangedGroups {
  readonly #host: Pick<SessionHost, 'clock' | 'log'>;
  readonly #read: (networkId: string) => Promise<unknown>;
  readonly #readings = new Map<string, Reading>();

  constructor(host: Pick<SessionHost, 'clock' | 'log'>, read: (networkId: string) => Promise<unknown>) {
    this.#host = host;
    this.#read = read;
  }

  note(networkId: string): void {
    const reading = this.#readings.get(networkId);
    if (reading !== undefined) {
      reading.isDue = true;
      return;
    }
    const started = { isDue: true, pauseMs: FIRST_PAUSE_MS, failures: 0, cancel: () => {} };
    this.#readings.set(networkId, started);
    void this.#next(networkId, started);
  }

  /** Forgets all changes. The next connection reads all groups. */
  stop(): void {
    for (const { cancel } of this.#readings.values()) cancel();
    this.#readings.clear();
  }

  async #next(networkId: string, reading: Reading): Promise<void> {
    const { clock, log } = this.#host;
    reading.isDue = false;
    try {
      await this.#read(networkId);
      reading.failures = 0;
    } catch (error) {
      reading.failures++;
      if (reading.failures < FAILURES) reading.isDue = true;
      log.warn({ err: error, group: networkId, failures: reading.failures }, 'failed to read a changed group');
    }
    if (this.#readings.get(networkId) !== reading) return; // stopped in between
    const pauseMs = reading.pauseMs + FAILURE_PAUSE_MS * reading.failures;
    reading.cancel = clock.after(pauseMs, () => {
      reading.pauseMs = Math.min(reading.pauseMs * 2, MAX_PAUSE_MS);
      if (reading.isDue) void this.#next(networkId, reading);
      else this.#readings.delete(networkId);
    });
  }
}
