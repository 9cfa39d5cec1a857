import { useMemo } from 'react';
import { Card } from '../../components/page/layout.tsx';
import { Legend, Plot, type Series } from '../../components/plot.tsx';
import { useNow } from '../../components/text/time.tsx';
import { attemptsByMinute, minuteOf, sum } from '../../model/stats.ts';
import { overviewStrings } from './strings.ts';
import type { Traffic } from './traffic.ts';
import type { WatchedWebhook } from './watched.ts';

const HEIGHT = 170;

/** Plots of the last hour. */
export function Plots({
  traffic,
  webhooks,
}: {
  readonly traffic: Traffic;
  readonly webhooks: readonly WatchedWebhook[];
}) {
  return (
    <div className="grid grid-cols-1 gap-6 wide:grid-cols-2">
      <MessagesPlot traffic={traffic} />
      <DeliveriesPlot webhooks={webhooks} />
    </div>
  );
}

function MessagesPlot({ traffic }: { readonly traffic: Traffic }) {
  const { times, incoming, outgoing } = traffic;
  const series = useMemo(
    () => [
      { name: overviewStrings.received, color: 'accent', values: incoming },
      { name: overviewStrings.sent, color: 'warn-lamp', values: outgoing },
    ],
    [incoming, outgoing],
  );
  return (
    <PlotCard
      title={overviewStrings.messages}
      summary={overviewStrings.messagesSummary(sum(incoming), sum(outgoing))}
      times={times}
      series={series}
    />
  );
}

function DeliveriesPlot({ webhooks }: { readonly webhooks: readonly WatchedWebhook[] }) {
  const minute = minuteOf(useNow());
  const { times, delivered, failed } = useMemo(
    () =>
      attemptsByMinute(
        webhooks.map(({ stats }) => stats.series),
        minute,
      ),
    [webhooks, minute],
  );
  const series = useMemo(
    () => [
      { name: overviewStrings.delivered, color: 'good-lamp', values: delivered },
      { name: overviewStrings.failed, color: 'bad-lamp', values: failed },
    ],
    [delivered, failed],
  );
  return (
    <PlotCard
      title={overviewStrings.deliveries}
      summary={overviewStrings.deliveriesSummary(sum(delivered), sum(failed))}
      times={times}
      series={series}
    />
  );
}

interface PlotCardProps {
  readonly title: string;
  readonly summary: string;
  readonly times: readonly number[];
  readonly series: readonly Series[];
}

function PlotCard({ title, summary, times, series }: PlotCardProps) {
  return (
    <Card title={title}>
      <div className="grid gap-2">
        <Plot height={HEIGHT} times={times} series={series} summary={summary} />
        <Legend series={series} />
      </div>
    </Card>
  );
}
