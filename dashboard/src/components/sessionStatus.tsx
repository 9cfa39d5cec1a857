import { sessionWords } from '../strings/sessions.ts';
import { Lamp, type LampTone } from './lamp.tsx';

const tones: Readonly<Record<string, LampTone>> = {
  created: 'off',
  connecting: 'busy',
  awaiting_pairing: 'warn',
  connected: 'good',
  disconnected: 'off',
  logged_out: 'bad',
  failed: 'bad',
};

/** How a session is, or was: its history has the same words. */
export function SessionStatus({ status }: { readonly status: string }) {
  return <Lamp tone={tones[status] ?? 'off'}>{sessionWords.statuses[status] ?? status}</Lamp>;
}
