import type { EventData } from './events.ts';

/** The samples of events about business numbers. */
export function businessSamples(
  sessionId: string,
  timestamp: string,
): { [K in 'session.updated' | 'template.updated']: EventData<K> } {
  const test = { timestamp, test: true } as const;
  return {
    'session.updated': {
      sessionId,
      changed: ['quality'],
      network: {
        displayName: 'Test',
        nameStatus: 'approved',
        quality: 'medium',
        messagingTier: 'TIER_2K',
        messagingLimit: 2000,
        throughput: 'standard',
        accountMode: 'live',
        canSend: 'yes',
        problems: [],
        notices: [],
        updatedAt: timestamp,
      },
      ...test,
    },
    'template.updated': {
      sessionId,
      templateId: '1689556908129832',
      name: 'order_sent',
      language: 'en_US',
      status: 'approved',
      previousStatus: 'pending',
      category: 'utility',
      quality: 'unknown',
      reason: null,
      ...test,
    },
  };
}
