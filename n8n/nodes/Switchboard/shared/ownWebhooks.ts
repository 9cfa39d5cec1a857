import { type IDataObject, type JsonObject, NodeApiError } from 'n8n-workflow';
import { type Caller, callApi, codeOf, listAll, path } from './transport.ts';

/*
 * The webhooks that the nodes of this package create at Switchboard. Their metadata has the purpose, so that a later
 * run can recognize one that n8n could not remove, because it crashed or Switchboard was not reachable. Those for a
 * limited time expire.
 */

export type Purpose = 'production' | 'test' | 'answer';

export interface OwnWebhook {
  readonly webhookId: string;
  readonly webhookUrl: string;
  readonly purpose: Purpose;
  readonly executionId: string | undefined;
}

/** An account has at most 100. */
const MAX_WEBHOOKS = 200;

export function metadataOf(purpose: Purpose, more: IDataObject): IDataObject {
  return { n8n: purpose, ...more };
}

export async function listOwn(caller: Caller): Promise<OwnWebhook[]> {
  const entries = await listAll(caller, '/webhooks/endpoints', {}, MAX_WEBHOOKS);
  return entries.flatMap(({ webhookId, webhookUrl, metadata }) => {
    const { n8n, executionId } = (metadata ?? {}) as IDataObject;
    if (n8n !== 'production' && n8n !== 'test' && n8n !== 'answer') return [];
    return [
      {
        webhookId: String(webhookId),
        webhookUrl: String(webhookUrl),
        purpose: n8n,
        executionId: typeof executionId === 'string' ? executionId : undefined,
      },
    ];
  });
}

/** Removes a webhook. One that is gone counts as removed. */
export async function removeWebhook(caller: Caller, webhookId: string): Promise<void> {
  try {
    await callApi(caller, { method: 'DELETE', path: path`/webhooks/endpoints/${webhookId}` });
  } catch (error) {
    if (codeOf(error) !== 'not_found') throw new NodeApiError(caller.getNode(), error as JsonObject);
  }
}
