import type { Session } from '@switchboard/sdk/api';
import { riskLabels } from '../../strings/sessionRisk.ts';
import { Lamp } from '../lamp.tsx';
import { Notice } from '../notice.tsx';

type Health = NonNullable<Session['health']>;

const tones = { elevated: 'warn', high: 'bad' } as const;

/** Says that the network may ban the number of a session; nothing if that is unlikely. */
export function SessionRisk({ health }: { readonly health: Health | undefined }) {
  if (health === undefined || health.risk === 'low') return null;
  return (
    <span title={health.reasons.map(({ message }) => message).join('\n')}>
      <Lamp tone={tones[health.risk]}>{riskLabels[health.risk]}</Lamp>
    </span>
  );
}

/** The same with its reasons in words, and reasons that do not raise the risk. */
export function RiskNotice({ health }: { readonly health: Health | undefined }) {
  if (health === undefined || health.reasons.length === 0) return null;
  return (
    <Notice tone={health.risk === 'low' ? 'info' : tones[health.risk]}>
      {health.risk !== 'low' && <p className="font-medium">{riskLabels[health.risk]}</p>}
      <ul className="mt-1 list-disc pl-4">
        {health.reasons.map(({ code, message }) => (
          <li key={code}>{message}</li>
        ))}
      </ul>
    </Notice>
  );
}
