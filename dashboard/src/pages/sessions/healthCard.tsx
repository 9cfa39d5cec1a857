import type { Session } from '@switchboard/sdk/api';
import type { ReactNode } from 'react';
import { Lamp } from '../../components/lamp.tsx';
import { Card, Facts } from '../../components/page/layout.tsx';
import { Time } from '../../components/text/time.tsx';
import { healthStrings } from './healthStrings.ts';

type Health = NonNullable<Session['health']>;

const tones = { low: 'good', elevated: 'warn', high: 'bad' } as const;

/** Shows the figures from which the server tells how likely the network is to ban the number. */
export function HealthCard({ health }: { readonly health: Health }) {
  return (
    <Card title={healthStrings.title} hint={healthStrings.hint}>
      <Facts facts={factsOf(health)} />
    </Card>
  );
}

function factsOf({ risk, lastHour, lastDay, startedChats, network }: Health) {
  const { noNewChatsUntil, newChats } = network;
  const facts: readonly (readonly [string, ReactNode])[] = [
    [
      healthStrings.risk,
      <Lamp key="risk" tone={tones[risk]}>
        {healthStrings.risks[risk]}
      </Lamp>,
    ],
    [healthStrings.newChats, healthStrings.ofDay(lastDay.newChats)],
    [healthStrings.answered, startedChats.started === 0 ? null : healthStrings.answeredOf(startedChats)],
    [healthStrings.sent, healthStrings.sentIn(lastHour.sent, lastDay.sent)],
    [healthStrings.pace, healthStrings.perMinute(lastHour.peakPerMinute)],
    [healthStrings.failed, healthStrings.ofHour(lastHour.failed)],
    [healthStrings.unreachable, healthStrings.ofDay(lastDay.unreachable)],
    [healthStrings.unreadable, lastDay.unreadable === 0 ? null : healthStrings.ofDay(lastDay.unreadable)],
    [healthStrings.blockReports, healthStrings.ofDay(lastDay.blockReports)],
    [healthStrings.quota, newChats && healthStrings.quotaOf(newChats.used, newChats.total)],
    [healthStrings.noNewChats, noNewChatsUntil && <Time key="until" at={noNewChatsUntil} as="minute" />],
  ];
  return facts.filter(([, value]) => value !== null);
}
