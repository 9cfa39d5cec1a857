import type { WebhookEndpoint } from '@switchboard/sdk/api';
import { Link } from '@tanstack/react-router';
import { Webhook } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../api.ts';
import { Lamp, Tag } from '../../components/lamp.tsx';
import { type Column, rowLinkClass } from '../../components/page/dataTable.tsx';
import { ListPage } from '../../components/page/listPage.tsx';
import { Time } from '../../components/text/time.tsx';
import { BreakerLamp } from '../../components/webhook/breakerLamp.tsx';
import { isSubscribed } from '../../model/subscription.ts';
import { usePaged } from '../../paged.ts';
import { eventTypes } from '../../strings/events.ts';
import { AddWebhook } from './addWebhook.tsx';
import { destinationStrings } from './destinationStrings.ts';
import { webhookStrings } from './strings.ts';
import { SubscriptionsCard } from './subscriptionsCard.tsx';

const columns: readonly Column<WebhookEndpoint>[] = [
  {
    id: 'url',
    header: webhookStrings.url,
    width: 'minmax(0, 1fr)',
    cell: ({ webhookId, webhookUrl, isDefault, destination, expiresAt }) => (
      // A long URL leaves room for what follows it.
      <div className="flex items-center gap-1">
        <Link to="/webhooks/$webhookId" params={{ webhookId }} className={`${rowLinkClass} min-w-0 truncate`}>
          {webhookUrl}
        </Link>
        {isDefault && <Tag>{webhookStrings.isDefault}</Tag>}
        {destination.type !== 'http' && <Tag>{destinationStrings.names[destination.type]}</Tag>}
        {expiresAt !== null && (
          <span className="truncate text-xs text-ink-soft">
            {webhookStrings.expires} <Time at={expiresAt} as="minute" />
          </span>
        )}
      </div>
    ),
  },
  {
    id: 'types',
    header: webhookStrings.types,
    width: '7rem',
    wideOnly: true,
    cell: ({ events }) =>
      webhookStrings.typesOf(eventTypes.filter((type) => isSubscribed(events, type)).length, eventTypes.length),
  },
  {
    id: 'secret',
    header: webhookStrings.signing,
    width: '7rem',
    wideOnly: true,
    cell: ({ hasSecret }) => (hasSecret ? webhookStrings.signed : webhookStrings.unsigned),
  },
  {
    id: 'state',
    header: webhookStrings.state,
    width: '8rem',
    cell: ({ webhookId, enabled }) =>
      enabled ? <BreakerLamp webhookId={webhookId} /> : <Lamp tone="off">{webhookStrings.disabled}</Lamp>,
  },
];

export function WebhooksPage() {
  const webhooks = usePaged(['webhooks'], (page) => api.webhooks.endpoints.list(page));
  const [isAdding, setAdding] = useState(false);

  return (
    <ListPage
      strings={webhookStrings}
      icon={<Webhook />}
      list={webhooks}
      columns={columns}
      rowKey={({ webhookId }) => webhookId}
      onCreate={() => setAdding(true)}
    >
      <SubscriptionsCard />
      <AddWebhook
        open={isAdding}
        onOpenChange={setAdding}
        isFirst={!webhooks.rows.some(({ isDefault }) => isDefault)}
      />
    </ListPage>
  );
}
