import type { Delivery, WebhookEndpoint } from '@switchboard/sdk/api';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { History, Send } from 'lucide-react';
import { useMemo, useState } from 'react';
import { api } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { Tag } from '../../components/lamp.tsx';
import { LinkButton } from '../../components/linkButton.tsx';
import { type Column, rowLinkClass } from '../../components/page/dataTable.tsx';
import { Card, Page } from '../../components/page/layout.tsx';
import { ListTable } from '../../components/page/listPage.tsx';
import { Empty } from '../../components/page/states.tsx';
import { Time } from '../../components/text/time.tsx';
import { DeliveryState } from '../../components/webhook/deliveryState.tsx';
import { useLivePaged } from '../../live/livePaged.ts';
import { deliveryStrings } from '../../strings/deliveries.ts';
import { FilterBar } from './filterBar.tsx';
import { asInput } from './filters.ts';
import { ReplayDialog } from './replayDialog.tsx';
import { shortUrl, useWebhooks } from './webhookNames.ts';

const route = getRouteApi('/shell/deliveries');

/** The outcome of a delivery causes no event. */
const REFRESH_MS = 2000;
const idOf = ({ deliveryId }: Delivery) => deliveryId;

/** The delivery log, which updates itself. */
export function DeliveriesPage() {
  const filters = route.useSearch();
  const [isReplaying, setReplaying] = useState(false);
  const navigate = useNavigate();
  const webhooks = useWebhooks();
  const deliveries = useLivePaged({
    key: ['deliveries', filters],
    read: (page) => api.webhooks.listDeliveries({ ...asInput(filters), ...page }),
    idOf,
    everyMs: REFRESH_MS,
  });
  const isFiltered = Object.values(filters).some((value) => value !== undefined);
  const columns = useMemo(() => columnsFor(webhooks), [webhooks]);

  return (
    <Page
      title={deliveryStrings.title}
      lead={deliveryStrings.lead}
      actions={
        <Button icon={<History className="size-4" />} onClick={() => setReplaying(true)}>
          {deliveryStrings.replay}
        </Button>
      }
    >
      <Card flush>
        <FilterBar webhooks={webhooks} />
        <ListTable
          list={deliveries}
          label={deliveryStrings.title}
          columns={columns}
          rowKey={idOf}
          empty={isFiltered ? <Empty title={deliveryStrings.noneFit} /> : <NothingYet />}
        />
      </Card>
      <ReplayDialog
        open={isReplaying}
        onOpenChange={setReplaying}
        webhooks={webhooks}
        onReplayed={(search) => {
          void navigate({ to: '/deliveries', search });
          void deliveries.refresh();
        }}
      />
    </Page>
  );
}

function NothingYet() {
  return (
    <Empty
      icon={<Send />}
      title={deliveryStrings.empty}
      action={
        <LinkButton to="/webhooks" look="primary">
          {deliveryStrings.setWebhook}
        </LinkButton>
      }
    >
      {deliveryStrings.emptyHint}
    </Empty>
  );
}

function columnsFor(webhooks: ReturnType<typeof useWebhooks>): readonly Column<Delivery>[] {
  const byId = new Map(webhooks.map((webhook) => [webhook.webhookId, webhook]));
  return [
    {
      id: 'event',
      header: deliveryStrings.event,
      width: 'minmax(0, 12rem)',
      cell: ({ deliveryId, event, isTest, createdAt }) => (
        <>
          <Link to="/deliveries/$deliveryId" params={{ deliveryId }} className={rowLinkClass}>
            {event}
          </Link>{' '}
          {isTest && <Tag>{deliveryStrings.test}</Tag>}
          <span className="block text-xs text-ink-faint wide:hidden">
            <Time at={createdAt} as="relative" />
          </span>
        </>
      ),
    },
    {
      id: 'state',
      header: deliveryStrings.state,
      width: '7rem',
      cell: (delivery) => <DeliveryState delivery={delivery} />,
    },
    {
      id: 'reason',
      header: deliveryStrings.reason,
      width: 'minmax(0, 2fr)',
      wideOnly: true,
      cell: (delivery) => {
        const reason = reasonOf(delivery, byId.get(delivery.webhookId));
        return (
          <span className="text-ink-soft" title={reason}>
            {reason}
          </span>
        );
      },
    },
    {
      id: 'webhook',
      header: deliveryStrings.webhook,
      width: 'minmax(0, 1fr)',
      wideOnly: true,
      cell: ({ webhookId }) => {
        const webhook = byId.get(webhookId);
        return (
          <span className="text-ink-soft">
            {webhook === undefined ? deliveryStrings.removedWebhook : shortUrl(webhook.webhookUrl)}
          </span>
        );
      },
    },
    {
      id: 'attempts',
      header: deliveryStrings.attempts,
      width: '4.5rem',
      wideOnly: true,
      cell: ({ attempts }) => attempts,
    },
    {
      id: 'time',
      header: deliveryStrings.time,
      width: '6.5rem',
      wideOnly: true,
      cell: ({ createdAt }) => <Time at={createdAt} as="relative" />,
    },
  ];
}

/** Explains the state of a delivery: the outcome of its last attempt, or what it waits for. */
function reasonOf({ state, lastMessage, heldBehind }: Delivery, webhook: WebhookEndpoint | undefined): string {
  if (state !== 'pending' || webhook === undefined) return lastMessage ?? '';
  if (!webhook.enabled) return deliveryStrings.waitsForWebhook;
  if (webhook.breakerState !== 'closed') return deliveryStrings.waitsForBreaker(lastMessage);
  if (heldBehind !== null) return deliveryStrings.waitsForEarlier;
  return lastMessage ?? deliveryStrings.waitsForTurn;
}
