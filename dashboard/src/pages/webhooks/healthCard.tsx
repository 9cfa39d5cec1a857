import type { WebhookStats } from '@switchboard/sdk/api';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { LinkButton } from '../../components/linkButton.tsx';
import { Card } from '../../components/page/layout.tsx';
import { Loaded } from '../../components/page/states.tsx';
import { Legend, Plot } from '../../components/plot.tsx';
import { attemptsByMinute, percent, statsQuery, sum } from '../../model/stats.ts';
import { webhookStrings } from './strings.ts';

type WindowName = keyof WebhookStats['windows'];

/** The statistics of a webhook. */
export function HealthCard({ webhookId }: { readonly webhookId: string }) {
  const query = useQuery(statsQuery(webhookId));
  return (
    <Card
      title={webhookStrings.health}
      actions={
        <LinkButton to="/deliveries" search={{ webhookId }} size="small">
          {webhookStrings.showDeliveries}
        </LinkButton>
      }
    >
      <Loaded query={query}>{(stats) => <Health stats={stats} />}</Loaded>
    </Card>
  );
}

function Health({ stats }: { readonly stats: WebhookStats }) {
  const [name, setName] = useState<WindowName>('1h');
  const { attempts, successRate, latencyMs } = stats.windows[name];
  const figures = [
    [webhookStrings.attempts, attempts.toLocaleString('en')],
    [webhookStrings.successRate, successRate === null ? webhookStrings.noAttempts : percent(successRate)],
    [
      webhookStrings.latency,
      latencyMs.p50 === null ? '–' : `${latencyMs.p50}, ${webhookStrings.ms(latencyMs.p95 ?? 0)}`,
    ],
    [webhookStrings.pending, stats.pending.toLocaleString('en')],
  ] as const;
  return (
    <div className="grid gap-5">
      <div>
        <select
          aria-label={webhookStrings.window}
          value={name}
          // one of the options
          onChange={(event) => setName(event.currentTarget.value as WindowName)}
          className="mb-3 h-8 rounded-lg border border-line-strong bg-surface px-2 text-sm"
        >
          {Object.entries(webhookStrings.windows).map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
        <dl className="grid grid-cols-2 gap-4">
          {figures.map(([label, value]) => (
            <div key={label}>
              <dt className="text-xs text-ink-faint">{label}</dt>
              <dd className="text-lg tabular-nums">{value}</dd>
            </div>
          ))}
        </dl>
      </div>
      <Minutes series={stats.series} />
    </div>
  );
}

const lines = [
  { name: webhookStrings.succeeded, color: 'good-lamp' },
  { name: webhookStrings.failed, color: 'bad-lamp' },
] as const;

function Minutes({ series }: { readonly series: WebhookStats['series'] }) {
  const { times, delivered, failed } = useMemo(() => attemptsByMinute([series], Date.now()), [series]);
  const drawn = useMemo(
    () => [
      { ...lines[0], values: delivered },
      { ...lines[1], values: failed },
    ],
    [delivered, failed],
  );
  return (
    <div className="grid gap-2">
      <h3 className="text-xs text-ink-faint">{webhookStrings.perMinute}</h3>
      <Plot
        height={130}
        times={times}
        series={drawn}
        summary={webhookStrings.plotSummary(sum(delivered), sum(failed))}
      />
      <Legend series={lines} />
    </div>
  );
}
