import type { IDataObject, INodeProperties } from 'n8n-workflow';
import { limit, options, returnAll, shownFor, webhook } from '../shared/fields.ts';
import { entriesOf, type Operation, present } from '../shared/itemCall.ts';
import { timeOf } from '../shared/sending.ts';
import { path } from '../shared/transport.ts';

/* Webhooks and their deliveries. */

const states: INodeProperties = {
  displayName: 'States',
  name: 'states',
  type: 'multiOptions',
  options: [
    { name: 'Cancelled', value: 'cancelled' },
    { name: 'Delivered', value: 'delivered' },
    { name: 'Expired', value: 'expired' },
    { name: 'Failed', value: 'failed' },
  ],
  default: ['failed', 'expired'],
};

const period: INodeProperties[] = [
  {
    displayName: 'After',
    name: 'afterTime',
    type: 'dateTime',
    default: '',
    description: 'Only deliveries at or after this time',
  },
  {
    displayName: 'Before',
    name: 'beforeTime',
    type: 'dateTime',
    default: '',
    description: 'Only deliveries before this time',
  },
  {
    displayName: 'Events',
    name: 'events',
    type: 'string',
    default: '',
    placeholder: 'message.incoming, message.*',
    description: 'Only these event types, separated by commas',
  },
];

export const webhookProperties: INodeProperties[] = [
  {
    displayName: 'Operation',
    name: 'operation',
    type: 'options',
    noDataExpression: true,
    displayOptions: { show: { resource: ['webhook'] } },
    options: [
      {
        name: 'Get Deliveries',
        value: 'getDeliveries',
        action: 'Get deliveries of a webhook',
        description: 'List deliveries with the reason for their state, newest first',
      },
      {
        name: 'Replay Deliveries',
        value: 'replay',
        action: 'Replay deliveries of a webhook',
        description: 'Send settled deliveries again',
      },
      {
        name: 'Reset Circuit Breaker',
        value: 'resetBreaker',
        action: 'Reset the circuit breaker of a webhook',
        description: 'Send held events now, for an endpoint that works again',
      },
    ],
    default: 'resetBreaker',
  },
  ...shownFor('webhook', ['resetBreaker', 'replay', 'getDeliveries'], [webhook]),
  ...shownFor(
    'webhook',
    ['replay'],
    [
      {
        displayName: 'Dry Run',
        name: 'dryRun',
        type: 'boolean',
        default: false,
        description: 'Whether to only count the deliveries',
      },
      options([
        {
          displayName: 'Delivery IDs',
          name: 'deliveryIds',
          type: 'string',
          default: '',
          description: 'Only these deliveries, separated by commas. Without them, "After" is required.',
        },
        {
          displayName: 'Per Second',
          name: 'perSecond',
          type: 'number',
          typeOptions: { minValue: 1, maxValue: 10000 },
          default: 100,
          description: 'Number of deliveries per second',
        },
        ...period,
        states,
      ]),
    ],
  ),
  ...shownFor(
    'webhook',
    ['getDeliveries'],
    [
      returnAll,
      limit,
      {
        displayName: 'Filters',
        name: 'filters',
        type: 'collection',
        placeholder: 'Add filter',
        default: {},
        options: [...period, states],
      },
    ],
  ),
];

export const webhookOperations: Readonly<Record<string, Operation>> = {
  resetBreaker: (item) =>
    item.call({
      method: 'POST',
      path: path`/webhooks/endpoints/${item.required('webhookId', 'Webhook')}/circuit-breaker/reset`,
    }),
  replay: async (item) => {
    const { deliveryIds, events, states, perSecond, afterTime, beforeTime } = item.param<IDataObject>('options', {});
    const dryRun = item.boolean(item.param('dryRun', false), 'Dry Run');
    // An expression without a result must not replay what it was meant to exclude.
    if (dryRun === undefined) throw item.error('"Dry Run" must be true or false');
    if (deliveryIds !== undefined && entriesOf(deliveryIds).length === 0) throw item.error('"Delivery IDs" is empty');
    return item.call({
      method: 'POST',
      path: '/webhooks/replay',
      body: present({
        webhookId: item.required('webhookId', 'Webhook'),
        dryRun,
        deliveryIds: entriesOf(deliveryIds),
        events: entriesOf(events),
        states: entriesOf(states),
        perSecond: item.number(perSecond, 'Per Second'),
        afterTime: timeOf(item, afterTime),
        // The server wants both ends of a period.
        beforeTime: timeOf(item, beforeTime) ?? (timeOf(item, afterTime) && new Date().toISOString()),
      }),
    });
  },
  getDeliveries: async (item) => {
    const { events, states, afterTime, beforeTime } = item.param<IDataObject>('filters', {});
    return item.listAll(
      '/webhooks/deliveries',
      present({
        webhookId: item.required('webhookId', 'Webhook'),
        events: entriesOf(events),
        states: entriesOf(states),
        afterTime: timeOf(item, afterTime),
        beforeTime: timeOf(item, beforeTime),
      }),
    );
  },
};
