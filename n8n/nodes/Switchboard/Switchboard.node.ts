import {
  type IDataObject,
  type IExecuteFunctions,
  type INodeExecutionData,
  type INodeType,
  type INodeTypeDescription,
  type IWebhookFunctions,
  type IWebhookResponseData,
  NodeApiError,
  NodeConnectionTypes,
  NodeOperationError,
} from 'n8n-workflow';
import { chatOperations, chatProperties } from './resources/chat.ts';
import { contactOperations, contactProperties } from './resources/contact.ts';
import { fileOperations, fileProperties } from './resources/file.ts';
import { groupOperations, groupProperties } from './resources/group.ts';
import { messageOperations } from './resources/message.ts';
import { messageProperties } from './resources/messageFields.ts';
import { sessionOperations, sessionProperties } from './resources/session.ts';
import { webhookOperations, webhookProperties } from './resources/webhook.ts';
import { ItemCall, type Operation, type Output } from './shared/itemCall.ts';
import { searchChats, searchGroups, searchSessions, searchTemplates, searchWebhooks } from './shared/listSearch.ts';
import { codeOf } from './shared/transport.ts';
import { answerWebhooks, askAndSuspend, continueWithAnswer } from './shared/waiting.ts';

/** The operations of each resource. */
export const operations: Readonly<Record<string, Readonly<Record<string, Operation>>>> = {
  chat: chatOperations,
  contact: contactOperations,
  file: fileOperations,
  group: groupOperations,
  message: messageOperations,
  session: sessionOperations,
  webhook: webhookOperations,
};

export class Switchboard implements INodeType {
  description: INodeTypeDescription = {
    displayName: 'Switchboard',
    name: 'switchboard',
    icon: { light: 'file:../../icons/switchboard.svg', dark: 'file:../../icons/switchboard.dark.svg' },
    group: ['output'],
    version: 1,
    subtitle: '={{$parameter["operation"] + ": " + $parameter["resource"]}}',
    description: 'Send WhatsApp messages, and manage chats, groups and sessions',
    defaults: { name: 'Switchboard' },
    usableAsTool: true,
    inputs: [NodeConnectionTypes.Main],
    outputs: [NodeConnectionTypes.Main],
    credentials: [{ name: 'switchboardApi', required: true }],
    webhooks: answerWebhooks,
    properties: [
      {
        displayName: 'Resource',
        name: 'resource',
        type: 'options',
        noDataExpression: true,
        options: [
          { name: 'Chat', value: 'chat' },
          { name: 'Contact', value: 'contact' },
          { name: 'File', value: 'file' },
          { name: 'Group', value: 'group' },
          { name: 'Message', value: 'message' },
          { name: 'Session', value: 'session' },
          { name: 'Webhook', value: 'webhook' },
        ],
        default: 'message',
      },
      ...messageProperties,
      ...chatProperties,
      ...contactProperties,
      ...fileProperties,
      ...groupProperties,
      ...sessionProperties,
      ...webhookProperties,
    ],
  };

  methods = { listSearch: { searchChats, searchGroups, searchSessions, searchTemplates, searchWebhooks } };

  async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
    const items = this.getInputData();
    const results: INodeExecutionData[] = [];
    for (const [index, input] of items.entries()) {
      const item = new ItemCall(this, index);
      try {
        if (isSuspending(item)) {
          const answer = await suspend(item, items.length);
          results.push(...(answer === undefined ? [input] : toItems(answer, index)));
          continue;
        }
        results.push(...toItems(await operationOf(item)(item), index));
      } catch (error) {
        if (!this.continueOnFail()) throw shownError(this, error, index);
        const { message } = error as Error;
        const code = codeOf(error);
        results.push({ json: { error: message, ...(code !== undefined && { code }) }, pairedItem: { item: index } });
      }
    }
    return [results];
  }

  async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
    return continueWithAnswer(this);
  }
}

function operationOf(item: ItemCall): Operation {
  const [resource, name] = [item.param<string>('resource'), item.param<string>('operation')];
  const operation = operations[resource]?.[name];
  if (operation === undefined) throw item.error(`The operation "${name}" of "${resource}" does not exist`);
  return operation;
}

function isSuspending(item: ItemCall): boolean {
  const isAsking = item.param<string>('resource') === 'message' && item.param<string>('operation') === 'ask';
  // A tool of an agent has no execution that n8n could store.
  if (!isAsking || item.execution.isToolExecution?.() === true) return false;
  return item.choice('waitMode', 'Wait', ['suspend', 'inPlace']) === 'suspend';
}

async function suspend(item: ItemCall, count: number): Promise<Output | undefined> {
  if (count > 1) {
    throw item.error(
      'A suspended execution can wait for one answer only',
      'Put a "Loop Over Items" node with a batch size of 1 before this one, or keep the execution running.',
    );
  }
  return askAndSuspend(item);
}

function toItems(output: Output, index: number): INodeExecutionData[] {
  const outputs = Array.isArray(output) ? output : [output];
  return outputs.map((one) => ({
    ...(isItem(one) ? one : { json: one }),
    pairedItem: { item: index },
  }));
}

function isItem(output: IDataObject | INodeExecutionData): output is INodeExecutionData {
  return 'json' in output && 'binary' in output;
}

/** Returns the error with the item that it is about. */
function shownError(context: IExecuteFunctions, error: unknown, itemIndex: number): Error {
  if (error instanceof NodeApiError || error instanceof NodeOperationError) return error;
  return new NodeOperationError(context.getNode(), error as Error, { itemIndex });
}
