import { answerWith, Bridge, log } from './bridge.ts';
import { readSettings, SettingsError } from './settings.ts';

/* The program in the bundle: connects the desktop client that starts it to a Switchboard server. */

try {
  const settings = readSettings(process.env);
  const bridge = new Bridge(settings, () => process.exit());
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void bridge.stop());
  await bridge.start();
  log({ message: `Connecting to ${settings.url.origin}${settings.url.pathname}` });
} catch (error) {
  if (!(error instanceof SettingsError)) throw error;
  log(error);
  // The client shows the error of a request more clearly than the end of a process.
  await answerWith(error.message);
}
