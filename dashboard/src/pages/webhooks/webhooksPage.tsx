import type { WebhookEndpoint } from '@switchboard/sdk/api';
import { Link } from '@tanstack/react-router';
import { Plus, Webhook } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../api.ts';
import { BreakerLamp } from '../../components/breakerLamp.tsx';
import { Button } from '../../components/button.tsx';
import { type Column, DataTable, rowLinkClass } from '../../components/dataTable.tsx';
import { Lamp, Tag } from '../../components/lamp.tsx';
import { Card, Page } from '../../components/layout.tsx';
import { Empty, Loaded } from '../../components/states.tsx';
import { usePaged } from '../../paged.ts';
import { eventTypes } from '../../strings/events.ts';
import { webhookWords } from '../../strings/webhooks.ts';
import { AddWebhook } from './addWebhook.tsx';

const columns: readonly Column<WebhookEndpoint>[] = [
  {
    id: 'url',
    header: webhookWords.url,
    width: 'minmax(0, 1fr)',
    cell: ({ webhookId, webhookUrl, isDefault }) => (
      <>
        <Link to="/webhooks/$webhookId" params={{ webhookId }} className={rowLinkClass}>
          {webhookUrl}
        </Link>{' '}
        {isDefault && <Tag>{webhookWords.isDefault}</Tag>}
      </>
    ),
  },
  {
    id: 'kinds',
    header: webhookWords.kinds,
    width: '7rem',
    wideOnly: true,
    cell: ({ events }) => webhookWords.kindsOf(events.length, eventTypes.length),
  },
  {
    id: 'secret',
    header: webhookWords.signing,
    width: '7rem',
    wideOnly: true,
    cell: ({ hasSecret }) => (hasSecret ? webhookWords.signed : webhookWords.unsigned),
  },
  {
    id: 'state',
    header: webhookWords.state,
    width: '8rem',
    cell: ({ webhookId, enabled }) =>
      enabled ? <BreakerLamp webhookId={webhookId} /> : <Lamp tone="off">{webhookWords.disabled}</Lamp>,
  },
];

export function WebhooksPage() {
  const webhooks = usePaged(['webhooks'], (page) => api.webhooks.endpoints.list(page));
  const [isAdding, setAdding] = useState(false);
  const add = (
    <Button look="primary" icon={<Plus className="size-4" />} onClick={() => setAdding(true)}>
      {webhookWords.add}
    </Button>
  );

  return (
    <Page title={webhookWords.title} lead={webhookWords.lead} actions={webhooks.rows.length > 0 && add}>
      <Card flush>
        <Loaded query={webhooks}>
          {() => (
            <DataTable
              label={webhookWords.list}
              columns={columns}
              rows={webhooks.rows}
              rowKey={({ webhookId }) => webhookId}
              more={webhooks.more}
              empty={
                <Empty icon={<Webhook />} title={webhookWords.empty} action={add}>
                  {webhookWords.emptyHint}
                </Empty>
              }
            />
          )}
        </Loaded>
      </Card>
      <AddWebhook
        open={isAdding}
        onOpenChange={setAdding}
        isFirst={!webhooks.rows.some(({ isDefault }) => isDefault)}
      />
    </Page>
  );
}
