import { parseArgs } from 'node:util';
import { Bridge } from './bridge.ts';
import { ConfigError, readSettings, settingsTable } from './config.ts';
import { DatabaseError } from './database/database.ts';
import { init } from './init.ts';
import { jsonLog, messageOf } from './log.ts';

const USAGE = 2;

/** Runs a command. @returns the exit code */
export async function main(given: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> {
  process.umask(0o077); // the database has secrets
  try {
    const { values, positionals } = parseArgs({
      args: [...given],
      options: { config: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
      allowPositionals: true,
    });
    const [command = 'start', ...rest] = positionals;
    if (values.help) return print(help());
    if (rest.length > 0 || !['start', 'init'].includes(command))
      return complain(`Unknown command.\n\n${help()}`, USAGE);
    const settings = readSettings(environment, values.config ?? (environment['CHATWOOT_CONFIG'] || undefined));
    if (command === 'init') {
      await init(settings, { print, log: jsonLog() });
      return print('Ready. Start the bridge with: switchboard chatwoot');
    }
    return await run(await Bridge.open(settings, jsonLog()));
  } catch (error) {
    const isUsage = error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
    if (isUsage) return complain(`${error.message}\n\n${help()}`, USAGE);
    if (error instanceof ConfigError || error instanceof DatabaseError) return complain(error.message, 1);
    return complain(`The bridge failed: ${messageOf(error)}`, 1);
  }
}

/** Runs the bridge until SIGTERM, SIGINT or the end of `switchboard`. A second signal ends it without waiting. */
async function run(bridge: Bridge): Promise<number> {
  const signaled = new Promise<undefined>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const)
      process.once(signal, () => {
        process.once(signal, () => process.exit(1));
        resolve(undefined);
      });
    process.once('disconnect', () => resolve(undefined));
    process.channel?.unref(); // the listener alone keeps no process alive
  });
  try {
    await bridge.start();
  } catch (error) {
    await bridge.stop();
    throw error;
  }
  const lost = await Promise.race([signaled, bridge.lost]);
  // Another bridge can open the database now, so nothing may go on here, not even the jobs that run.
  if (lost !== undefined) process.exit(complain(`The database was lost: ${lost.message}`, 1));
  await bridge.stop();
  return 0;
}

function help(): string {
  const lines = settingsTable.map(({ variable, key, standard, meaning }) => {
    const state = standard === undefined ? 'required' : `default: ${standard === '' ? 'none' : standard}`;
    return `  ${variable} (${key}, ${state})\n      ${meaning}`;
  });
  return [
    'Usage: switchboard chatwoot [init] [--config <file>]',
    '',
    'Connects WhatsApp sessions to inboxes of Chatwoot. `init` sets up and tests the inboxes; without it, the bridge runs.',
    'Settings come from the environment, or from a JSON file (--config or CHATWOOT_CONFIG) with the names in brackets:',
    '',
    ...lines,
  ].join('\n');
}

function print(text: string): number {
  process.stdout.write(`${text}\n`);
  return 0;
}

function complain(text: string, code: number): number {
  process.stderr.write(`${text}\n`);
  return code;
}
