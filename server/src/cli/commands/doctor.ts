import type { CircuitBreaker, DeliveryWithAttempts, WebhookEndpoint } from '../../../../sdk/src/api.ts';
import type { Client } from '../../../../sdk/src/client.ts';
import { NotFoundError } from '../../../../sdk/src/errors.ts';
import type { Context } from '../context.ts';
import { CliError } from '../failure.ts';
import { styled } from '../io.ts';

type Class = NonNullable<DeliveryWithAttempts['lastClass']>;

/** Advice after an attempt that ended like this. */
const remedies: Readonly<Record<Exclude<Class, 'ok'>, string>> = {
  redirect:
    'Set the webhook to the URL to which the receiver redirects: redirects are not followed. If it redirects after it has processed the event, set `acceptRedirects`.',
  client_error: 'The receiver refused the request. Check its URL, its path, and whether it or its proxy wants a login.',
  gone: 'The receiver answered 410 and gets no more events. If that was a mistake, correct it and reset the breaker.',
  throttled: 'The receiver limits requests. Lower `maxInFlight` of the webhook, or let the receiver accept more.',
  server_error: 'The receiver failed. Its log has the reason; the body below is what it got.',
  timeout: 'The receiver took too long. Let it answer first and work later, or raise `timeoutMs` of the webhook.',
  dns: 'The host name of the webhook cannot be resolved to an address that webhooks may reach. Check its spelling and DNS.',
  connect: 'Nothing accepts connections there. Check that the receiver runs, its port, and the firewall.',
  tls: 'TLS failed. Check the certificate of the receiver, its chain and its host name.',
  reset: 'The receiver closed the connection. Look for a crash, or a proxy with a short timeout, in front of it.',
  protocol: 'The port does not speak HTTP, or not with TLS as the URL says. Check scheme and port.',
  blocked_address:
    'Webhooks may not reach this address. Use a public one, or let the operator open the range with WEBHOOK_ALLOWED_CIDRS.',
  no_socket: 'The server had no free socket. The operator can raise its limit of open files, or OUTGOING_CONNECTIONS.',
  unknown_outcome: 'The server stopped during the attempt. It repeats the attempt, so the receiver may get it twice.',
};

/** Explains why a delivery has or has not arrived, and what to do. */
export async function doctor(context: Context, deliveryId: string): Promise<void> {
  if (!deliveryId.startsWith('dlv_'))
    throw new CliError(
      'usage',
      `${deliveryId} is not the id of a delivery (dlv_…). List them with: switchboard webhooks deliveries`,
    );
  const client = await context.client();
  const delivery = await client.webhooks.getDelivery({ deliveryId });
  const [webhook, breaker] = await webhookOf(client, delivery.webhookId);
  const advice = adviceFor(delivery, webhook, breaker);
  context.out.result({ delivery, webhook, breaker, advice }, () =>
    show(context, { delivery, webhook, breaker, advice }),
  );
}

interface Diagnosis {
  readonly delivery: DeliveryWithAttempts;
  /** Null if it was removed. */
  readonly webhook: WebhookEndpoint | null;
  readonly breaker: CircuitBreaker | null;
  readonly advice: readonly string[];
}

async function webhookOf(client: Client, webhookId: string): Promise<[WebhookEndpoint | null, CircuitBreaker | null]> {
  const ifRemoved = (error: unknown) => {
    if (!(error instanceof NotFoundError)) throw error;
    return null;
  };
  return Promise.all([
    client.webhooks.endpoints.get({ webhookId }).catch(ifRemoved),
    client.webhooks.endpoints.getCircuitBreaker({ webhookId }).catch(ifRemoved),
  ]);
}

function adviceFor(
  { deliveryId, state, lastClass, heldBehind }: DeliveryWithAttempts,
  webhook: WebhookEndpoint | null,
  breaker: CircuitBreaker | null,
): string[] {
  if (state === 'delivered') return [];
  const advice = lastClass === null || lastClass === 'ok' ? [] : [remedies[lastClass]];
  if (webhook === null) return ['The webhook was removed, so the delivery cannot be sent again.'];
  const { webhookId } = webhook;
  if (!webhook.enabled)
    advice.push(`Enable the webhook: PATCH /webhooks/endpoints/${webhookId} with {"enabled": true}.`);
  if (webhook.paused) advice.push(`Resume the webhook: PATCH /webhooks/endpoints/${webhookId} with {"paused": false}.`);
  if (heldBehind !== null) advice.push(`See why the earlier delivery waits: switchboard doctor ${heldBehind}`);
  if (state === 'pending' && breaker?.state !== 'closed' && lastClass !== 'ok')
    advice.push(`Once the receiver works, close the breaker at once: switchboard webhooks reset ${webhookId}`);
  if (state !== 'pending') advice.push(`Then send it again: switchboard webhooks replay ${deliveryId}`);
  return advice;
}

function show({ out }: Context, { delivery, webhook, breaker, advice }: Diagnosis): void {
  const { state } = delivery;
  out.fields({
    Delivery: delivery.deliveryId,
    State: styled(state === 'delivered' ? 'green' : state === 'pending' ? 'yellow' : 'red', state),
    Why: delivery.why,
    Event: `${delivery.event} (${delivery.eventId}) of ${delivery.createdAt}`,
    Webhook: `${delivery.webhookId} ${webhook?.webhookUrl ?? '(removed)'}`,
    Breaker: breaker === null ? undefined : `${breaker.state}${breaker.reason === null ? '' : `: ${breaker.reason}`}`,
    'Next attempt': delivery.dueAt ?? undefined,
  });
  out.line('');
  if (delivery.attemptLog.length === 0) out.line('No attempt has been made.');
  else
    out.table(
      ['ATTEMPT', 'AT', 'RESULT', 'STATUS', 'TIME', 'MESSAGE'],
      delivery.attemptLog.map(({ number, at, class: result, status, durationMs, message }) => [
        number,
        at,
        styled(result === 'ok' ? 'green' : 'red', result),
        status,
        `${durationMs} ms`,
        message,
      ]),
    );
  const response = delivery.attemptLog.at(-1)?.response;
  if (response && state !== 'delivered') out.line('\n', styled('dim', 'Last answer  '), response);
  if (advice.length === 0) return;
  out.line('');
  out.line(styled('bold', 'Advice'));
  for (const each of advice) out.line('  - ', each);
}
