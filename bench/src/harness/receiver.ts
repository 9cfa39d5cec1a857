import { startOwn, until } from './processes.ts';

export interface Behavior {
  readonly status?: number;
  readonly delayMs?: number;
  /** Leaves requests without an answer, and does not count them. */
  readonly holds?: boolean;
}

export interface Counts {
  readonly count: number;
  /** Requests that were not the first attempt of their delivery. */
  readonly retries: number;
  /** When the first and the last request arrived, in ms since the epoch; 0 before. */
  readonly firstAt: number;
  readonly lastAt: number;
}

/** A receiver of webhooks in a process of its own. */
export class Receiver {
  readonly url: string;
  readonly hook: string;

  private constructor(url: string) {
    this.url = url;
    this.hook = `${url}/hook`;
  }

  /** Starts a receiver that ends with `scope`. */
  static async start(scope: AsyncDisposableStack): Promise<Receiver> {
    const process = await startOwn('receiver.ts');
    scope.defer(() => process.stop());
    return new Receiver(process.url);
  }

  /** Sets how it answers from now on, and starts its counts again. */
  async behave(behavior: Behavior = {}): Promise<void> {
    await fetch(`${this.url}/behave`, { method: 'POST', body: JSON.stringify(behavior) });
  }

  async counts(): Promise<Counts> {
    return (await (await fetch(`${this.url}/count`)).json()) as Counts; // its own process answers in this shape
  }

  /** Waits for the n-th request. Returns the time and how many there were then. */
  async reach(n: number): Promise<{ count: number; at: number }> {
    const { count } = await until(
      () => this.counts(),
      (counts) => counts.count >= n,
    );
    return { count, at: performance.now() };
  }

  /**
   * Requests per second, and the CPU time that they take each, between the `from`-th and the `to`-th request.
   * @param readCpuMs reads the CPU time of their senders
   */
  async rate(from: number, to: number, readCpuMs: () => number): Promise<{ perSecond: number; cpuUs: number }> {
    const first = await this.reach(from);
    const before = readCpuMs();
    const last = await this.reach(to);
    const cpu = readCpuMs() - before;
    const requests = last.count - first.count;
    return { perSecond: (requests / (last.at - first.at)) * 1000, cpuUs: (cpu / requests) * 1000 };
  }
}
