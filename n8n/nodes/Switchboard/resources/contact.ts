import type { IDataObject, INodeProperties } from 'n8n-workflow';
import { limit, returnAll, session, shownFor } from '../shared/fields.ts';
import { type Operation, present } from '../shared/itemCall.ts';
import { textOf } from '../shared/values.ts';

/* Contacts, and phone numbers. */

export const contactProperties: INodeProperties[] = [
  {
    displayName: 'Operation',
    name: 'operation',
    type: 'options',
    noDataExpression: true,
    displayOptions: { show: { resource: ['contact'] } },
    options: [
      {
        name: 'Check Numbers',
        value: 'check',
        action: 'Check phone numbers',
        description: 'Find out which phone numbers have an account on the network',
      },
      { name: 'Get Many', value: 'getAll', action: 'Get many contacts', description: 'List or search contacts' },
    ],
    default: 'check',
  },
  ...shownFor('contact', ['check', 'getAll'], [session]),
  ...shownFor(
    'contact',
    ['check'],
    [
      {
        displayName: 'Phone Numbers',
        name: 'phoneNumbers',
        type: 'string',
        default: '',
        required: true,
        placeholder: '+49 170 1234567',
        description: 'Up to 100 phone numbers, separated by commas',
      },
    ],
  ),
  ...shownFor(
    'contact',
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
            displayName: 'Blocked',
            name: 'blocked',
            type: 'boolean',
            default: true,
            description: 'Whether to return only blocked contacts, or only others',
          },
          {
            displayName: 'Phone Number',
            name: 'phoneNumber',
            type: 'string',
            default: '',
            description: 'Only the contact with this number',
          },
          {
            displayName: 'Search',
            name: 'q',
            type: 'string',
            default: '',
            description: 'Part of the name, or the first digits of the number',
          },
        ],
      },
    ],
  ),
];

export const contactOperations: Readonly<Record<string, Operation>> = {
  check: async (item) => {
    const { data } = await item.page<IDataObject>({
      path: '/contacts/check',
      query: { ...item.session, phoneNumbers: item.list('phoneNumbers') },
    });
    return data;
  },
  getAll: async (item) => {
    const { blocked, phoneNumber, q } = item.param<IDataObject>('filters', {});
    const filters = {
      blocked: item.boolean(blocked, 'Blocked'),
      phoneNumber: textOf(phoneNumber),
      q: textOf(q).trim(),
    };
    return item.listAll('/contacts', present({ ...item.session, ...filters }));
  },
};
