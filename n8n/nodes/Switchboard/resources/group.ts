import type { IDataObject, INodeProperties } from 'n8n-workflow';
import { group, limit, options, returnAll, session, shownFor } from '../shared/fields.ts';
import { type Operation, present } from '../shared/itemCall.ts';
import { path } from '../shared/transport.ts';
import { textOf } from '../shared/values.ts';

/* Groups. */

export const groupProperties: INodeProperties[] = [
  {
    displayName: 'Operation',
    name: 'operation',
    type: 'options',
    noDataExpression: true,
    displayOptions: { show: { resource: ['group'] } },
    options: [
      {
        name: 'Create',
        value: 'create',
        action: 'Create a group',
        description: 'Create a group with its first members',
      },
      { name: 'Get', value: 'get', action: 'Get a group', description: 'Get a group with its members' },
      { name: 'Get Many', value: 'getAll', action: 'Get many groups', description: 'List or search groups' },
      {
        name: 'Update Participants',
        value: 'updateParticipants',
        action: 'Update participants of a group',
        description: 'Add or remove members, or change who is an admin',
      },
    ],
    default: 'getAll',
  },
  ...shownFor('group', ['create', 'get', 'getAll', 'updateParticipants'], [session]),
  ...shownFor('group', ['get', 'updateParticipants'], [group]),
  ...shownFor(
    'group',
    ['create'],
    [{ displayName: 'Subject', name: 'subject', type: 'string', default: '', required: true }],
  ),
  ...shownFor(
    'group',
    ['updateParticipants'],
    [
      {
        displayName: 'Change',
        name: 'change',
        type: 'options',
        options: [
          { name: 'Add', value: 'add' },
          { name: 'Demote', value: 'demote', description: 'Make admins members again' },
          { name: 'Promote', value: 'promote', description: 'Make members admins' },
          { name: 'Remove', value: 'remove' },
        ],
        default: 'add',
      },
    ],
  ),
  ...shownFor(
    'group',
    ['create', 'updateParticipants'],
    [
      {
        displayName: 'Participants',
        name: 'phoneNumbers',
        type: 'string',
        default: '',
        placeholder: '491701234567, 491707654321',
        description: 'Phone numbers, separated by commas',
      },
    ],
  ),
  ...shownFor(
    'group',
    ['create'],
    [
      options([
        { displayName: 'Description', name: 'description', type: 'string', typeOptions: { rows: 2 }, default: '' },
      ]),
    ],
  ),
  ...shownFor(
    'group',
    ['getAll'],
    [
      returnAll,
      limit,
      { displayName: 'Search', name: 'q', type: 'string', default: '', description: 'Part of the subject' },
    ],
  ),
];

export const groupOperations: Readonly<Record<string, Operation>> = {
  create: (item) => {
    const body = present({
      ...item.session,
      subject: item.text('subject'),
      phoneNumbers: item.list('phoneNumbers'),
      description: textOf(item.param<IDataObject>('options', {})['description']),
    });
    return item.call({ method: 'POST', path: '/groups', body, idempotencyKey: item.idempotencyKey(body) });
  },
  get: (item) => item.call({ path: path`/groups/${item.required('groupId', 'Group')}` }),
  getAll: (item) => item.listAll('/groups', present({ ...item.session, q: item.text('q') })),
  updateParticipants: async (item) => {
    const { results } = await item.call<{ results: IDataObject[] }>({
      method: 'POST',
      path: path`/groups/${item.required('groupId', 'Group')}/participants`,
      body: { action: item.param<string>('change'), phoneNumbers: item.list('phoneNumbers') },
    });
    return results;
  },
};
