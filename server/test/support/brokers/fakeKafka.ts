import { createServer, type Server, type Socket } from 'node:net';
import { Reader, readRecordsBatch, Writer } from '@platformatic/kafka';
import { type BrokerServer, freePort } from './brokers.ts';

export interface KafkaRecord {
  readonly partition: number;
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface FakeKafka extends BrokerServer {
  readonly records: readonly KafkaRecord[];
  /** The most connections that were open at the same time. */
  readonly mostConnections: number;
  /** Where the cluster says that its brokers are. */
  advertise(host: string, port: number): void;
  /** Answers the next produce requests with this error code. */
  failNext(errorCode: number, requests?: number): void;
}

interface Options {
  readonly topic: string;
  readonly partitions: number;
  readonly username: string;
  readonly password: string;
  /** Whether it also knows the flexible versions of requests, of Kafka 2.4 and later. */
  readonly isRecent?: boolean;
  /** Number of leaders that it advertises as `node-0.example.com` and so on. Without it, it leads all partitions. */
  readonly leaders?: number;
}

const API = { produce: 0, metadata: 3, saslHandshake: 17, apiVersions: 18, saslAuthenticate: 36 };
const UNKNOWN_TOPIC = 3;
const AUTHENTICATION_FAILED = 58;

/** One broker that speaks enough of Kafka's protocol for a producer that logs in by SASL/PLAIN. */
/** The default of `message.max.bytes`: https://kafka.apache.org/documentation/#brokerconfigs_message.max.bytes */
const MAX_BATCH_BYTES = 1_048_588;
const MESSAGE_TOO_LARGE = 10;

export async function startFakeKafka(options: Options): Promise<FakeKafka> {
  const { topic, partitions, username, password, isRecent = true, leaders } = options;
  const records: KafkaRecord[] = [];
  const port = await freePort();
  let advertised = { host: '127.0.0.1', port };
  let failures: { code: number; left: number } | undefined;

  const versions = [
    [API.produce, 3, isRecent ? 9 : 3],
    [API.metadata, 4, isRecent ? 9 : 4],
    [API.saslHandshake, 1, 1],
    [API.apiVersions, 0, 2],
    [API.saslAuthenticate, 0, 1],
  ] as const;

  function answer(reader: Reader, apiKey: number, version: number, out: Writer, login: { done: boolean }): Writer {
    if (apiKey === API.apiVersions) {
      const writeVersion = (w: Writer, [key, least, most]: (typeof versions)[number]) =>
        w.appendInt16(key).appendInt16(least).appendInt16(most);
      return out
        .appendInt16(0)
        .appendArray([...versions], writeVersion, false, false)
        .appendInt32(0);
    }
    if (apiKey === API.saslHandshake)
      return out.appendInt16(0).appendArray(['PLAIN'], (w, name) => w.appendString(name, false), false, false);
    if (apiKey === API.saslAuthenticate) {
      const [, user, secret] = reader.readBytes(false).toString().split('\0');
      login.done = user === username && secret === password;
      out.appendInt16(login.done ? 0 : AUTHENTICATION_FAILED);
      out.appendString(login.done ? null : 'Invalid username or password', false);
      return out.appendBytes(Buffer.alloc(0), false).appendInt64(0n);
    }
    if (!login.done) throw new Error('not logged in');
    const isFlexible = version >= 9;
    if (isFlexible) out.appendTaggedFields();
    if (apiKey === API.metadata) return answerMetadata(reader, isFlexible, out);
    if (apiKey === API.produce) return answerProduce(reader, isFlexible, out);
    throw new Error(`unknown request ${apiKey}`);
  }

  function answerMetadata(reader: Reader, isFlexible: boolean, out: Writer): Writer {
    const names = reader.readArray((r) => r.readString(isFlexible), isFlexible, isFlexible);
    const { host, port: shownPort } = advertised;
    out.appendInt32(0);
    const hostOf = (id: number) => (leaders === undefined ? host : `node-${id}.example.com`);
    out.appendArray(
      [...Array(leaders ?? 1).keys()],
      (w, id) =>
        w.appendInt32(id).appendString(hostOf(id), isFlexible).appendInt32(shownPort).appendString(null, isFlexible),
      isFlexible,
      isFlexible,
    );
    out.appendString('cluster', isFlexible).appendInt32(0);
    const nodes = (w: Writer) => w.appendArray([0], (v, id) => v.appendInt32(id), isFlexible, false);
    const writePartition = (w: Writer, index: number) => {
      w.appendInt16(0)
        .appendInt32(index)
        .appendInt32(index % (leaders ?? 1));
      if (isFlexible) w.appendInt32(0);
      nodes(w);
      nodes(w);
      if (isFlexible) w.appendArray([], () => {}, isFlexible, false);
    };
    out.appendArray(
      names,
      (w, name) => {
        const isKnown = name === topic;
        w.appendInt16(isKnown ? 0 : UNKNOWN_TOPIC)
          .appendString(name, isFlexible)
          .appendBoolean(false);
        w.appendArray(isKnown ? [...Array(partitions).keys()] : [], writePartition, isFlexible, isFlexible);
        if (isFlexible) w.appendInt32(0);
      },
      isFlexible,
      isFlexible,
    );
    return isFlexible ? out.appendInt32(0).appendTaggedFields() : out;
  }

  function answerProduce(reader: Reader, isFlexible: boolean, out: Writer): Writer {
    reader.readNullableString(isFlexible);
    const acks = reader.readInt16();
    if (acks !== -1) throw new Error('a message must be confirmed by all replicas');
    reader.readInt32();
    const isFailing = failures !== undefined && failures.left-- > 0;
    let errorCode = isFailing ? (failures?.code ?? 0) : 0;
    const stored = reader.readArray(
      (r) => ({
        name: r.readString(isFlexible),
        partitions: r.readArray(
          (q) => {
            const partition = q.readInt32();
            const batch = Buffer.from(q.readBytes(isFlexible));
            if (batch.length > MAX_BATCH_BYTES) errorCode = MESSAGE_TOO_LARGE;
            if (errorCode === 0) store(partition, batch);
            return partition;
          },
          isFlexible,
          isFlexible,
        ),
      }),
      isFlexible,
      isFlexible,
    );
    const writePartition = (w: Writer, partition: number) => {
      w.appendInt32(partition).appendInt16(errorCode).appendInt64(BigInt(records.length)).appendInt64(-1n);
      if (isFlexible)
        w.appendInt64(0n)
          .appendArray([], () => {})
          .appendString(null);
    };
    out.appendArray(
      stored,
      (w, { name, partitions: written }) =>
        w.appendString(name, isFlexible).appendArray(written, writePartition, isFlexible, isFlexible),
      isFlexible,
      isFlexible,
    );
    out.appendInt32(0);
    return isFlexible ? out.appendTaggedFields() : out;
  }

  function store(partition: number, batch: Buffer): void {
    for (const { key, value, headers } of readRecordsBatch(Reader.from(batch)).records) {
      const shown = Object.fromEntries(headers.map(([name, text]) => [String(name), String(text)]));
      records.push({ partition, key: String(key), headers: shown, body: String(value) });
    }
  }

  function serve(socket: Socket): void {
    let rest: Buffer = Buffer.alloc(0);
    const login = { done: false };
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk]);
      while (rest.length >= 4 && rest.length >= 4 + rest.readInt32BE()) {
        const size = rest.readInt32BE();
        const reader = Reader.from(rest.subarray(4, 4 + size));
        rest = rest.subarray(4 + size);
        const [apiKey, version, correlationId] = [reader.readInt16(), reader.readInt16(), reader.readInt32()];
        reader.readNullableString(false);
        if (version >= 9) reader.readTaggedFields();
        try {
          const out = answer(reader, apiKey, version, Writer.create().appendInt32(correlationId), login);
          socket.write(out.prependLength().buffer);
        } catch {
          socket.destroy();
          return;
        }
      }
    });
  }

  const sockets = new Set<Socket>();
  let mostConnections = 0;
  let server: Server;
  const restart = async () => {
    server = createServer((socket) => {
      sockets.add(socket);
      mostConnections = Math.max(mostConnections, sockets.size);
      socket.once('close', () => sockets.delete(socket));
      serve(socket);
    });
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  };
  const kill = async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of sockets) {
      // A reset fails while the socket is shutting down, and would leave its handle open.
      if (socket.writableEnded) socket.destroy();
      else socket.resetAndDestroy();
    }
    await closed;
  };
  await restart();
  return {
    port,
    records,
    get mostConnections() {
      return mostConnections;
    },
    kill,
    restart,
    stop: kill,
    advertise(host, shownPort) {
      advertised = { host, port: shownPort };
    },
    failNext(code, requests = 1) {
      failures = { code, left: requests };
    },
  };
}
