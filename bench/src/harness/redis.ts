import { UnavailableError } from '../figure.ts';
import { freePort, newFolder, type Program, startProgram } from './processes.ts';

/**
 * Starts Redis on loopback with an append-only file, as for a durable queue.
 * @param fsync `everysec`, the default, may lose a second; `always` loses nothing, like the product
 * @throws {UnavailableError} without `redis-server`
 */
export async function startRedis(fsync: 'everysec' | 'always'): Promise<Program & { readonly port: number }> {
  const port = await freePort();
  const listen = ['--port', String(port), '--bind', '127.0.0.1'];
  const store = ['--dir', newFolder(), '--appendonly', 'yes', '--appendfsync', fsync, '--save', ''];
  const redis = await startProgram('redis-server', [...listen, ...store], 'Ready to accept connections');
  if (redis === undefined) throw new UnavailableError('redis-server is not installed');
  return { port, ...redis };
}
