import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { portOf } from './listening.ts';

/** The direction in which bytes are dropped silently: TCP notifies neither side, as with a remote cable cut. */
export type Silence = 'none' | 'requests' | 'answers' | 'both';

/** One connection through the line. */
export interface LineConnection {
  /** Drops the target's response from now on, and resets the connection at its first byte. */
  loseAnswer(): void;
}

/** A TCP proxy on loopback with network faults. */
export interface FaultyLine {
  readonly port: number;
  /** The number of open connections. */
  readonly open: number;
  /** Sets the target of new connections. */
  aim(target: { readonly hostname: string; readonly port: string }): void;
  /** Applies to open and new connections. New ones are accepted and stay silent. */
  silence(what: Silence): void;
  /** Like `silence` in both directions, for the currently open connections only. */
  halfOpen(): void;
  /** Delays every byte from now on, in each direction. */
  delay(ms: number): void;
  /** Resets every open connection. */
  reset(): void;
  /** Sets whether new connections are reset immediately. */
  refuse(isRefusing: boolean): void;
  /** Calls `listener` with the data of clients before it is forwarded. */
  onRequest(listener: (bytes: Buffer, connection: LineConnection) => void): void;
  close(): Promise<void>;
}

export async function startFaultyLine(): Promise<FaultyLine> {
  const pairs = new Set<Pair>();
  let target = { hostname: '127.0.0.1', port: '9' };
  let silence: Silence = 'none';
  let delayMs = 0;
  let isRefusing = false;
  let listener = (_: Buffer, __: LineConnection) => {};

  const server = createServer({ noDelay: true }, (client) => {
    if (isRefusing) {
      client.resetAndDestroy();
      return;
    }
    const pair = new Pair(client, connect({ host: target.hostname, port: Number(target.port), noDelay: true }), {
      silence: () => silence,
      delayMs: () => delayMs,
      onRequest: (bytes, connection) => listener(bytes, connection),
      onEnd: () => pairs.delete(pair),
    });
    pairs.add(pair);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    port: portOf(server),
    get open() {
      return pairs.size;
    },
    aim: ({ hostname, port }) => (target = { hostname, port }),
    silence: (what) => (silence = what),
    halfOpen() {
      for (const pair of pairs) pair.isSilent = true;
    },
    delay: (ms) => (delayMs = ms),
    reset() {
      for (const pair of pairs) pair.reset();
    },
    refuse: (value) => (isRefusing = value),
    onRequest: (heard) => (listener = heard),
    async close() {
      for (const pair of pairs) pair.reset();
      server.close();
      await once(server, 'close');
    },
  };
}

interface Weather {
  silence(): Silence;
  delayMs(): number;
  onRequest(bytes: Buffer, connection: LineConnection): void;
  onEnd(): void;
}

/** A client connection and its connection to the target. */
class Pair implements LineConnection {
  isSilent = false;
  #isAnswerLost = false;
  readonly #client: Socket;
  readonly #target: Socket;
  readonly #weather: Weather;

  constructor(client: Socket, target: Socket, weather: Weather) {
    this.#client = client;
    this.#target = target;
    this.#weather = weather;
    client.on('data', (bytes: Buffer) => {
      weather.onRequest(bytes, this);
      if (!this.#swallows('requests')) this.#pass(bytes, target);
    });
    target.on('data', (bytes: Buffer) => {
      if (this.#isAnswerLost) this.reset();
      else if (!this.#swallows('answers')) this.#pass(bytes, client);
    });
    for (const [one, other, direction] of [
      [client, target, 'requests'],
      [target, client, 'answers'],
    ] as const) {
      one.on('error', () => {});
      one.on('close', () => {
        // Half open: the other side does not see the end either.
        if (!this.#swallows(direction)) other.destroy();
        if (client.destroyed && target.destroyed) weather.onEnd();
      });
    }
  }

  loseAnswer(): void {
    this.#isAnswerLost = true;
  }

  reset(): void {
    for (const socket of [this.#client, this.#target]) socket.resetAndDestroy();
    this.#weather.onEnd();
  }

  #swallows(direction: 'requests' | 'answers'): boolean {
    const silence = this.#weather.silence();
    return this.isSilent || silence === 'both' || silence === direction;
  }

  #pass(bytes: Buffer, to: Socket): void {
    const ms = this.#weather.delayMs();
    if (ms === 0) to.write(bytes);
    else setTimeout(() => to.write(bytes), ms);
  }
}
