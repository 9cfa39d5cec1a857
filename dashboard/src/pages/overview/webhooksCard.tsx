import { Link } from '@tanstack/react-router';
import { Lamp } from '../../components/lamp.tsx';
import { LinkButton } from '../../components/linkButton.tsx';
import { Card } from '../../components/page/layout.tsx';
import { BreakerLamp } from '../../components/webhook/breakerLamp.tsx';
import { percent } from '../../model/stats.ts';
import { overviewStrings } from './strings.ts';
import { MAX_WATCHED, type WatchedWebhook } from './watched.ts';

interface WebhooksCardProps {
  readonly webhooks: readonly WatchedWebhook[];
  readonly hasMore: boolean;
}

/** The figures of each webhook. */
export function WebhooksCard({ webhooks, hasMore }: WebhooksCardProps) {
  return (
    <Card
      title={overviewStrings.webhooks}
      hint={hasMore && overviewStrings.someWebhooks(MAX_WATCHED)}
      actions={
        <LinkButton to="/webhooks" size="small">
          {overviewStrings.allWebhooks}
        </LinkButton>
      }
    >
      {webhooks.length === 0 ? (
        <p className="text-sm text-ink-soft">{overviewStrings.noWebhook}</p>
      ) : (
        // A plain list, because the code of tables is large for the first page.
        <ul aria-label={overviewStrings.webhooks} className="grid grid-cols-1 divide-y divide-line">
          {webhooks.map((watched) => (
            <WebhookLine key={watched.webhook.webhookId} watched={watched} />
          ))}
        </ul>
      )}
    </Card>
  );
}

function WebhookLine({ watched: { webhook, stats } }: { readonly watched: WatchedWebhook }) {
  const { webhookId, webhookUrl, enabled } = webhook;
  const { successRate, latencyMs } = stats.windows['1h'];
  const figures = [
    [overviewStrings.rate, successRate === null ? overviewStrings.none : percent(successRate)],
    [
      overviewStrings.latency,
      latencyMs.p50 === null ? overviewStrings.none : `${latencyMs.p50}, ${overviewStrings.ms(latencyMs.p95 ?? 0)}`,
    ],
    [overviewStrings.pending, stats.pending.toLocaleString('en')],
  ] as const;
  return (
    <li className="grid grid-cols-1 gap-1.5 py-3 first:pt-0 last:pb-0">
      <div className="flex items-center justify-between gap-4">
        <Link
          to="/webhooks/$webhookId"
          params={{ webhookId }}
          className="block min-w-0 truncate text-sm font-medium text-ink no-underline hover:underline"
        >
          {webhookUrl}
        </Link>
        {enabled ? <BreakerLamp webhookId={webhookId} /> : <Lamp tone="off">{overviewStrings.off}</Lamp>}
      </div>
      <dl className="flex flex-wrap gap-x-5 gap-y-1 text-xs">
        {figures.map(([name, value]) => (
          <div key={name} className="flex gap-1.5">
            <dt className="text-ink-faint">{name}</dt>
            <dd className="text-ink-soft tabular-nums">{value}</dd>
          </div>
        ))}
      </dl>
    </li>
  );
}
