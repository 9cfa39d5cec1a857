import { type BinaryNode, decodeBinaryNode, encodeBinaryNode, type proto } from 'baileys';
import type { WebSocket } from 'ws';
import type { Companion } from './account.ts';
import type { Link } from './linking.ts';
import { createFrameReader, createNoiseServer, frameOf, type ServerIdentity } from './noise.ts';

/** One socket of a client, past its handshake. */
export interface Connection {
  /** The client's Noise key: what a linked device is known by. */
  readonly clientKey: Uint8Array;
  readonly payload: proto.ClientPayload;
  /** The device that has logged in here. */
  companion: Companion | undefined;
  /** The linking that is under way here. */
  link: Link | undefined;
  /** Whether what comes for the device may be sent, or still waits for the client's word. */
  isActive: boolean;
  send(stanza: BinaryNode): void;
  /** Says a last word and closes. */
  end(stanza?: BinaryNode): void;
  /** Breaks the socket with no word, as a network does. */
  drop(): void;
  /** Reads and writes nothing more, with the socket left open. */
  freeze(): void;
}

export interface Handlers {
  /** How long the server takes over each stanza it sends, now. */
  delayMs(): number;
  onOpen(connection: Connection): void;
  onStanza(connection: Connection, stanza: BinaryNode): void | Promise<void>;
  onClose(connection: Connection): void;
  /** A client that breaks the protocol, or a bug of this server. */
  onTrouble(error: unknown): void;
}

/** Shakes hands on a socket, then passes stanzas both ways. Stanzas are handled one after the other, as they came. */
export function serveConnection(socket: WebSocket, identity: ServerIdentity, handlers: Handlers): void {
  const noise = createNoiseServer(identity);
  const readFrames = createFrameReader();
  let hasHello = false;
  let connection: Connection | undefined;
  let handled = Promise.resolve();

  async function onFrame(frame: Buffer): Promise<void> {
    if (connection !== undefined) {
      const stanza = await decodeBinaryNode(noise.open(frame));
      await handlers.onStanza(connection, stanza);
    } else if (hasHello) {
      connection = createConnection(socket, noise.seal, noise.finish(frame), handlers);
      handlers.onOpen(connection);
    } else {
      hasHello = true;
      socket.send(frameOf(noise.hello(frame)));
    }
  }

  socket.on('message', (data: Buffer) => {
    handled = handled
      .then(async () => {
        for (const frame of readFrames(data)) await onFrame(frame);
      })
      .catch((error: unknown) => {
        handlers.onTrouble(error);
        socket.close();
      });
  });
  socket.on('error', () => socket.terminate());
  socket.on('close', () => {
    if (connection !== undefined) handlers.onClose(connection);
  });
}

function createConnection(
  socket: WebSocket,
  seal: (plaintext: Uint8Array) => Buffer,
  { clientKey, payload }: { clientKey: Uint8Array; payload: proto.ClientPayload },
  { delayMs }: Handlers,
): Connection {
  let isFrozen = false;
  // A slow server is slow in order: a stanza waits for those before it.
  let sent: Promise<void> | undefined;

  const write = (stanza: BinaryNode) => {
    // The counter of the cipher counts what is sent, so that it is sealed at the last moment.
    if (!isFrozen && socket.readyState === socket.OPEN) socket.send(frameOf(seal(encodeBinaryNode(stanza))));
  };
  const inOrder = (action: () => void) => {
    const delay = delayMs();
    if (delay === 0 && sent === undefined) return action();
    const turn = Promise.all([sent, new Promise((resolve) => setTimeout(resolve, delay))]).then(action);
    sent = turn;
    void turn.finally(() => {
      if (sent === turn) sent = undefined;
    });
  };

  return {
    clientKey,
    payload,
    companion: undefined,
    link: undefined,
    isActive: false,
    send: (stanza) => inOrder(() => write(stanza)),
    end: (stanza) =>
      inOrder(() => {
        if (stanza !== undefined) write(stanza);
        socket.close();
      }),
    drop: () => socket.terminate(),
    freeze() {
      isFrozen = true;
      socket.pause();
    },
  };
}
