import { createApp } from './app.ts';
import { readSettings, settingsHelp } from './config.ts';
import { OperatorError } from './errors.ts';
import { version } from './version.ts';

/** Errors of files, addresses and databases. Their cause is outside our code, so a stack trace would not help. */
const OUTSIDE = /^(E[A-Z]+|ERR_SQLITE_ERROR|28\w{3}|3D000|57P0\d)$/;

if (process.argv.includes('--help'))
  print(`Switchboard ${version}: a self-hosted messaging gateway.\n\nnpm start\n\n${settingsHelp()}`);
else if (process.argv.includes('--version')) print(`${version}\n`);
else await run();

async function run(): Promise<void> {
  try {
    const settings = readSettings(process.env);
    const app = await createApp(settings);
    const stop = () =>
      void app.stop().then(
        () => process.exit(0),
        () => {
          process.stderr.write(
            'The server did not stop within STOP_TIMEOUT_SECONDS and exits now. No acknowledged data is lost.\n',
          );
          process.exit(1);
        },
      );
    process.on('SIGTERM', stop);
    process.on('SIGINT', stop);
    const address = await app.start();
    const home = settings.publicUrl?.origin ?? address;
    print(
      [
        `Switchboard ${version} is ready.`,
        `  Dashboard  ${home}/`,
        `  API        ${home}/api/v1`,
        `  MCP        ${home}/api/v1/mcp`,
        `  Docs       ${home}/docs`,
        `  Database   ${settings.databaseUrl === '' ? `SQLite in ${settings.dataDir}` : 'PostgreSQL'}`,
        '',
      ].join('\n'),
    );
  } catch (error) {
    process.stderr.write(`${explain(error)}\n`);
    process.exit(1);
  }
}

/** Explains problems that the operator can fix. Anything else is a bug and is shown with its stack trace. */
function explain(error: unknown): string {
  if (error instanceof OperatorError) return error.message;
  if (error instanceof Error && 'code' in error) {
    if (error.code === 'EADDRINUSE') return 'Another program uses the port. Stop it, or set PORT to another port.';
    if (error.code === 'EACCES') return `The server lacks a permission: ${error.message}`;
    if (OUTSIDE.test(String(error.code))) return `The server cannot start: ${error.message} (${error.code})`;
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function print(text: string): void {
  process.stdout.write(text);
}
