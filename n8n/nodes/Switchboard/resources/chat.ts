import type { IDataObject, INodeProperties } from 'n8n-workflow';
import { chat, limit, returnAll, session, shownFor } from '../shared/fields.ts';
import { type Operation, present } from '../shared/itemCall.ts';
import { path } from '../shared/transport.ts';

/* Chats. */

export const chatProperties: INodeProperties[] = [
  {
    displayName: 'Operation',
    name: 'operation',
    type: 'options',
    noDataExpression: true,
    displayOptions: { show: { resource: ['chat'] } },
    options: [
      { name: 'Get Many', value: 'getAll', action: 'Get many chats', description: 'List chats, the most recent first' },
      {
        name: 'Mark as Read',
        value: 'markRead',
        action: 'Mark a chat as read',
        description: 'Mark every received message as read',
      },
      {
        name: 'Set Typing',
        value: 'setTyping',
        action: 'Show a typing indicator',
        description: 'Show or hide "typing" or "recording"',
      },
    ],
    default: 'getAll',
  },
  ...shownFor('chat', ['getAll', 'markRead', 'setTyping'], [session]),
  ...shownFor('chat', ['markRead', 'setTyping'], [chat]),
  ...shownFor(
    'chat',
    ['setTyping'],
    [
      {
        displayName: 'State',
        name: 'state',
        type: 'options',
        options: [
          { name: 'Paused', value: 'paused', description: 'Hides the indicator' },
          { name: 'Recording', value: 'recording' },
          { name: 'Typing', value: 'typing' },
        ],
        default: 'typing',
      },
    ],
  ),
  ...shownFor(
    'chat',
    ['getAll'],
    [
      returnAll,
      limit,
      {
        displayName: 'Filters',
        name: 'filters',
        type: 'collection',
        placeholder: 'Add filter',
        default: {},
        options: [
          {
            displayName: 'Unread',
            name: 'unread',
            type: 'boolean',
            default: true,
            description: 'Whether to return only chats with unread messages, or only others',
          },
        ],
      },
    ],
  ),
];

export const chatOperations: Readonly<Record<string, Operation>> = {
  getAll: async (item) => {
    const { unread } = item.param<IDataObject>('filters', {});
    return item.listAll('/chats', present({ ...item.session, unread: item.boolean(unread, 'Unread') }));
  },
  markRead: (item) =>
    item.call({ method: 'POST', path: path`/chats/${item.required('chatId', 'Chat')}/read`, body: item.session }),
  setTyping: (item) =>
    item.call({
      method: 'POST',
      path: path`/chats/${item.required('chatId', 'Chat')}/typing`,
      body: { ...item.session, state: item.param<string>('state') },
    }),
};
