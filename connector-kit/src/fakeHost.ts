import { inspect } from 'node:util';
import type { Clock } from '../../server/src/clock.ts';
import type { NetworkEvent } from '../../server/src/connectors/contract/events.ts';
import type { NetworkGroup } from '../../server/src/connectors/contract/groups.ts';
import type { ConnectorLog, SessionHost, SessionStore } from '../../server/src/connectors/contract/host.ts';
import type { OutgoingMessage } from '../../server/src/connectors/contract/outgoing.ts';
import { eventProblem } from './eventProblem.ts';
import { FakeClock } from './fakeClock.ts';
import { PATIENCE_MS, within } from './within.ts';

export interface FakeHostOptions {
  /** The options of the session. Default none. */
  readonly options?: Readonly<Record<string, unknown>>;
  /** Digits; null, the default, until the network has reported the number. */
  readonly phoneNumber?: string | null;
  readonly callbackUrl?: URL | null;
  readonly clock?: Clock;
  readonly log?: FakeLog;
  /** Pass the store of another host to continue its session, as after a restart. */
  readonly store?: FakeStore;
  /** How long `waitFor` waits. Default 10 s. */
  readonly patienceMs?: number;
}

/** A session from the connector's side. Records what the connector reports. */
export class FakeHost implements SessionHost {
  readonly sessionId = 'ses_fake';
  readonly scope = 'fake';
  readonly options: Readonly<Record<string, unknown>>;
  readonly clock: Clock;
  readonly log: FakeLog;
  readonly store: FakeStore;
  readonly callbackUrl: URL | null;
  /** Returned by the methods of the same name. */
  readonly kept = {
    undelivered: [] as OutgoingMessage[],
    groups: [] as NetworkGroup[],
    blocked: [] as string[],
    lastIncoming: null as string | null,
  };
  /** Every event that was stored, with repetitions. */
  readonly events: NetworkEvent[] = [];
  /** Reports that the server would not understand. */
  readonly problems: string[] = [];
  readonly #failures: unknown[] = [];
  readonly #waiting = new Set<() => void>();
  readonly #patienceMs: number;
  #phoneNumber: string | null;

  constructor(options: FakeHostOptions = {}) {
    this.options = options.options ?? {};
    this.clock = options.clock ?? new FakeClock();
    this.log = options.log ?? new FakeLog();
    this.store = options.store ?? new FakeStore();
    this.callbackUrl = options.callbackUrl ?? null;
    this.#patienceMs = options.patienceMs ?? PATIENCE_MS;
    this.#phoneNumber = options.phoneNumber ?? null;
  }

  get phoneNumber(): string | null {
    return this.#phoneNumber;
  }

  async onEvent(event: NetworkEvent): Promise<void> {
    const problem = eventProblem(event);
    if (problem !== undefined) {
      this.problems.push(problem);
      throw new TypeError(problem);
    }
    if (this.#failures.length > 0) throw this.#failures.shift();
    if (event.type === 'connected') this.#phoneNumber = event.phoneNumber;
    this.events.push(event);
    for (const check of this.#waiting) check();
  }

  /** Makes the next event fail to be stored. */
  failNext(error: unknown): void {
    this.#failures.push(error);
  }

  /** Returns the stored events of a type. */
  eventsOf<T extends NetworkEvent['type']>(type: T): Extract<NetworkEvent, { type: T }>[] {
    return this.events.filter((event): event is Extract<NetworkEvent, { type: T }> => event.type === type);
  }

  /** Resolves with the first event of a type, or the one at `index` among them. */
  async waitFor<T extends NetworkEvent['type']>(type: T, index = 0): Promise<Extract<NetworkEvent, { type: T }>> {
    let check = () => {};
    const arriving = new Promise<Extract<NetworkEvent, { type: T }>>((resolve) => {
      check = () => {
        const event = this.eventsOf(type)[index];
        if (event !== undefined) resolve(event);
      };
      this.#waiting.add(check);
      check();
    });
    try {
      const place = index === 0 ? '' : `, ${index + 1} times in total`;
      return await within(arriving, `the connector reports \`${type}\`${place}`, this.#patienceMs);
    } finally {
      this.#waiting.delete(check);
    }
  }

  async undelivered(): Promise<readonly OutgoingMessage[]> {
    return this.kept.undelivered;
  }

  async lastIncoming(): Promise<string | null> {
    return this.kept.lastIncoming;
  }

  async groups(): Promise<readonly NetworkGroup[]> {
    return this.kept.groups;
  }

  async blocked(): Promise<readonly string[]> {
    return this.kept.blocked;
  }
}

/** The store of a session, in memory. Refuses everything that is not a string. */
export class FakeStore implements SessionStore {
  readonly entries = new Map<string, string>();

  async get(key: string): Promise<string | undefined> {
    return this.entries.get(key);
  }

  async getMany(keys: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return new Map([...this.entries].filter(([key]) => keys.includes(key)));
  }

  async list(prefix: string): Promise<ReadonlyMap<string, string>> {
    return new Map([...this.entries].filter(([key]) => key.startsWith(prefix)));
  }

  async set(key: string, value: string): Promise<void> {
    await this.write(new Map([[key, value]]));
  }

  async write(changes: ReadonlyMap<string, string | null>): Promise<void> {
    for (const [key, value] of changes)
      if (typeof key !== 'string' || (value !== null && typeof value !== 'string'))
        throw new TypeError(`The store keeps strings, and ${inspect(key)} is to become ${typeof value}`);
    for (const [key, value] of changes) {
      if (value === null) this.entries.delete(key);
      else this.entries.set(key, value);
    }
  }

  async delete(key: string): Promise<void> {
    this.entries.delete(key);
  }

  async clear(): Promise<void> {
    this.entries.clear();
  }
}

/** A log that keeps its lines. */
export class FakeLog implements ConnectorLog {
  readonly level = 'trace';
  readonly lines: string[];
  readonly #fields: Readonly<Record<string, unknown>>;
  readonly trace: ConnectorLog['trace'];
  readonly debug: ConnectorLog['debug'];
  readonly info: ConnectorLog['info'];
  readonly warn: ConnectorLog['warn'];
  readonly error: ConnectorLog['error'];

  constructor(lines: string[] = [], fields: Readonly<Record<string, unknown>> = {}) {
    this.lines = lines;
    const write =
      (level: string) =>
      (...given: readonly unknown[]) =>
        // As deep as any log goes, with the message, stack and cause of errors.
        void lines.push([level, ...given, fields].map((part) => inspect(part, { depth: 20 })).join(' '));
    this.trace = write('trace');
    this.debug = write('debug');
    this.info = write('info');
    this.warn = write('warn');
    this.error = write('error');
    this.#fields = fields;
  }

  child(fields: Readonly<Record<string, unknown>>): FakeLog {
    return new FakeLog(this.lines, { ...this.#fields, ...fields });
  }

  isLevelEnabled(): boolean {
    return true;
  }
}
