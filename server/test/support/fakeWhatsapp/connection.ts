import { type BinaryNode, decodeBinaryNode, encodeBinaryNode, type proto } from 'baileys';
import type { WebSocket } from 'ws';
import { createFrameReader, createNoiseServer, frameOf, type ServerIdentity } from './encryption/noise.ts';
import type { Companion } from './server/account.ts';
import type { Link } from './server/linking.ts';

/** A socket of a client after its handshake. */
export interface Connection {
  /** The Noise key of the client, which identifies a linked device. */
  readonly clientKey: Uint8Array;
  readonly payload: proto.ClientPayload;
  /** The device that has logged in on it. */
  companion: Companion | undefined;
  /** The linking in progress on it. */
  link: Link | undefined;
  /** Whether stanzas for the device may be sent, or wait until the client is ready. */
  isActive: boolean;
  send(stanza: BinaryNode): void;
  /** Sends a final stanza and closes. */
  end(stanza?: BinaryNode): void;
  /** Resets the socket silently, like a network failure. */
  drop(): void;
  /** Stops reading and writing, with the socket left open. */
  freeze(): void;
}

export interface Handlers {
  /** The current delay of each sent stanza. */
  delayMs(): number;
  onOpen(connection: Connection): void;
  onStanza(connection: Connection, stanza: BinaryNode): void | Promise<void>;
  onClose(connection: Connection): void;
  /** A protocol violation of a client, or a bug of this server. */
  onTrouble(error: unknown): void;
}

/** Performs the handshake on a socket, then passes stanzas both ways. Handles them one by one in order. */
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
  // A slow server keeps the order: a stanza waits for earlier ones.
  let sent: Promise<void> | undefined;

  const write = (stanza: BinaryNode) => {
    // The cipher counts sent stanzas, so each is encrypted at the last moment.
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
