import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Which bytes are swallowed without a word: TCP tells neither side, as with a cable that is cut far away. */
export type Silence = 'none' | 'requests' | 'answers' | 'both';

/** One connection through the line. */
export interface LineConnection {
  /** Drops what the target answers from now on, and resets the connection with the first byte of it. */
  loseAnswer(): void;
}

/** A TCP proxy on loopback that fails as networks do. */
export interface FaultyLine {
  readonly port: number;
  /** Connections that are open. */
  readonly open: number;
  /** Where new connections go. */
  aim(target: { readonly hostname: string; readonly port: string }): void;
  /** From now on, for open and new connections. New ones are accepted, and hear nothing. */
  silence(what: Silence): void;
  /** As `silence` of both ways, for the connections that are open now: new ones work. */
  halfOpen(): void;
  /** How long every byte takes from now on, in each direction. */
  delay(ms: number): void;
  /** Resets every open connection. */
  reset(): void;
  /** Whether new connections are reset at once. */
  refuse(isRefusing: boolean): void;
  /** Calls `listener` with what clients send, before it is passed on. */
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
    port: (server.address() as AddressInfo).port,
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

/** A client's connection and the one to the target that goes with it. */
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
        // Half open: the other side does not hear of the end either.
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
