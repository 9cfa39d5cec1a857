import type { WebhookEndpoint } from '@switchboard/sdk/api';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api.ts';
import { Button, buttonClass } from '../../components/button.tsx';
import { Question } from '../../components/dialog.tsx';
import { Page } from '../../components/layout.tsx';
import { Notice } from '../../components/notice.tsx';
import { Loaded } from '../../components/states.tsx';
import { useToast } from '../../components/toast.tsx';
import { webhookWords } from '../../strings/webhooks.ts';
import { BreakerCard } from './breakerCard.tsx';
import { HealthCard } from './healthCard.tsx';
import { SettingsCard } from './settingsCard.tsx';
import { SigningCard } from './signingCard.tsx';
import { TestCard } from './testCard.tsx';

const route = getRouteApi('/shell/webhooks/$webhookId');

/** One webhook: how it does, a test of it, and everything that can be set. */
export function WebhookPage() {
  const { webhookId } = route.useParams();
  const query = useQuery({
    queryKey: ['webhooks', webhookId],
    queryFn: () => api.webhooks.endpoints.get({ webhookId }),
  });
  const back = (
    <Link to="/webhooks" className={buttonClass()}>
      {webhookWords.back}
    </Link>
  );

  return (
    <Page
      title={query.data?.webhookUrl ?? webhookWords.title}
      lead={query.data?.isDefault ? webhookWords.defaultHint : undefined}
      actions={
        <>
          {back}
          {query.data !== undefined && <DeleteWebhook webhookId={webhookId} />}
        </>
      }
    >
      {/* Keyed: the forms of one webhook are not those of another. */}
      <Loaded query={query} gone={webhookWords.notFound}>
        {(webhook) => <Parts key={webhookId} webhook={webhook} />}
      </Loaded>
    </Page>
  );
}

function Parts({ webhook }: { readonly webhook: WebhookEndpoint }) {
  const { webhookId, webhookUrl, events, hasSecret, enabled } = webhook;
  return (
    <>
      {!enabled && <Notice tone="warn">{webhookWords.enabledHint}</Notice>}
      <div className="grid grid-cols-1 items-start gap-6 wide:grid-cols-2">
        <BreakerCard webhookId={webhookId} />
        <HealthCard webhookId={webhookId} />
      </div>
      <TestCard webhookId={webhookId} kinds={events} />
      <SigningCard webhookId={webhookId} webhookUrl={webhookUrl ?? ''} hasSecret={hasSecret} />
      <SettingsCard webhook={webhook} />
    </>
  );
}

function DeleteWebhook({ webhookId }: { readonly webhookId: string }) {
  const [isAsking, setAsking] = useState(false);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const toast = useToast();

  async function remove() {
    await api.webhooks.endpoints.delete({ webhookId });
    toast(webhookWords.removed);
    await navigate({ to: '/webhooks' });
    queries.removeQueries({ queryKey: ['webhooks', webhookId] });
    await queries.invalidateQueries({ queryKey: ['webhooks'] });
  }

  return (
    <>
      <Button look="danger" onClick={() => setAsking(true)}>
        {webhookWords.remove}
      </Button>
      <Question
        title={webhookWords.removeTitle}
        confirm={webhookWords.remove}
        open={isAsking}
        onOpenChange={setAsking}
        onConfirm={remove}
      >
        {webhookWords.removeHint}
      </Question>
    </>
  );
}
