import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type Counters, type FakeWhatsapp, type FakeWhatsappOptions, startFakeWhatsapp } from './index.ts';

/**
 * The fake in a separate process, so that its memory and CPU time do not count as those of a measured process.
 * `commands` lists its operations.
 */
export interface RemoteFakeWhatsapp {
  readonly url: string;
  readonly ca: string;
  call<Name extends CommandName>(name: Name, ...args: Arguments<Name>): Promise<Awaited<ReturnType<Commands[Name]>>>;
  close(): Promise<void>;
}

type Commands = ReturnType<typeof createCommands>;
type CommandName = keyof Commands;
type Arguments<Name extends CommandName> = Parameters<Commands[Name]>;

function createCommands(whatsapp: FakeWhatsapp) {
  return {
    address: () => ({ url: whatsapp.url, ca: whatsapp.ca }),
    introduce: (number: string, name?: string) => void whatsapp.phone(number, name),
    scan: (qr: string, number: string) => whatsapp.scan(qr, number),
    enterCode: (code: string, number: string) => whatsapp.phone(number).enterCode(code),
    sendText: (from: string, to: string, text: string) => whatsapp.phone(from).sendText(to, text),
    /** Resolves once a phone has read this message. */
    waitForMessage: async (number: string, id: string): Promise<void> => {
      await whatsapp.phone(number).messages.waitFor((message) => message.id === id, 60_000);
    },
    drop: (number: string) => whatsapp.faults.drop(number),
    counters: (): Counters & { online: number } => ({ ...whatsapp.counters, online: whatsapp.online }),
    /** Usage of this process: CPU in microseconds since its start, resident memory in bytes. */
    usage: () => ({ cpu: process.cpuUsage(), rss: process.memoryUsage.rss() }),
    troubles: () => whatsapp.troubles.map(String),
  };
}

interface Request {
  readonly id: number;
  readonly name: CommandName;
  readonly args: readonly unknown[];
}

type Response = { readonly id: number } & ({ readonly result: unknown } | { readonly error: string });

export async function forkFakeWhatsapp(options: FakeWhatsappOptions = {}): Promise<RemoteFakeWhatsapp> {
  const child = fork(fileURLToPath(import.meta.url), [JSON.stringify(options)]);
  const waiting = new Map<number, (response: Response) => void>();
  let lastId = 0;
  child.on('message', (response: Response) => {
    waiting.get(response.id)?.(response);
    waiting.delete(response.id);
  });
  const call: RemoteFakeWhatsapp['call'] = (name, ...args) =>
    new Promise((resolve, reject) => {
      const id = ++lastId;
      waiting.set(id, (response) => {
        if ('error' in response) reject(new Error(response.error));
        // The response to a command is its return value.
        else resolve(response.result as Awaited<ReturnType<Commands[typeof name]>>);
      });
      const request: Request = { id, name, args };
      child.send(request);
    });
  const { url, ca } = await call('address');
  return {
    url,
    ca,
    call,
    async close() {
      child.disconnect();
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
}

/** In the child, which lives as long as its parent listens. */
async function serve(answer: (response: Response) => void): Promise<void> {
  const started = startFakeWhatsapp(JSON.parse(process.argv[2] ?? '{}'));
  process.on('disconnect', () => process.exit());
  process.on('message', async ({ id, name, args }: Request) => {
    try {
      const command = createCommands(await started)[name] as (...args: readonly unknown[]) => unknown;
      answer({ id, result: await command(...args) });
    } catch (error) {
      answer({ id, error: String(error) });
    }
  });
  await started;
}

if (import.meta.main && process.send !== undefined) {
  const send = process.send.bind(process);
  await serve((response) => send(response));
}
