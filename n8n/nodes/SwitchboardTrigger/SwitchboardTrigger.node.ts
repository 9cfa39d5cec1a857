import type {
  IDataObject,
  IHookFunctions,
  ILoadOptionsFunctions,
  INodeExecutionData,
  INodePropertyOptions,
  INodeType,
  INodeTypeDescription,
  IWebhookFunctions,
  IWebhookResponseData,
} from 'n8n-workflow';
import { download } from '../Switchboard/shared/files.ts';
import { entriesOf } from '../Switchboard/shared/itemCall.ts';
import { type DeliveredEvent, receive } from '../Switchboard/shared/signature.ts';
import { listAll, readPage } from '../Switchboard/shared/transport.ts';
import { booleanOf, numberOf } from '../Switchboard/shared/values.ts';
import { isRegistered, register, secretsOf, unregister } from './registration.ts';
import { triggerOptions } from './triggerOptions.ts';

/** The server gives an attempt 15 s. The rest is for n8n, which responds once it has stored the execution. */
const DOWNLOAD_TIMEOUT_MS = 8000;
const DEFAULT_MAX_MB = 16;

/** Evaluated by n8n: one output, or one for each event type. */
const outputs = `={{((parameters) => {
  const events = [parameters.events ?? []].flat();
  if (!parameters.outputPerEvent || events.length < 2) return [{ type: 'main' }];
  return events.map((event) => ({ type: 'main', displayName: event }));
})($parameter)}}` as const;

export class SwitchboardTrigger implements INodeType {
  description: INodeTypeDescription = {
    displayName: 'Switchboard Trigger',
    name: 'switchboardTrigger',
    icon: { light: 'file:../../icons/switchboard.svg', dark: 'file:../../icons/switchboard.dark.svg' },
    group: ['trigger'],
    version: 1,
    subtitle: '={{[$parameter["events"] ?? []].flat().join(", ")}}',
    description: 'Starts the workflow on WhatsApp messages and other events of Switchboard',
    defaults: { name: 'Switchboard Trigger' },
    inputs: [],
    outputs,
    credentials: [{ name: 'switchboardApi', required: true }],
    webhooks: [
      { name: 'default', httpMethod: 'POST', responseMode: 'onReceived', responseData: 'noData', path: 'webhook' },
    ],
    properties: [
      {
        displayName: 'Event Names or IDs',
        name: 'events',
        type: 'multiOptions',
        typeOptions: { loadOptionsMethod: 'getEventTypes' },
        default: ['message.incoming'],
        required: true,
        description:
          'Event types that start the workflow. With an expression, patterns such as <code>message.*</code> work too. Choose from the list, or specify IDs using an <a href="https://docs.n8n.io/code/expressions/">expression</a>.',
      },
      {
        displayName: 'Output per Event Type',
        name: 'outputPerEvent',
        type: 'boolean',
        default: false,
        description: 'Whether each of the event types has a separate output, in their order above',
      },
      {
        displayName: 'Session Names or IDs',
        name: 'sessionIds',
        type: 'multiOptions',
        typeOptions: { loadOptionsMethod: 'getSessions' },
        default: [],
        description:
          'Only events of these sessions; all if empty. Choose from the list, or specify IDs using an <a href="https://docs.n8n.io/code/expressions/">expression</a>.',
      },
      {
        displayName: 'Download Files',
        name: 'downloadFiles',
        type: 'boolean',
        default: false,
        description: 'Whether a received file is added as binary data',
      },
      triggerOptions,
    ],
  };

  methods = { loadOptions: { getEventTypes, getSessions } };

  webhookMethods = {
    default: {
      async checkExists(this: IHookFunctions): Promise<boolean> {
        return isRegistered(this);
      },
      async create(this: IHookFunctions): Promise<boolean> {
        await register(this);
        return true;
      },
      async delete(this: IHookFunctions): Promise<boolean> {
        await unregister(this);
        return true;
      },
    },
  };

  async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
    const delivered = receive(this, secretsOf(this));
    if (delivered === undefined) return { noWebhookResponse: true };
    // A test has an invented sender, so it must not start a published workflow.
    if (delivered.isTest && this.getMode() !== 'manual') return { webhookResponse: 'ignored' };
    return { workflowData: outputOf(this, delivered.event, await toItem(this, delivered)) };
  }
}

async function toItem(context: IWebhookFunctions, delivered: DeliveredEvent): Promise<INodeExecutionData> {
  const { isTest, ...event } = delivered;
  const json = { ...event, ...(isTest && { isTest }) } as IDataObject;
  const media = delivered.data['media'] as { mediaId?: unknown; size?: unknown } | undefined;
  if (booleanOf(context.getNodeParameter('downloadFiles', false)) !== true || typeof media?.mediaId !== 'string')
    return { json };
  const settings = context.getNodeParameter('options', {}) as IDataObject;
  // The default for an invalid number too, because the event must arrive.
  const maxMegabytes = numberOf(settings['maxMegabytes']) ?? DEFAULT_MAX_MB;
  if (Number(media.size) > maxMegabytes * 1024 * 1024) {
    return {
      json: {
        ...json,
        fileError: `The file is larger than ${maxMegabytes} MB. Download it with the Switchboard node.`,
      },
    };
  }
  try {
    const { binary } = await download(context, media.mediaId, { timeoutMs: DOWNLOAD_TIMEOUT_MS });
    return { json, binary: { data: binary } };
  } catch (error) {
    // The event counts more than its file, which the Switchboard node can download later.
    return { json: { ...json, fileError: (error as Error).message } };
  }
}

/** Puts an item into the output of its event type. */
function outputOf(context: IWebhookFunctions, event: string, item: INodeExecutionData): INodeExecutionData[][] {
  const events = entriesOf(context.getNodeParameter('events', []));
  if (context.getNodeParameter('outputPerEvent', false) !== true || events.length < 2) return [[item]];
  const exact = events.indexOf(event);
  const matching = exact === -1 ? events.findIndex((pattern) => includesEvent(pattern, event)) : exact;
  return events.map((_, index) => (index === Math.max(0, matching) ? [item] : []));
}

function includesEvent(pattern: string, event: string): boolean {
  return pattern === '*' || (pattern.endsWith('.*') && event.startsWith(pattern.slice(0, -1)));
}

async function getEventTypes(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
  const { data } = await readPage(this, { path: '/events/types' });
  const all = { name: 'All Events', value: '*', description: 'Also includes types of later versions' };
  return [
    all,
    ...data.map(({ event, description }) => ({
      name: String(event),
      value: String(event),
      description: String(description),
    })),
  ];
}

async function getSessions(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
  const sessions = await listAll(this, '/sessions', {}, 1000);
  return sessions.map(({ sessionId, name, phoneNumber }) => ({
    name: String(name ?? phoneNumber ?? sessionId),
    value: String(sessionId),
  }));
}
