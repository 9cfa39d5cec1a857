import type { Session } from '@switchboard/sdk/api';
import { counted } from '../../strings/format.ts';

type Network = NonNullable<Session['network']>;

export const numberStrings = {
  title: 'Number at the network',
  displayName: 'Display name',
  quality: 'Quality',
  qualities: { high: 'High', medium: 'Medium', low: 'Low', unknown: 'Not rated yet' } satisfies Record<
    NonNullable<Network['quality']>,
    string
  >,
  limit: 'Messaging limit',
  people: (count: number) => `${counted(count, 'person', 'people')} in 24 hours`,
  throughput: 'Throughput',
  canSend: 'Sending',
  abilities: { yes: 'Allowed', limited: 'Restricted', no: 'Blocked' } satisfies Record<
    NonNullable<Network['canSend']>,
    string
  >,
  updated: 'Last change',
} as const;
