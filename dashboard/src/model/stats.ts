import type { WebhookStats } from '@switchboard/sdk/api';
import { queryOptions } from '@tanstack/react-query';
import { api } from '../api.ts';

/** Attempts cause no event. */
const REFRESH_MS = 5000;
const MINUTE_MS = 60_000;
const MINUTES = 60;

export const statsQuery = (webhookId: string) =>
  queryOptions({
    queryKey: ['webhooks', webhookId, 'stats'],
    queryFn: () => api.webhooks.endpoints.stats({ webhookId }),
    refetchInterval: REFRESH_MS,
  });

/** The start of each minute of the last hour, in ms. */
export function lastMinutes(now: number): readonly number[] {
  const last = minuteOf(now);
  return Array.from({ length: MINUTES }, (_, index) => last - (MINUTES - 1 - index) * MINUTE_MS);
}

export function minuteOf(at: number): number {
  return Math.floor(at / MINUTE_MS) * MINUTE_MS;
}

/**
 * Adds up the attempts of webhooks by minute. Statistics leave out minutes without attempts, which a line needs too.
 */
export function attemptsByMinute(all: readonly WebhookStats['series'][], now: number) {
  const delivered = new Map<number, number>();
  const failed = new Map<number, number>();
  for (const entry of all.flat()) {
    const minute = Date.parse(entry.minute);
    delivered.set(minute, (delivered.get(minute) ?? 0) + entry.delivered);
    failed.set(minute, (failed.get(minute) ?? 0) + entry.failedAttempts);
  }
  const minutes = lastMinutes(now);
  return {
    times: minutes.map((minute) => minute / 1000),
    delivered: minutes.map((minute) => delivered.get(minute) ?? 0),
    failed: minutes.map((minute) => failed.get(minute) ?? 0),
  };
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Rounded down: 99.95 % is not everything. */
export function percent(rate: number): string {
  return `${(Math.floor(rate * 1000) / 10).toLocaleString('en')} %`;
}
