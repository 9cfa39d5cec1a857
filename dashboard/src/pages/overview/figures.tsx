import type { Session } from '@switchboard/sdk/api';
import { percent, sum } from '../../model/stats.ts';
import { overviewStrings } from './strings.ts';
import type { Traffic } from './traffic.ts';
import type { WatchedWebhook } from './watched.ts';

interface FiguresProps {
  readonly sessions: readonly Session[];
  readonly traffic: Traffic;
  readonly webhooks: readonly WatchedWebhook[];
}

/** The current status in five figures. */
export function Figures({ sessions, traffic, webhooks }: FiguresProps) {
  const connected = sessions.filter(({ status }) => status === 'connected').length;
  const messages = sum(traffic.incoming) + sum(traffic.outgoing);
  const figures = [
    [overviewStrings.connected, overviewStrings.connectedOf(connected, sessions.length)],
    [overviewStrings.messagesHour, messages.toLocaleString('en')],
    [overviewStrings.successRate, successRate(webhooks)],
    [overviewStrings.slowest, slowest(webhooks)],
    [overviewStrings.waiting, sum(webhooks.map(({ stats }) => stats.pending)).toLocaleString('en')],
  ] as const;
  return (
    <section aria-label={overviewStrings.now}>
      <dl className="grid grid-cols-2 gap-px overflow-clip rounded-card border border-line bg-line wide:grid-cols-5">
        {figures.map(([name, value]) => (
          <div key={name} className="bg-surface px-5 py-4 last:col-span-2 wide:last:col-span-1">
            <dt className="text-xs text-ink-faint">{name}</dt>
            <dd className="text-xl font-medium tabular-nums">{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** Weighted by attempts: a webhook with more of them counts more. */
function successRate(webhooks: readonly WatchedWebhook[]): string {
  const hours = webhooks.map(({ stats }) => stats.windows['1h']);
  const attempts = sum(hours.map((hour) => hour.attempts));
  if (attempts === 0) return overviewStrings.none;
  return percent(sum(hours.map((hour) => hour.attempts * (hour.successRate ?? 0))) / attempts);
}

/** Percentiles cannot be added up. That of the slowest webhook is an upper bound. */
function slowest(webhooks: readonly WatchedWebhook[]): string {
  const all = webhooks.flatMap(({ stats }) => stats.windows['1h'].latencyMs.p95 ?? []);
  return all.length === 0 ? overviewStrings.none : overviewStrings.ms(Math.max(...all));
}
