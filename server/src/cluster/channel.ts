import type { Listening, Shared } from '../db/dialect.ts';
import type { Log } from '../log.ts';
import type { Signals, Topic } from './signals.ts';

const CHANNEL = 'switchboard';
/** Signals of this long go together: many commits then cost one notification. */
const GATHER_MS = 5;
const RECONNECT_MS = 500;
/** PostgreSQL takes payloads of less than 8,000 bytes. */
const IDS_PER_PAYLOAD = 150;

interface Payload {
  readonly from: string;
  readonly topic: Topic;
  readonly ids: readonly string[];
}

/** Signals over LISTEN and NOTIFY, on one connection that listens and notifies. */
export interface Channel extends Signals {
  start(): Promise<void>;
  stop(): Promise<void>;
}

export function createChannel(shared: Shared, nodeId: string, log: Log): Channel {
  const listeners = new Map<Topic, ((id: string) => void)[]>();
  const gapListeners: (() => void)[] = [];
  let waiting = new Map<Topic, Set<string>>();
  let timer: NodeJS.Timeout | undefined;
  let flushed = Promise.resolve();
  let connection: Listening | undefined;
  let isStopped = false;

  function hear(text: string): void {
    const { from, topic, ids } = parse(text);
    if (from === nodeId) return;
    for (const listener of listeners.get(topic) ?? []) for (const id of ids) listener(id);
  }

  /** Sends what waits, after what is being sent. */
  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    flushed = flushed.then(sendWaiting).catch((error) => log.warn({ err: error }, 'telling other nodes failed'));
    return flushed;
  }

  async function sendWaiting(): Promise<void> {
    const sending = waiting;
    waiting = new Map();
    for (const [topic, all] of sending) {
      const ids = [...all];
      for (let at = 0; at < ids.length; at += IDS_PER_PAYLOAD) {
        const payload: Payload = { from: nodeId, topic, ids: ids.slice(at, at + IDS_PER_PAYLOAD) };
        await connection?.notify(JSON.stringify(payload));
      }
    }
  }

  async function connect(): Promise<void> {
    connection = await shared.listen(CHANNEL, hear, () => {
      connection = undefined;
      if (!isStopped) void reconnect();
    });
  }

  /** Anybody who may connect to the database can notify. */
  function parse(text: string): Payload {
    try {
      return JSON.parse(text) as Payload;
    } catch {
      log.warn('a notification came that is not ours');
      return { from: nodeId, topic: 'nodes', ids: [] };
    }
  }

  async function reconnect(): Promise<void> {
    log.warn('the connection that hears of changes at other nodes broke; until it is back they are found by polling');
    while (!isStopped && connection === undefined) {
      await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS));
      await connect().catch(() => {});
    }
    if (isStopped) await connection?.close();
    else for (const listener of gapListeners) listener();
  }

  return {
    start: connect,
    async stop() {
      isStopped = true;
      await flush(); // whoever misses it finds out by polling
      await connection?.close();
    },
    send(topic, id) {
      const ids = waiting.get(topic) ?? new Set();
      ids.add(id);
      waiting.set(topic, ids);
      timer ??= setTimeout(flush, GATHER_MS);
    },
    on(topic, listener) {
      listeners.set(topic, [...(listeners.get(topic) ?? []), listener]);
    },
    onGap(listener) {
      gapListeners.push(listener);
    },
  };
}
