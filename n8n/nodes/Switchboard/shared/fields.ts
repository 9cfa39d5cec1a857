import type { INodeProperties } from 'n8n-workflow';

/* Fields that several operations share, and the resource locators. */

/** Shows properties for some operations of a resource. */
export function shownFor(
  resource: string,
  operations: readonly string[],
  properties: INodeProperties[],
): INodeProperties[] {
  return properties.map((property) => ({
    ...property,
    displayOptions: {
      ...property.displayOptions,
      show: { resource: [resource], operation: [...operations], ...property.displayOptions?.show },
    },
  }));
}

export const session: INodeProperties = {
  displayName: 'Session',
  name: 'sessionId',
  type: 'resourceLocator',
  default: { mode: 'list', value: '' },
  description: 'Session to use. Only required if the account has several.',
  modes: [
    {
      displayName: 'From List',
      name: 'list',
      type: 'list',
      typeOptions: { searchListMethod: 'searchSessions', searchable: true },
    },
    { displayName: 'By ID', name: 'id', type: 'string', placeholder: 'ses_01JZ0000000000000000000000' },
  ],
};

export const chat: INodeProperties = {
  displayName: 'Chat',
  name: 'chatId',
  type: 'resourceLocator',
  default: { mode: 'id', value: '' },
  required: true,
  description: 'Phone number of the other person, or the ID of the group',
  modes: [
    {
      displayName: 'From List',
      name: 'list',
      type: 'list',
      typeOptions: { searchListMethod: 'searchChats', searchable: true },
    },
    { displayName: 'By Number or ID', name: 'id', type: 'string', placeholder: '+49 170 1234567' },
  ],
};

export const recipient: INodeProperties = {
  ...chat,
  displayName: 'To',
  name: 'to',
  description: 'Phone number in international form, the ID of a group, or an address of the network',
};

export const group: INodeProperties = {
  displayName: 'Group',
  name: 'groupId',
  type: 'resourceLocator',
  default: { mode: 'list', value: '' },
  required: true,
  modes: [
    {
      displayName: 'From List',
      name: 'list',
      type: 'list',
      typeOptions: { searchListMethod: 'searchGroups', searchable: true },
    },
    { displayName: 'By ID', name: 'id', type: 'string', placeholder: 'grp_01JZ0000000000000000000000' },
  ],
};

export const template: INodeProperties = {
  displayName: 'Template',
  name: 'templateName',
  type: 'resourceLocator',
  default: { mode: 'list', value: '' },
  required: true,
  description: 'Name of the template at the network. The list needs a session.',
  modes: [
    {
      displayName: 'From List',
      name: 'list',
      type: 'list',
      typeOptions: { searchListMethod: 'searchTemplates', searchable: true },
    },
    { displayName: 'By Name', name: 'id', type: 'string', placeholder: 'order_sent' },
  ],
};

export const webhook: INodeProperties = {
  displayName: 'Webhook',
  name: 'webhookId',
  type: 'resourceLocator',
  default: { mode: 'list', value: '' },
  required: true,
  modes: [
    {
      displayName: 'From List',
      name: 'list',
      type: 'list',
      typeOptions: { searchListMethod: 'searchWebhooks', searchable: true },
    },
    { displayName: 'By ID', name: 'id', type: 'string', placeholder: 'whk_01JZ0000000000000000000000' },
  ],
};

export const messageId: INodeProperties = {
  displayName: 'Message ID',
  name: 'messageId',
  type: 'string',
  default: '',
  required: true,
  placeholder: 'msg_01JZ0000000000000000000000',
  description: 'ID of the message, as the trigger and the send operations return it',
};

export const text: INodeProperties = {
  displayName: 'Text',
  name: 'message',
  type: 'string',
  typeOptions: { rows: 3 },
  default: '',
  required: true,
};

export const returnAll: INodeProperties = {
  displayName: 'Return All',
  name: 'returnAll',
  type: 'boolean',
  default: false,
  description: 'Whether to return all results or only up to a given limit',
};

export const limit: INodeProperties = {
  displayName: 'Limit',
  name: 'limit',
  type: 'number',
  typeOptions: { minValue: 1, maxValue: 10000 },
  default: 50,
  displayOptions: { show: { returnAll: [false] } },
  description: 'Max number of results to return',
};

/** Options of every message that is sent. */
export const replyTo: INodeProperties = {
  displayName: 'Reply To Message ID',
  name: 'replyTo',
  type: 'string',
  default: '',
  description: 'ID of the message to reply to',
};

export const sendAt: INodeProperties = {
  displayName: 'Send At',
  name: 'sendAt',
  type: 'dateTime',
  default: '',
  description: 'When to send the message, up to 366 days ahead. Sent now if empty.',
};

export const mentions: INodeProperties = {
  displayName: 'Mentions',
  name: 'mentions',
  type: 'string',
  default: '',
  placeholder: '491701234567, 491707654321',
  description: 'Phone numbers to mention, separated by commas',
};

export const mentionAll: INodeProperties = {
  displayName: 'Mention All',
  name: 'mentionAll',
  type: 'boolean',
  default: false,
  description: 'Whether to mention everyone in the group',
};

/** The collection of optional fields. */
export function options(items: INodeProperties[]): INodeProperties {
  return {
    displayName: 'Options',
    name: 'options',
    type: 'collection',
    placeholder: 'Add option',
    default: {},
    options: items,
  };
}
