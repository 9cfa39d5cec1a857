import { channel } from 'node:diagnostics_channel';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, checkServerIdentity, connect as connectTls, type PeerCertificate } from 'node:tls';
import { thrownError } from '../../../thrown.ts';
import type { Opening } from './broker.ts';
import { type Inspector, UnexpectedData } from './inspection.ts';

/*
 * Sockets to brokers. They connect only to addresses that the policy allows, and they bound what a broker can send:
 * each byte that the server sends allows some of the broker's, so a client never has more to parse and keep than that.
 * An inspector refuses what would make the client allocate more than it received. An error that the client throws while
 * it parses ends the connection, and not the process.
 */

/** The bytes that a broker may send before the server has sent anything, and the most that it may have left. */
const FIRST_BYTES = 64 * 1024;
const MOST_BYTES = 4 * 1024 * 1024;
/** A broker returns a message that it cannot route, with its properties. */
const PER_BYTE_SENT = 3;
/** Each chunk counts as this many bytes more, because a client keeps an object for it. */
const PER_CHUNK = 64;

interface Guard {
  readonly inspector: Inspector;
  /** Limit of what the broker sends before the server has sent anything, in bytes. */
  readonly firstBytes?: number;
}

/** Opens a socket, over TLS if the address requires it. Errors are its `error` events. */
export function dial(opening: Opening, guard: Guard): Socket {
  const { address } = opening;
  const plain = dialPlain(opening);
  if (!address.isSecure) return guardSocket(plain, opening, guard);
  const secure = connectTls({ ...tlsOptions(opening), socket: plain });
  // Node may report an error of the plain socket here a second time.
  secure.on('error', () => {});
  plain.once('error', (error) => secure.destroy(error));
  return guardSocket(secure, opening, guard);
}

/** Opens a socket without TLS, even if the address requires it. */
export function dialPlain(opening: Opening): Socket {
  const { host, port } = opening.address;
  return observe(connectTcp({ host, port, lookup: opening.lookup, noDelay: true }), opening);
}

/** Returns the socket that `connect` opens meanwhile, for clients that do not accept one. */
export function captureSocket(opening: Opening, connect: () => void): Socket {
  let opened: Socket | undefined;
  const created = channel('net.client.socket');
  // Published as soon as the socket exists, before it connects.
  const onSocket = (message: unknown) => {
    opened ??= (message as { socket: Socket }).socket;
  };
  created.subscribe(onSocket);
  try {
    connect();
  } finally {
    created.unsubscribe(onSocket);
  }
  if (opened === undefined) throw new Error('the client opened no socket');
  return observe(opened, opening);
}

/**
 * The certificate must be for the host of the URL. Without `host`, which would replace a vetted address in its place.
 */
export function tlsOptions({ address: { host }, moments }: Opening): ConnectionOptions {
  return {
    ...(isIP(host) === 0 && { servername: host }),
    // Called once the certificate is trusted, as the last check of a handshake.
    checkServerIdentity(_: string, certificate: PeerCertificate) {
      const error = checkServerIdentity(host, certificate);
      if (error === undefined) moments.set('secureConnect', performance.now());
      return error;
    },
  };
}

/** Destroys the socket once the broker has sent more than it has reason to, something unexpected, or nonsense. */
export function guardSocket<S extends Socket>(socket: S, { onRefused }: Opening, guard: Guard): S {
  const { inspector, firstBytes = FIRST_BYTES } = guard;
  let left = firstBytes;
  let sent = 0;
  const check = (chunk: Buffer) => {
    const { bytesWritten = 0 } = socket;
    left = Math.max(left, Math.min(left + (bytesWritten - sent) * PER_BYTE_SENT, MOST_BYTES));
    sent = bytesWritten;
    // Bytes that the client sends back by itself allow nothing.
    left -= chunk.length + PER_CHUNK + inspector.read(chunk) * PER_BYTE_SENT;
    if (left < 0) throw new UnexpectedData('sent more data than a broker has reason to');
  };
  const refuse = (error: unknown) => {
    if (error instanceof UnexpectedData) onRefused(error);
    socket.destroy(thrownError(error));
  };
  const push = socket.push.bind(socket);
  socket.push = (chunk, encoding) => {
    if (socket.destroyed) return false;
    try {
      if (chunk !== null && chunk !== undefined) check(chunk);
      return push(chunk, encoding);
    } catch (error) {
      refuse(error);
      return false;
    }
  };
  containErrors(socket, refuse);
  return socket;
}

/** Reports errors that the listeners of a socket throw. Clients parse in them, and not all of them expect nonsense. */
function containErrors(socket: Socket, report: (error: unknown) => void): void {
  const emit = socket.emit.bind(socket) as (...event: unknown[]) => boolean;
  socket.emit = (...event: unknown[]) => {
    try {
      return emit(...event);
    } catch (error) {
      report(error);
      return true;
    }
  };
}

/** Records the progress of a socket, and destroys it by the signal. */
export function observe(socket: Socket, { moments, signal }: Opening): Socket {
  for (const name of ['lookup', 'connect']) socket.once(name, () => moments.set(name, performance.now()));
  // A socket without a listener would end the process.
  socket.on('error', () => {});
  // With an error, because a client that is connecting does not notice a mere end.
  const onAbort = () => socket.destroy(new Error('the attempt is over'));
  signal.addEventListener('abort', onAbort);
  socket.once('close', () => signal.removeEventListener('abort', onAbort));
  if (signal.aborted) onAbort();
  return socket;
}
