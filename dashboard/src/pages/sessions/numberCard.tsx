import type { Session } from '@switchboard/sdk/api';
import type { ReactNode } from 'react';
import { Lamp, type LampTone } from '../../components/lamp.tsx';
import { Notice, type Tone } from '../../components/notice.tsx';
import { Card, Facts } from '../../components/page/layout.tsx';
import { Time } from '../../components/text/time.tsx';
import { numberStrings } from './numberStrings.ts';

type Network = NonNullable<Session['network']>;

/** The network's judgment of the number: its quality, limits, restrictions and notices. */
export function NumberCard({ network }: { readonly network: Network }) {
  return (
    <Card title={numberStrings.title}>
      <div className="grid gap-4">
        {network.problems.map(({ concerns, message }) => (
          <Notice key={`${concerns} ${message}`} tone="warn">
            {message}
          </Notice>
        ))}
        <Facts facts={factsOf(network)} />
        {network.notices.map(({ type, severity, message, at }) => (
          <Notice key={`${type} ${at}`} tone={noticeTones[severity]}>
            <p>{message}</p>
            <p className="text-xs">
              <Time at={at} as="relative" />
            </p>
          </Notice>
        ))}
      </div>
    </Card>
  );
}

const noticeTones = { info: 'info', warning: 'warn', critical: 'bad' } as const satisfies Record<string, Tone>;
const qualityTones = { high: 'good', medium: 'warn', low: 'bad', unknown: 'off' } as const satisfies Record<
  string,
  LampTone
>;
const abilityTones = { yes: 'good', limited: 'warn', no: 'bad' } as const satisfies Record<string, LampTone>;

/** Leaves out fields that the network has not reported. */
function factsOf({ displayName, quality, messagingLimit, messagingTier, throughput, canSend, updatedAt }: Network) {
  const limit = messagingLimit === null ? messagingTier : numberStrings.people(messagingLimit);
  const facts: readonly (readonly [string, ReactNode])[] = [
    [numberStrings.displayName, displayName],
    [
      numberStrings.quality,
      quality && (
        <Lamp key="quality" tone={qualityTones[quality]}>
          {numberStrings.qualities[quality]}
        </Lamp>
      ),
    ],
    [numberStrings.limit, limit],
    [numberStrings.throughput, throughput],
    [
      numberStrings.canSend,
      canSend && (
        <Lamp key="canSend" tone={abilityTones[canSend]}>
          {numberStrings.abilities[canSend]}
        </Lamp>
      ),
    ],
    [numberStrings.updated, <Time key="updated" at={updatedAt} as="relative" />],
  ];
  return facts.filter(([, value]) => value !== null);
}
