import { AsyncLocalStorage } from 'node:async_hooks';
import type { BinaryNode, proto, SignalDataSet, SocketConfig } from 'baileys';
import type { Clock } from '../../../clock.ts';
import type { SessionStore } from '../../connector.ts';
import { RECEIVED, RECEIVED_PREFIX } from '../link/credentials.ts';
import type { Baileys } from '../link/load.ts';

/*
 * The network forgets a message as soon as the client confirms it, and Baileys confirms it before anybody has seen it;
 * the key that decrypts it works once. So what is decrypted is written down in the very transaction that uses the key
 * up, which comes before the confirmation: a crash at any moment leaves either a message that the network sends again,
 * or one that stands in the journal and is passed on at the next start. It costs no transaction of its own.
 */

/** A message as it came: what stood on its envelope, and what was in it. */
export interface Received {
  /** Its key in the store. */
  readonly key: string;
  readonly attrs: Readonly<Record<string, string>>;
  /** Its place among the others: a time, in ms, that no two have. The network's own times are of whole seconds. */
  readonly place: number;
  /** A `proto.Message`, encoded. */
  readonly message: Uint8Array;
}

/** What stood on the envelope of a message; keys come in a part of their own, before what they open. */
interface Envelope {
  readonly attrs: Received['attrs'];
  readonly isLastPart: boolean;
}

export interface Journal {
  /** Baileys' own, writing down what it decrypts. */
  readonly makeSignalRepository: SocketConfig['makeSignalRepository'];
  /** A stanza has come that Baileys is about to decrypt. */
  expect(node: BinaryNode): void;
  /** Writes down what came in another way, and passes it on. */
  add(attrs: Readonly<Record<string, string>>, message: proto.IMessage): Promise<void>;
  /** Whether a message of this id has come by the journal just now. */
  has(id: string): boolean;
  /** What was written down before the last stop and not passed on, oldest first. */
  left(): Promise<Received[]>;
  /** It has been passed on. */
  done(received: Received): void;
  /** Crosses out what is done, for the last time. */
  end(): Promise<void>;
}

/**
 * Many share a transaction. What is crossed out late is told again after a crash: a message is recognised then, but a
 * reaction or an edit that was changed since would be changed back. So it is not given up.
 */
const FLUSH_MS = 1000;
/** Baileys tells of a message soon after it was decrypted, but of all that waited at the network only when all is there. */
const RECENT_KEPT = 10_000;

/**
 * @param concerns whether a message is worth passing on: most protocol messages are for Baileys alone
 * @param onReceived a message has been written down
 * @param onNothing there was nothing to be written down of the message with this id
 */
export function createJournal({
  baileys: { DEFAULT_CONNECTION_CONFIG, proto, unpadRandomMax16 },
  store,
  clock,
  concerns,
  onReceived,
  onNothing,
  onTrouble,
}: {
  baileys: Baileys;
  store: SessionStore;
  clock: Clock;
  concerns: (message: InstanceType<Baileys['proto']['Message']>) => boolean;
  onReceived: (received: Received) => void;
  onNothing: (id: string) => void;
  onTrouble: (error: unknown) => void;
}): Journal {
  /** Which envelope a ciphertext came in: Baileys decrypts it without telling. */
  const envelopes = new WeakMap<Uint8Array, Envelope>();
  /** In the order in which they came. A cache would take its room at once; an idle session needs none. */
  const recent = new Set<string>();
  let done = new Map<string, null>();
  /** What is passed on already while it is still being written. */
  const writing = new Map<string, Promise<unknown>>();
  let lastPlace = 0;
  let cancelFlush: (() => void) | undefined;
  let isEnded = false;

  // Baileys knows by the context of a call that it belongs to a transaction. What follows from a message does not.
  const outside = AsyncLocalStorage.snapshot();

  const makeSignalRepository: SocketConfig['makeSignalRepository'] = (auth, logger, lidsOf) => {
    const repository = DEFAULT_CONNECTION_CONFIG.makeSignalRepository(auth, logger, lidsOf);
    const { keys } = auth;

    /**
     * Decrypts and writes down in one transaction: the one inside becomes a part of it. What was decrypted is passed on
     * before that is committed, so that both are stored by one fsync. When only the other of them is, the network sends
     * the message again, and it is recognised.
     */
    function decrypt(ciphertext: Uint8Array, lock: string, inner: () => Promise<Uint8Array>): Promise<Uint8Array> {
      const envelope = envelopes.get(ciphertext);
      if (envelope === undefined || !('transaction' in keys)) return inner();
      const written: Promise<Uint8Array> = keys.transaction(async () => {
        const padded = await inner();
        const received = receive(envelope.attrs, unpadRandomMax16(padded));
        if (received === undefined) {
          if (envelope.isLastPart) onNothing(envelope.attrs['id'] ?? '');
        } else {
          await keys.set(entryOf(received));
          expectWritten(received.key, written);
          outside(onReceived, received);
        }
        return padded;
      }, lock);
      return written;
    }

    return {
      ...repository,
      decryptMessage: (options) => decrypt(options.ciphertext, options.jid, () => repository.decryptMessage(options)),
      decryptGroupMessage: (options) =>
        decrypt(options.msg, options.group, () => repository.decryptGroupMessage(options)),
    };
  };

  function receive(attrs: Received['attrs'], message: Uint8Array): Received | undefined {
    const whole = proto.Message.decode(message);
    if (!concerns(proto.Message.create(whole.deviceSentMessage?.message ?? whole))) return undefined;
    const { from, participant = '', id = '' } = attrs;
    remember(id);
    lastPlace = Math.max(lastPlace + 1, clock.now());
    return { key: `${RECEIVED_PREFIX}${from}/${participant}/${id}`, attrs, place: lastPlace, message };
  }

  function remember(id: string): void {
    recent.add(id);
    const [oldest] = recent;
    if (recent.size > RECENT_KEPT && oldest !== undefined) recent.delete(oldest);
  }

  async function add(attrs: Readonly<Record<string, string>>, message: proto.IMessage): Promise<void> {
    const received = receive(attrs, proto.Message.encode(message).finish());
    if (received === undefined) return;
    await store.set(received.key, JSON.stringify(rowOf(received)));
    onReceived(received);
  }

  function expectWritten(key: string, written: Promise<unknown>): void {
    writing.set(key, written);
    const leave = () => {
      if (writing.get(key) === written) writing.delete(key);
    };
    written.then(leave, leave);
  }

  function crossOut(key: string): void {
    done.set(key, null);
    if (!isEnded) cancelFlush ??= clock.after(FLUSH_MS, () => void flush().catch(onTrouble));
  }

  async function flush(): Promise<void> {
    cancelFlush?.();
    cancelFlush = undefined;
    const gone = done;
    done = new Map();
    try {
      if (gone.size > 0) await store.write(gone);
    } catch (error) {
      for (const key of gone.keys()) crossOut(key);
      throw error;
    }
  }

  return {
    makeSignalRepository,
    expect({ attrs, content }) {
      if (!Array.isArray(content)) return;
      const parts = content.flatMap((part) =>
        part.tag === 'enc' && part.content instanceof Uint8Array ? [part.content] : [],
      );
      for (const part of parts) envelopes.set(part, { attrs, isLastPart: part === parts.at(-1) });
    },
    add,
    has: (id) => recent.has(id),
    async left() {
      const entries = [...(await store.list(RECEIVED_PREFIX))].map(([key, text]): Received => {
        const { attrs, place, message } = JSON.parse(text);
        remember(attrs.id ?? '');
        return { key, attrs, place, message: Buffer.from(message, 'base64') };
      });
      return entries.sort((a, b) => a.place - b.place);
    },
    done({ key }) {
      const cross = () => crossOut(key);
      // Crossed out before it stands there, it would stand there for good.
      const written = writing.get(key);
      if (written === undefined) cross();
      else written.then(cross, cross);
    },
    end() {
      isEnded = true;
      return flush();
    },
  };
}

function entryOf(received: Received): SignalDataSet {
  const id = received.key.slice(RECEIVED_PREFIX.length);
  // Baileys passes types through that it does not know, and TypeScript does not.
  return { [RECEIVED]: { [id]: rowOf(received) } } as SignalDataSet;
}

/** What is written down. */
const rowOf = ({ attrs, place, message }: Received) => ({
  attrs,
  place,
  message: Buffer.from(message).toString('base64'),
});
