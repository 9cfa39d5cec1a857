import { flushCompileCache } from 'node:module';
import { IdleMemory } from './app/idleMemory.ts';
import { systemClock } from './clock.ts';
import { readSettings, type Settings } from './config.ts';
import { explainStart } from './startErrors.ts';
import { version } from './version.ts';

const WITHOUT_DATABASE =
  'PostgreSQL does not answer, so the server stops without it. No acknowledged data is lost. Other nodes take over within LEASE_SECONDS after PostgreSQL answers again, and work that was in progress is repeated.\n';

await run();

async function run(): Promise<void> {
  let settings: Settings | undefined;
  try {
    settings = readSettings(process.env);
    const { createApp } = await import('./app.ts');
    const app = await createApp(settings);
    const stop = () =>
      void app.stop().then(
        (result) => {
          if (result === 'without database') process.stderr.write(WITHOUT_DATABASE);
          process.exit(0);
        },
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
    setImmediate(flushCompileCache); // a server that is killed keeps it as well
    new IdleMemory({ clock: systemClock }).start();
  } catch (error) {
    process.stderr.write(`${explainStart(error, settings)}\n`);
    process.exit(1);
  }
}

function print(text: string): void {
  process.stdout.write(text);
}
