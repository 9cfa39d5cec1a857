import { randomBytes } from 'node:crypto';
import {
  type IDataObject,
  type IHookFunctions,
  type IWebhookFunctions,
  type JsonObject,
  NodeApiError,
  NodeOperationError,
} from 'n8n-workflow';
import { entriesOf, present } from '../Switchboard/shared/itemCall.ts';
import { listOwn, metadataOf, removeWebhook } from '../Switchboard/shared/ownWebhooks.ts';
import { callApi, codeOf, path } from '../Switchboard/shared/transport.ts';
import { booleanOf, choiceOf } from '../Switchboard/shared/values.ts';

/*
 * The webhook of a trigger. n8n has two addresses for it: the production one while the workflow is published, and the
 * test one while the editor listens. Both can exist at the same time, so the node keeps what it knows of each apart.
 */

interface Registered {
  readonly webhookId: string;
  readonly secret: string;
}

type Address = 'production' | 'test';

/** n8n listens for a test for up to ten minutes. */
const TEST_MS = 15 * 60_000;

/** Returns whether the webhook exists, and updates it with the parameters. */
export async function isRegistered(hook: IHookFunctions): Promise<boolean> {
  const registered = registeredAt(hook, addressOf(hook));
  if (registered === undefined) return false;
  const isStart = ['init', 'leadershipChange'].includes(hook.getActivationMode());
  const endpoint = endpointOf(hook);
  try {
    await callApi(hook, {
      method: 'PATCH',
      path: path`/webhooks/endpoints/${registered.webhookId}`,
      // A restart of n8n does not resume what a person has paused.
      body: { ...endpoint, secret: registered.secret, ...(!isStart && { enabled: true, paused: false }) },
    });
    return true;
  } catch (error) {
    if (codeOf(error) === 'not_found') return false;
    // n8n removes the webhook of a workflow that it cannot activate when it starts, with all events that wait for it.
    if (isStart && codeOf(error) === 'unreachable') {
      hook.logger.warn('failed to check the webhook, because Switchboard is not reachable', { error });
      return true;
    }
    throw new NodeApiError(hook.getNode(), error as JsonObject);
  }
}

export async function register(hook: IHookFunctions): Promise<void> {
  const webhookUrl = urlOf(hook);
  const own = await listOwn(hook);
  // Left by n8n when it crashed, or when Switchboard was not reachable.
  for (const left of own.filter((webhook) => webhook.webhookUrl === webhookUrl))
    await removeWebhook(hook, left.webhookId);
  const secret = randomBytes(32).toString('hex');
  const { webhookId } = await callApi(hook, {
    method: 'POST',
    path: '/webhooks/endpoints',
    body: { ...endpointOf(hook), secret },
    idempotencyKey: `n8n-${randomBytes(16).toString('hex')}`,
  });
  stored(hook)[addressOf(hook)] = { webhookId, secret };
}

export async function unregister(hook: IHookFunctions): Promise<void> {
  const registered = registeredAt(hook, addressOf(hook));
  if (registered !== undefined) await removeWebhook(hook, registered.webhookId);
  delete stored(hook)[addressOf(hook)];
}

/** Returns the secrets of the node. A request does not tell which of the two addresses it arrived at. */
export function secretsOf(context: IWebhookFunctions): string[] {
  return (['production', 'test'] as const).flatMap((address) => registeredAt(context, address)?.secret ?? []);
}

function stored(context: IHookFunctions | IWebhookFunctions): IDataObject {
  return context.getWorkflowStaticData('node');
}

function registeredAt(context: IHookFunctions | IWebhookFunctions, address: Address): Registered | undefined {
  const { webhookId, secret } = (stored(context)[address] ?? {}) as IDataObject;
  return typeof webhookId === 'string' && typeof secret === 'string' ? { webhookId, secret } : undefined;
}

function urlOf(hook: IHookFunctions): string {
  const url = hook.getNodeWebhookUrl('default');
  if (url === undefined) throw new Error('n8n has no address for the webhook');
  return url;
}

/** n8n calls hooks of the production address in other modes than `manual` only when it removes a test webhook. */
function addressOf(hook: IHookFunctions): Address {
  return new URL(urlOf(hook)).pathname.includes('/webhook-test/') || hook.getMode() === 'manual'
    ? 'test'
    : 'production';
}

function endpointOf(hook: IHookFunctions): IDataObject {
  const settings = hook.getNodeParameter('options', {}) as IDataObject;
  const sessionIds = entriesOf(hook.getNodeParameter('sessionIds', []));
  const { id, name } = hook.getWorkflow();
  const filters = present({
    chats: entriesOf(settings['chats']),
    ignoredChats: entriesOf(settings['ignoredChats']),
    chatTypes: entriesOf(settings['chatTypes']),
    messageTypes: entriesOf(settings['messageTypes']),
    fromMe: isFromMe(hook, settings['from'] ?? 'all'),
  });
  const isTest = addressOf(hook) === 'test';
  const more = { workflowId: String(id ?? ''), node: hook.getNode().name.slice(0, 200) };
  return {
    webhookUrl: urlOf(hook),
    events: entriesOf(hook.getNodeParameter('events', [])),
    sessionIds: sessionIds.length > 0 ? sessionIds : null,
    filters: Object.keys(filters).length > 0 ? filters : null,
    ordering: isStrict(hook, settings['strictOrder']) ? 'strict' : 'best_effort',
    include: settings['include'] === undefined ? null : entriesOf(settings['include']),
    description: `n8n: ${name ?? 'workflow'}${isTest ? ' (test)' : ''}`.slice(0, 500),
    metadata: metadataOf(isTest ? 'test' : 'production', more),
    ...(isTest && { expiresAt: new Date(Date.now() + TEST_MS).toISOString() }),
  };
}

/** @throws {NodeOperationError} for an unknown side, which would let all events in */
function isFromMe(hook: IHookFunctions, from: unknown): boolean | undefined {
  const choice = choiceOf(from, ['all', 'me', 'others']);
  if (choice === null) throw new NodeOperationError(hook.getNode(), '"From" must be one of: all, me, others');
  return choice === 'all' ? undefined : choice === 'me';
}

function isStrict(hook: IHookFunctions, strictOrder: unknown): boolean {
  const boolean = booleanOf(strictOrder);
  if (boolean === null) throw new NodeOperationError(hook.getNode(), '"Strict Order" must be true or false');
  return boolean ?? false;
}
