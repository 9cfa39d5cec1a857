import { sessionStatusLabels } from '../../strings/sessionStatus.ts';
import { Lamp, type LampTone } from '../lamp.tsx';

const tones: Readonly<Record<string, LampTone>> = {
  created: 'off',
  connecting: 'busy',
  awaiting_pairing: 'warn',
  connected: 'good',
  disconnected: 'off',
  logged_out: 'bad',
  failed: 'bad',
};

/** The status of a session, now or in its history. */
export function SessionStatus({ status }: { readonly status: string }) {
  return <Lamp tone={tones[status] ?? 'off'}>{sessionStatusLabels[status] ?? status}</Lamp>;
}
