import type { EventSubscription } from '@switchboard/sdk/api';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { ConfirmDialog } from '../../components/dialog/confirmDialog.tsx';
import type { Column } from '../../components/page/dataTable.tsx';
import { Card } from '../../components/page/layout.tsx';
import { ListTable } from '../../components/page/listPage.tsx';
import { Time } from '../../components/text/time.tsx';
import { useToast } from '../../components/toast.tsx';
import { BreakerLamp } from '../../components/webhook/breakerLamp.tsx';
import { useLivePaged } from '../../live/livePaged.ts';
import { webhookStrings } from './strings.ts';

/** A subscription begins and ends without an event. */
const REFRESH_MS = 5000;
/** For a host and two lines about it. */
const ROW_HEIGHT = 84;
const strings = webhookStrings.subscriptions;
const idOf = ({ webhookId }: EventSubscription) => webhookId;

/** The event subscriptions of agents. The list updates itself, and is absent while there are none. */
export function SubscriptionsCard() {
  const subscriptions = useLivePaged({
    key: ['subscriptions'],
    read: (page) => api.webhooks.subscriptions.list(page),
    idOf,
    everyMs: REFRESH_MS,
  });
  const [ending, setEnding] = useState<EventSubscription>();
  const toast = useToast();

  async function end(webhookId: string) {
    await api.webhooks.subscriptions.delete({ webhookId });
    await subscriptions.refresh();
    toast(strings.ended);
  }

  if (subscriptions.rows.length === 0 && subscriptions.error === null) return null;
  return (
    <Card title={strings.title} hint={strings.hint} flush>
      <ListTable
        list={subscriptions}
        label={strings.title}
        columns={columnsFor(setEnding)}
        rowKey={idOf}
        rowHeight={ROW_HEIGHT}
      />
      <ConfirmDialog
        title={strings.endTitle}
        confirm={strings.end}
        open={ending !== undefined}
        onOpenChange={() => setEnding(undefined)}
        onConfirm={async () => ending && end(ending.webhookId)}
      >
        {strings.endHint}
      </ConfirmDialog>
    </Card>
  );
}

function columnsFor(end: (subscription: EventSubscription) => void): readonly Column<EventSubscription>[] {
  return [
    {
      id: 'callback',
      header: strings.callback,
      width: 'minmax(0, 1fr)',
      cell: (subscription) => <Callback subscription={subscription} />,
    },
    { id: 'key', header: strings.key, width: '11rem', wideOnly: true, cell: ({ keyId }) => <KeyLink keyId={keyId} /> },
    {
      id: 'expiry',
      header: strings.expiry,
      width: '7rem',
      wideOnly: true,
      cell: ({ expiresAt }) => <Time at={expiresAt} as="relative" />,
    },
    {
      id: 'state',
      header: webhookStrings.state,
      width: '8rem',
      wideOnly: true,
      cell: ({ webhookId }) => <BreakerLamp webhookId={webhookId} />,
    },
    {
      id: 'end',
      header: strings.action,
      width: '5.5rem',
      cell: (subscription) => (
        <Button size="small" aria-label={strings.endAt(hostOf(subscription))} onClick={() => end(subscription)}>
          {strings.end}
        </Button>
      ),
    },
  ];
}

/**
 * Only the host, because the rest of a callback's URL often contains a secret. Narrow screens have no other columns.
 */
function Callback({ subscription }: { readonly subscription: EventSubscription }) {
  const { event, keyId, expiresAt } = subscription;
  return (
    <>
      <span className="block truncate">{hostOf(subscription)}</span>
      <span className="block truncate font-mono text-xs text-ink-faint">{event}</span>
      <span className="block truncate text-xs text-ink-faint wide:hidden">
        <KeyLink keyId={keyId} />, <Time at={expiresAt} as="relative" />
      </span>
    </>
  );
}

function KeyLink({ keyId }: { readonly keyId: string }) {
  const keys = useQuery({ queryKey: ['api_keys', 'names'], queryFn: () => api.apiKeys.list({ limit: 200 }) });
  return (
    <Link to="/keys/$keyId" params={{ keyId }} className="block truncate max-wide:inline">
      {keys.data?.data.find((key) => key.keyId === keyId)?.name ?? keyId}
    </Link>
  );
}

function hostOf({ webhookUrl }: EventSubscription): string {
  return URL.canParse(webhookUrl) ? new URL(webhookUrl).host : webhookUrl;
}
