import { once } from 'node:events';
import { createServer as createHttp } from 'node:http';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { portOf } from './listening.ts';

/** A proxy on loopback that records the requested targets, and requires a password. */
export interface TestProxy {
  readonly url: string;
  /** `host:port` of each connection that it opened. */
  readonly targets: readonly string[];
  close(): Promise<void>;
}

const USER = 'name';
const PASSWORD = 'pass-word';

/** A proxy that speaks HTTP CONNECT (RFC 9110). */
export async function startHttpProxy(): Promise<TestProxy> {
  const targets: string[] = [];
  const wanted = `Basic ${Buffer.from(`${USER}:${PASSWORD}`).toString('base64')}`;
  const server = createHttp((_, response) => response.writeHead(400).end());
  server.on('connect', (request, client: Socket) => {
    if (request.headers['proxy-authorization'] !== wanted) {
      client.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
      return;
    }
    targets.push(request.url ?? '');
    const { hostname, port } = new URL(`http://${request.url}`);
    join(client, hostname, Number(port || 80), () => client.write('HTTP/1.1 200 Connection established\r\n\r\n'));
  });
  return serve(server, 'http', targets);
}

/** A proxy that speaks SOCKS 5 (RFC 1928) with a password (RFC 1929). */
export async function startSocksProxy(): Promise<TestProxy> {
  const targets: string[] = [];
  const server = createServer(async (client) => {
    client.on('error', () => {});
    const read = reader(client);
    const [, methods = 0] = await read(2);
    await read(methods);
    client.write(Buffer.from([5, 2])); // name and password
    const [, nameLength = 0] = await read(2);
    const name = String(await read(nameLength));
    const [passwordLength = 0] = await read(1);
    const password = String(await read(passwordLength));
    if (name !== USER || password !== PASSWORD) {
      client.end(Buffer.from([1, 1]));
      return;
    }
    client.write(Buffer.from([1, 0]));
    const [, , , kind] = await read(4);
    const host = kind === 1 ? [...(await read(4))].join('.') : String(await read((await read(1))[0] ?? 0));
    const port = (await read(2)).readUInt16BE();
    targets.push(`${host}:${port}`);
    read.stop();
    join(client, host, port, () => client.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0])));
  });
  return serve(server, 'socks5', targets);
}

async function serve(server: Server, scheme: string, targets: readonly string[]): Promise<TestProxy> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `${scheme}://${USER}:${PASSWORD}@127.0.0.1:${portOf(server)}`,
    targets,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function join(client: Socket, host: string, port: number, onOpen: () => void): void {
  const target = connect(port, host, () => {
    onOpen();
    client.pipe(target).pipe(client);
  });
  for (const [one, other] of [
    [client, target],
    [target, client],
  ] as const) {
    one.on('error', () => other.destroy());
    one.on('close', () => other.destroy());
  }
}

/** Returns a function that reads an exact number of bytes. */
function reader(socket: Socket) {
  let buffered = Buffer.alloc(0);
  let wake = () => {};
  const take = (chunk: Buffer) => {
    buffered = Buffer.concat([buffered, chunk]);
    wake();
  };
  socket.on('data', take);
  const read = async (length: number): Promise<Buffer> => {
    while (buffered.length < length) await new Promise<void>((resolve) => (wake = resolve));
    const found = buffered.subarray(0, length);
    buffered = buffered.subarray(length);
    return found;
  };
  return Object.assign(read, { stop: () => socket.off('data', take) });
}
