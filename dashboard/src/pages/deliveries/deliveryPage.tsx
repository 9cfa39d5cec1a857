import type { DeliveryWithAttempts } from '@switchboard/sdk/api';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { RotateCw } from 'lucide-react';
import { api, errorText } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { Lamp } from '../../components/lamp.tsx';
import { LinkButton } from '../../components/linkButton.tsx';
import { Notice, type Tone } from '../../components/notice.tsx';
import { Card, Facts, Page } from '../../components/page/layout.tsx';
import { Loaded } from '../../components/page/states.tsx';
import { TabSet } from '../../components/page/tabSet.tsx';
import { CodeSnippet } from '../../components/schema/codeSnippet.tsx';
import { formatRequest } from '../../components/schema/formatRequest.ts';
import { JsonInspector } from '../../components/schema/jsonInspector.tsx';
import { TextWithTimes } from '../../components/text/textWithTimes.tsx';
import { Time } from '../../components/text/time.tsx';
import { useToast } from '../../components/toast.tsx';
import { DeliveryState } from '../../components/webhook/deliveryState.tsx';
import { deliveryStrings, outcomeAdvice, outcomeLabels } from '../../strings/deliveries.ts';
import { eventDescriptions } from '../../strings/events.ts';
import { useWebhooks } from './webhookNames.ts';

const route = getRouteApi('/shell/deliveries/$deliveryId');

const REFRESH_MS = 2000;

/** One delivery with its payload, its attempts and the reason for its state. */
export function DeliveryPage() {
  const { deliveryId } = route.useParams();
  const query = useQuery({
    queryKey: ['deliveries', deliveryId],
    queryFn: () => api.webhooks.getDelivery({ deliveryId }),
    refetchInterval: ({ state }) => (state.data?.state === 'pending' ? REFRESH_MS : false),
  });

  return (
    <Page
      title={query.data === undefined ? deliveryStrings.title : deliveryStrings.oneTitle(query.data.event)}
      lead={query.data && eventDescriptions[query.data.event]}
      actions={
        <>
          <LinkButton to="/deliveries">{deliveryStrings.back}</LinkButton>
          {query.data?.state === 'pending' && <Cancel delivery={query.data} />}
          {query.data !== undefined && <Redeliver delivery={query.data} />}
        </>
      }
    >
      <Loaded query={query} notFound={deliveryStrings.notFound}>
        {(delivery) => <Parts delivery={delivery} />}
      </Loaded>
    </Page>
  );
}

function Cancel({ delivery: { deliveryId } }: { readonly delivery: DeliveryWithAttempts }) {
  const queries = useQueryClient();
  const toast = useToast();
  const cancel = useMutation({
    mutationFn: () => api.webhooks.cancelDelivery({ deliveryId }),
    onSuccess: () => toast(deliveryStrings.cancelled),
    onError: (error) => toast(errorText(error), 'bad'),
    // It may have been delivered meanwhile.
    onSettled: () => queries.invalidateQueries({ queryKey: ['deliveries'] }),
  });
  return (
    <Button title={deliveryStrings.cancelHint} busy={cancel.isPending} onClick={() => cancel.mutate()}>
      {deliveryStrings.cancel}
    </Button>
  );
}

function Redeliver({ delivery: { deliveryId, state, isTest } }: { readonly delivery: DeliveryWithAttempts }) {
  const queries = useQueryClient();
  const toast = useToast();
  const redeliver = useMutation({
    mutationFn: () => api.webhooks.replay({ deliveryIds: [deliveryId] }),
    onSuccess: ({ replayed }) => {
      if (replayed === 0) toast(deliveryStrings.notRedelivered, 'bad');
      else toast(deliveryStrings.redelivered);
      return queries.invalidateQueries({ queryKey: ['deliveries'] });
    },
    onError: (error) => toast(errorText(error), 'bad'),
  });
  // A pending delivery is sent anyway.
  if (state === 'pending' || isTest) return null;
  return (
    <Button
      look="primary"
      icon={<RotateCw className="size-4" />}
      title={deliveryStrings.redeliverHint}
      busy={redeliver.isPending}
      onClick={() => redeliver.mutate()}
    >
      {deliveryStrings.redeliver}
    </Button>
  );
}

const tones: Readonly<Record<DeliveryWithAttempts['state'], Tone>> = {
  pending: 'warn',
  delivered: 'good',
  failed: 'bad',
  expired: 'bad',
  cancelled: 'info',
};

function Parts({ delivery }: { readonly delivery: DeliveryWithAttempts }) {
  const { state, why, lastClass, body, attemptLog } = delivery;
  const advice = state === 'delivered' || lastClass === null ? undefined : outcomeAdvice[lastClass];
  const webhook = useWebhooks().find(({ webhookId }) => webhookId === delivery.webhookId);
  return (
    <>
      <Notice tone={tones[state]}>
        <p className="font-medium">
          <TextWithTimes text={why} />
        </p>
        {advice !== undefined && <p className="mt-1">{advice}</p>}
      </Notice>
      <div className="grid grid-cols-1 items-start gap-6 wide:grid-cols-[minmax(0,2fr)_minmax(0,3fr)]">
        <Card title={deliveryStrings.facts}>
          <Facts facts={factsOf(delivery, webhook?.webhookUrl ?? undefined)} />
        </Card>
        <Card title={deliveryStrings.payload} hint={deliveryStrings.payloadHint}>
          <Payload body={body} />
        </Card>
      </div>
      <Card title={deliveryStrings.attempts}>
        {attemptLog.length === 0 && <p className="text-sm text-ink-faint">{deliveryStrings.noAttempts}</p>}
        <ol className="grid grid-cols-1 gap-3">
          {attemptLog.toReversed().map((attempt, index) => (
            <Attempt
              key={attempt.number}
              attempt={attempt}
              delivery={delivery}
              url={webhook?.webhookUrl ?? undefined}
              isOpen={index === 0}
            />
          ))}
        </ol>
      </Card>
    </>
  );
}

function factsOf(delivery: DeliveryWithAttempts, url: string | undefined) {
  const { webhookId, eventId, messageId, createdAt, settledAt, dueAt, heldBehind, attempts } = delivery;
  return [
    [deliveryStrings.state, <DeliveryState key="state" delivery={delivery} />],
    [
      deliveryStrings.webhook,
      url === undefined ? (
        deliveryStrings.removedWebhook
      ) : (
        <Link key="webhook" to="/webhooks/$webhookId" params={{ webhookId }} className="text-accent underline">
          {url}
        </Link>
      ),
    ],
    [deliveryStrings.created, <Time key="created" at={createdAt} />],
    ...(settledAt === null ? [] : [[deliveryStrings.settled, <Time key="settled" at={settledAt} />] as const]),
    // A delivery that waits for something else, such as the breaker, may be overdue.
    ...(dueAt === null || Date.parse(dueAt) < Date.now()
      ? []
      : [[deliveryStrings.due, <Time key="due" at={dueAt} as="relative" />] as const]),
    ...(heldBehind === null
      ? []
      : [[deliveryStrings.heldBehind, <EarlierDelivery key="held" id={heldBehind} />] as const]),
    [deliveryStrings.attempts, attempts],
    [deliveryStrings.eventId, <code key="event">{eventId}</code>],
    ...(messageId === null ? [] : [[deliveryStrings.message, <code key="message">{messageId}</code>] as const]),
  ] as const;
}

function EarlierDelivery({ id: deliveryId }: { readonly id: string }) {
  return (
    <Link to="/deliveries/$deliveryId" params={{ deliveryId }} className="text-accent underline">
      {deliveryId}
    </Link>
  );
}

function Payload({ body }: { readonly body: string }) {
  return (
    <TabSet
      label={deliveryStrings.views}
      tabs={[
        {
          name: deliveryStrings.inspect,
          content: <JsonInspector value={JSON.parse(body)} label={deliveryStrings.inspect} />,
        },
        { name: deliveryStrings.raw, content: <CodeSnippet code={body} label={deliveryStrings.raw} /> },
      ]}
    />
  );
}

function Attempt({
  attempt,
  delivery: { body },
  url,
  isOpen,
}: {
  readonly attempt: DeliveryWithAttempts['attemptLog'][number];
  readonly delivery: DeliveryWithAttempts;
  readonly url: string | undefined;
  readonly isOpen: boolean;
}) {
  const { number, headers, class: outcome, status, durationMs, message, response, at } = attempt;
  return (
    <li>
      <details open={isOpen} className="rounded-lg border border-line">
        <summary className="px-4 py-2.5 text-sm">
          <span className="ml-1 inline-flex w-[calc(100%-1.5rem)] flex-wrap items-center gap-x-5 gap-y-1 align-middle">
            <span className="font-medium">{deliveryStrings.attempt(number)}</span>
            <Lamp tone={outcome === 'ok' ? 'good' : 'bad'}>{outcomeLabels[outcome]}</Lamp>
            <span className="text-ink-soft tabular-nums">{deliveryStrings.took(durationMs)}</span>
            <span className="text-ink-faint wide:ml-auto">
              <Time at={at} />
            </span>
          </span>
        </summary>
        <div className="grid grid-cols-1 gap-4 border-t border-line p-4 text-sm">
          <p className="wrap-anywhere">{message}</p>
          {url !== undefined && (
            <div className="grid grid-cols-1 gap-1.5">
              <h3 className="font-medium">{deliveryStrings.request}</h3>
              <CodeSnippet label={deliveryStrings.requestOf(number)} code={formatRequest({ url, headers, body })} />
              <p className="text-xs text-ink-faint">{deliveryStrings.requestHint}</p>
            </div>
          )}
          <div className="grid grid-cols-1 gap-1.5">
            <h3 className="font-medium">
              {status === null ? deliveryStrings.noResponse : deliveryStrings.responseStatus(status)}
            </h3>
            {status !== null && (response === null || response === '') && (
              <p className="text-ink-faint">{deliveryStrings.emptyResponse}</p>
            )}
            {response !== null && response !== '' && (
              <CodeSnippet code={response} label={deliveryStrings.responseOf(number)} />
            )}
          </div>
        </div>
      </details>
    </li>
  );
}
