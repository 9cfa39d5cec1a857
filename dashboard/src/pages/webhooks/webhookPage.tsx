import type { WebhookEndpoint } from '@switchboard/sdk/api';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { api } from '../../api.ts';
import { ConfirmButton } from '../../components/dialog/confirmDialog.tsx';
import { LinkButton } from '../../components/linkButton.tsx';
import { Notice } from '../../components/notice.tsx';
import { Page } from '../../components/page/layout.tsx';
import { Loaded } from '../../components/page/states.tsx';
import { useToast } from '../../components/toast.tsx';
import { useRefresh } from '../../model/actions.ts';
import { isSubscribed } from '../../model/subscription.ts';
import { eventTypes } from '../../strings/events.ts';
import { BreakerCard } from './breakerCard.tsx';
import { HealthCard } from './healthCard.tsx';
import { SettingsCard } from './settingsCard.tsx';
import { SigningCard } from './signingCard.tsx';
import { webhookStrings } from './strings.ts';
import { TestCard } from './testCard.tsx';

const route = getRouteApi('/shell/webhooks/$webhookId');

/** One webhook: its health, a test and its settings. */
export function WebhookPage() {
  const { webhookId } = route.useParams();
  const query = useQuery({
    queryKey: ['webhooks', webhookId],
    queryFn: () => api.webhooks.endpoints.get({ webhookId }),
  });

  return (
    <Page
      title={query.data?.webhookUrl ?? webhookStrings.title}
      lead={query.data?.isDefault ? webhookStrings.defaultHint : undefined}
      actions={
        <>
          <LinkButton to="/webhooks">{webhookStrings.back}</LinkButton>
          {query.data !== undefined && <DeleteWebhook webhookId={webhookId} />}
        </>
      }
    >
      {/* Keyed, so that the forms of one webhook do not keep what was entered for another. */}
      <Loaded query={query} notFound={webhookStrings.notFound}>
        {(webhook) => <Parts key={webhookId} webhook={webhook} />}
      </Loaded>
    </Page>
  );
}

function Parts({ webhook }: { readonly webhook: WebhookEndpoint }) {
  const { webhookId, webhookUrl, destination, events, hasSecret, secretReadableUntil, enabled, paused } = webhook;
  return (
    <>
      {!enabled && <Notice tone="warn">{webhookStrings.enabledHint}</Notice>}
      {enabled && paused && <Notice tone="warn">{webhookStrings.pausedHint}</Notice>}
      <div className="grid grid-cols-1 items-start gap-6 wide:grid-cols-2">
        <BreakerCard webhookId={webhookId} />
        <HealthCard webhookId={webhookId} />
      </div>
      <TestCard webhookId={webhookId} types={eventTypes.filter((type) => isSubscribed(events, type))} />
      <SigningCard
        webhookId={webhookId}
        webhookUrl={webhookUrl ?? ''}
        hasSecret={hasSecret}
        secretReadableUntil={secretReadableUntil}
        isHttp={destination.type === 'http'}
      />
      <SettingsCard webhook={webhook} />
    </>
  );
}

function DeleteWebhook({ webhookId }: { readonly webhookId: string }) {
  const queries = useQueryClient();
  const refresh = useRefresh();
  const navigate = useNavigate();
  const toast = useToast();

  async function remove() {
    await api.webhooks.endpoints.delete({ webhookId });
    toast(webhookStrings.removed);
    await navigate({ to: '/webhooks' });
    queries.removeQueries({ queryKey: ['webhooks', webhookId] });
    await refresh('webhooks');
  }

  return (
    <ConfirmButton title={webhookStrings.removeTitle} confirm={webhookStrings.remove} onConfirm={remove}>
      {webhookStrings.removeHint}
    </ConfirmButton>
  );
}
