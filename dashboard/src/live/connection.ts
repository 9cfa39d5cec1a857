import { Listeners } from './listeners.ts';
import { type FromHub, type FromPage, type LiveEvent, type LiveState, PING_EVERY_MS } from './protocol.ts';
import { type HubPort, openOwnPort, openSharedPort } from './sharedPort.ts';

/** Milliseconds without a message after which the hub counts as gone. */
const MAX_SILENCE_MS = 3 * PING_EVERY_MS;
const CHECK_EVERY_MS = 5000;

/**
 * The account's live events on this page. All pages of a browser share one connection to the server (see `hub.ts`).
 *
 * A page that could not follow, because the browser froze it or ended the worker, joins again at its last position, so
 * it misses nothing.
 */
export class LiveConnection {
  readonly #accountId: string;
  readonly #events = new Listeners<LiveEvent>();
  readonly #stateChanges = new Listeners();
  readonly #missed = new Listeners();
  #state: LiveState = 'connecting';
  #hub: HubPort | undefined;
  #cursor: string | undefined;
  #heardAt = 0;
  /** Ends what `start` has begun. */
  #stopping: AbortController | undefined;

  constructor(accountId: string) {
    this.#accountId = accountId;
  }

  readonly state = (): LiveState => this.#state;
  readonly onState = this.#stateChanges.add;
  readonly onEvent = this.#events.add;
  /** Called when events were lost, so that everything has to be read again. */
  readonly onMissed = this.#missed.add;

  start(): void {
    if (this.#stopping !== undefined) return;
    this.#stopping = new AbortController();
    const { signal } = this.#stopping;
    // The back/forward cache keeps a page that was left, and shows it again later.
    addEventListener('pagehide', () => this.#leave(), { signal });
    addEventListener('pageshow', ({ persisted }) => persisted && this.#join(), { signal });
    document.addEventListener('visibilitychange', () => this.#visibilityChanged(), { signal });
    const timer = setInterval(() => this.#check(), CHECK_EVERY_MS);
    signal.addEventListener('abort', () => clearInterval(timer));
    this.#join();
  }

  stop(): void {
    this.#stopping?.abort();
    this.#stopping = undefined;
    this.#leave();
    this.#cursor = undefined;
  }

  #join(): void {
    this.#leave();
    if (!this.#mayConnect()) return;
    this.#heardAt = Date.now();
    if (hasSharedWorkers()) this.#use(openSharedPort(this.#accountId, () => this.#setState('lost')));
    else void this.#joinAlone();
  }

  async #joinAlone(): Promise<void> {
    try {
      const hub = await openOwnPort(this.#accountId);
      // The page can have been hidden, or can have joined again, in the time that loading took.
      if (this.#mayConnect() && this.#hub === undefined) this.#use(hub);
      else hub.close();
    } catch {
      this.#setState('lost');
    }
  }

  #use(hub: HubPort): void {
    this.#hub = hub;
    hub.port.onmessage = ({ data }: MessageEvent<FromHub>) => {
      this.#heardAt = Date.now();
      this.#receive(data);
    };
    this.#post({ type: 'join', after: this.#cursor });
  }

  #leave(): void {
    if (this.#hub === undefined) return;
    this.#post({ type: 'leave' });
    this.#hub.close();
    this.#hub = undefined;
  }

  #receive(message: FromHub): void {
    switch (message.type) {
      case 'state':
        this.#setState(message.state);
        break;
      case 'event':
        this.#cursor = message.cursor;
        this.#events.notify(message.event);
        break;
      case 'ping':
        this.#cursor = message.cursor ?? this.#cursor;
        this.#post({ type: 'pong' });
        break;
      case 'missed':
        this.#missed.notify();
        break;
      case 'dropped':
        this.#join();
    }
  }

  #post(message: FromPage): void {
    this.#hub?.port.postMessage(message);
  }

  /** The worker can end without notice, for example when the system runs out of memory. */
  #check(): void {
    if (!this.#mayConnect() || Date.now() - this.#heardAt <= MAX_SILENCE_MS) return;
    this.#setState('lost');
    this.#join();
  }

  #visibilityChanged(): void {
    if (hasSharedWorkers()) return;
    if (this.#mayConnect()) this.#join();
    else this.#leave();
  }

  /** Without a worker, only pages that are shown take a connection. */
  #mayConnect(): boolean {
    return this.#stopping !== undefined && (hasSharedWorkers() || document.visibilityState === 'visible');
  }

  #setState(state: LiveState): void {
    if (this.#state === state) return;
    this.#state = state;
    this.#stateChanges.notify();
  }
}

function hasSharedWorkers(): boolean {
  return typeof SharedWorker !== 'undefined';
}
