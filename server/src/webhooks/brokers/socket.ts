import { channel } from 'node:diagnostics_channel';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, checkServerIdentity, connect as connectTls, type PeerCertificate } from 'node:tls';
import type { Opening } from './broker.ts';

/*
 * Sockets to brokers. They connect only to addresses that the policy allows, and they bound what a broker can send: each
 * byte that the server sends allows some of the broker's, so a client never has more to parse and keep than that.
 */

/** The bytes that a broker may send before the server has sent anything, and the most that it may have left. */
const FIRST_BYTES = 64 * 1024;
const MOST_BYTES = 4 * 1024 * 1024;
/** A broker returns a message that it cannot route, with its properties. */
const PER_BYTE_SENT = 3;

export class TooMuchData extends Error {
  readonly code = 'ERR_TOO_MUCH_DATA';

  constructor() {
    super('it sent more data than a broker has reason to');
  }
}

/** Opens a socket, over TLS if the address requires it. Errors are its `error` events. */
export function dial(opening: Opening, firstBytes = FIRST_BYTES): Socket {
  const { address } = opening;
  const plain = dialPlain(opening);
  if (!address.isSecure) return limitReceived(plain, firstBytes);
  const secure = connectTls({ ...tlsOptions(opening), socket: plain });
  // Node may report an error of the plain socket here a second time.
  secure.on('error', () => {});
  plain.once('error', (error) => secure.destroy(error));
  return limitReceived(secure, firstBytes);
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

/** The certificate must be for the host of the URL. Without `host`, which would replace a vetted address in its place. */
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

/** Destroys the socket once the broker has sent more than it has reason to. */
export function limitReceived<S extends Socket>(socket: S, firstBytes = FIRST_BYTES): S {
  let left = firstBytes;
  let sent = 0;
  const push = socket.push.bind(socket);
  socket.push = (chunk, encoding) => {
    const { bytesWritten = 0 } = socket;
    left = Math.max(left, Math.min(left + (bytesWritten - sent) * PER_BYTE_SENT, MOST_BYTES));
    sent = bytesWritten;
    left -= chunk?.length ?? 0;
    if (left >= 0) return push(chunk, encoding);
    socket.destroy(new TooMuchData());
    return false;
  };
  return socket;
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
