import type { Session } from '@switchboard/sdk/api';

/** Separate from the other text of sessions, which the overview does not load. */
export const sessionStatusLabels = {
  created: 'Not connected yet',
  connecting: 'Connecting',
  awaiting_pairing: 'Awaiting pairing',
  connected: 'Connected',
  disconnected: 'Disconnected',
  logged_out: 'Logged out',
  failed: 'Failed',
} satisfies Record<Session['status'], string> as Readonly<Record<string, string>>;
