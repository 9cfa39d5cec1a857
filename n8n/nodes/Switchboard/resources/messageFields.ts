import type { INodeProperties } from 'n8n-workflow';
import {
  chat,
  limit,
  mentionAll,
  mentions,
  messageId,
  options,
  recipient,
  replyTo,
  returnAll,
  sendAt,
  session,
  shownFor,
  template,
  text,
} from '../shared/fields.ts';

/* The fields for messages. */

const SENDING = ['sendText', 'sendMedia', 'sendLocation', 'sendContact', 'sendPoll', 'sendTemplate', 'schedule', 'ask'];

const operation: INodeProperties = {
  displayName: 'Operation',
  name: 'operation',
  type: 'options',
  noDataExpression: true,
  displayOptions: { show: { resource: ['message'] } },
  options: [
    {
      name: 'Cancel Scheduled',
      value: 'cancel',
      action: 'Cancel a scheduled message',
      description: 'Cancel a message that was not sent yet',
    },
    {
      name: 'Delete',
      value: 'delete',
      action: 'Delete a message',
      description: 'Delete a message for everyone or for the session',
    },
    { name: 'Edit', value: 'edit', action: 'Edit a message', description: 'Replace the text of a sent message' },
    { name: 'Get', value: 'get', action: 'Get a message', description: 'Get a message with its status' },
    {
      name: 'Get Many',
      value: 'getAll',
      action: 'Get many messages',
      description: 'List or search messages, newest first',
    },
    {
      name: 'React',
      value: 'react',
      action: 'React to a message',
      description: 'React with an emoji, or remove the reaction',
    },
    {
      name: 'Schedule',
      value: 'schedule',
      action: 'Schedule a text message',
      description: 'Send a text at a later time',
    },
    {
      name: 'Send and Wait for Answer',
      value: 'ask',
      action: 'Send a message and wait for the answer',
      description: 'Send a text and continue with the next message of the recipient',
    },
    { name: 'Send Contact', value: 'sendContact', action: 'Send a contact card', description: 'Send a contact card' },
    { name: 'Send Location', value: 'sendLocation', action: 'Send a location', description: 'Send a place on the map' },
    {
      name: 'Send Media',
      value: 'sendMedia',
      action: 'Send a file',
      description: 'Send an image, video, audio, voice message, document or sticker',
    },
    {
      name: 'Send Poll',
      value: 'sendPoll',
      action: 'Send a poll',
      description: 'Send a question with answers to choose from',
    },
    {
      name: 'Send Template',
      value: 'sendTemplate',
      action: 'Send a template',
      description: 'Send an approved template, as the WhatsApp Cloud API requires outside of the 24-hour window',
    },
    { name: 'Send Text', value: 'sendText', action: 'Send a text message', description: 'Send a text message' },
  ],
  default: 'sendText',
};

const media: INodeProperties[] = [
  {
    displayName: 'Source',
    name: 'source',
    type: 'options',
    options: [
      { name: 'Binary Data', value: 'binary', description: 'A file of the item' },
      { name: 'File of Switchboard', value: 'media', description: 'A file that was received or uploaded' },
      { name: 'URL', value: 'url', description: 'A file that the server downloads' },
    ],
    default: 'binary',
  },
  {
    displayName: 'Input Binary Field',
    name: 'binaryProperty',
    type: 'string',
    default: 'data',
    required: true,
    hint: 'The name of the input field that contains the file',
    displayOptions: { show: { source: ['binary'] } },
  },
  {
    displayName: 'Media ID',
    name: 'mediaId',
    type: 'string',
    default: '',
    required: true,
    placeholder: 'med_01JZ0000000000000000000000',
    displayOptions: { show: { source: ['media'] } },
  },
  {
    displayName: 'URL',
    name: 'url',
    type: 'string',
    default: '',
    required: true,
    placeholder: 'https://example.com/invoice.pdf',
    displayOptions: { show: { source: ['url'] } },
  },
  {
    displayName: 'Send As',
    name: 'mediaType',
    type: 'options',
    options: [
      { name: 'Audio', value: 'audio' },
      { name: 'Automatic', value: 'auto', description: 'By the type of the file; not for URLs' },
      { name: 'Document', value: 'document' },
      { name: 'Image', value: 'image' },
      { name: 'Sticker', value: 'sticker' },
      { name: 'Video', value: 'video' },
      { name: 'Voice Message', value: 'voice' },
    ],
    default: 'auto',
  },
  options([
    {
      displayName: 'Caption',
      name: 'caption',
      type: 'string',
      typeOptions: { rows: 2 },
      default: '',
      description: 'Text below the file',
    },
    {
      displayName: 'File Name',
      name: 'fileName',
      type: 'string',
      default: '',
      description: 'Name that the recipient sees. Defaults to its own name.',
    },
    {
      displayName: 'GIF',
      name: 'gif',
      type: 'boolean',
      default: false,
      description: 'Whether a video plays in a loop and without sound',
    },
    mentionAll,
    mentions,
    replyTo,
    sendAt,
    {
      displayName: 'View Once',
      name: 'viewOnce',
      type: 'boolean',
      default: false,
      description: 'Whether the recipient can open the file only once',
    },
  ]),
];

const location: INodeProperties[] = [
  {
    displayName: 'Latitude',
    name: 'latitude',
    type: 'number',
    typeOptions: { minValue: -90, maxValue: 90, numberPrecision: 8 },
    default: 0,
    required: true,
  },
  {
    displayName: 'Longitude',
    name: 'longitude',
    type: 'number',
    typeOptions: { minValue: -180, maxValue: 180, numberPrecision: 8 },
    default: 0,
    required: true,
  },
  options([
    {
      displayName: 'Address',
      name: 'address',
      type: 'string',
      default: '',
      description: 'Postal address of the place',
    },
    { displayName: 'Name', name: 'name', type: 'string', default: '', description: 'Name of the place' },
    replyTo,
    sendAt,
  ]),
];

const contact: INodeProperties[] = [
  { displayName: 'Name', name: 'contactName', type: 'string', default: '', required: true },
  {
    displayName: 'Phone Numbers',
    name: 'phoneNumbers',
    type: 'string',
    default: '',
    required: true,
    placeholder: '+49 170 1234567',
    description: 'Up to ten phone numbers, separated by commas',
  },
  options([replyTo, sendAt]),
];

const poll: INodeProperties[] = [
  { displayName: 'Question', name: 'question', type: 'string', default: '', required: true },
  {
    displayName: 'Answers',
    name: 'answers',
    type: 'string',
    typeOptions: { multipleValues: true, multipleValueButtonText: 'Add Answer' },
    default: [],
    required: true,
    description: 'Two to twelve different answers',
  },
  options([
    {
      displayName: 'Max Selections',
      name: 'maxSelections',
      type: 'number',
      typeOptions: { minValue: 1, maxValue: 12 },
      default: 1,
      description: 'Number of answers that one person can choose',
    },
    replyTo,
    sendAt,
  ]),
];

const templates: INodeProperties[] = [
  template,
  {
    displayName: 'Language',
    name: 'language',
    type: 'string',
    default: 'en_US',
    required: true,
    description: 'Language of the template',
  },
  {
    displayName: 'Values',
    name: 'values',
    type: 'string',
    typeOptions: { multipleValues: true, multipleValueButtonText: 'Add Value' },
    default: [],
    description: 'Values for the placeholders in the text, in their order',
  },
  options([
    {
      displayName: 'Components',
      name: 'components',
      type: 'json',
      default: '[]',
      description: "Values in the network's format, for headers and buttons. Replaces the values above.",
    },
    replyTo,
    sendAt,
  ]),
];

const asking: INodeProperties[] = [
  {
    displayName: 'Wait',
    name: 'waitMode',
    type: 'options',
    options: [
      {
        name: 'Suspend the Execution',
        value: 'suspend',
        description: 'For hours or days. The execution continues even if n8n was restarted. One item at a time.',
      },
      {
        name: 'Keep the Execution Running',
        value: 'inPlace',
        description: 'Up to ten minutes, for several items and as a tool of an agent',
      },
    ],
    default: 'suspend',
    description: 'How to wait. As a tool of an agent, the node always keeps the execution running.',
  },
  {
    displayName: 'Limit',
    name: 'waitLimit',
    type: 'number',
    typeOptions: { minValue: 1 },
    default: 1,
    description: 'How long to wait. Then the node passes its input on, without an answer.',
  },
  {
    displayName: 'Unit',
    name: 'waitUnit',
    type: 'options',
    options: [
      { name: 'Days', value: 'days' },
      { name: 'Hours', value: 'hours' },
      { name: 'Minutes', value: 'minutes' },
    ],
    default: 'hours',
  },
  options([mentions, replyTo]),
];

const textOptions = options([
  {
    displayName: 'Link Preview',
    name: 'linkPreview',
    type: 'boolean',
    default: true,
    description: 'Whether the first link in the text gets a preview',
  },
  mentionAll,
  mentions,
  replyTo,
  sendAt,
]);

const search: INodeProperties[] = [
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
        displayName: 'After',
        name: 'afterTime',
        type: 'dateTime',
        default: '',
        description: 'Only messages at or after this time',
      },
      {
        displayName: 'Before',
        name: 'beforeTime',
        type: 'dateTime',
        default: '',
        description: 'Only messages before this time',
      },
      {
        displayName: 'Direction',
        name: 'direction',
        type: 'options',
        options: [
          { name: 'Received', value: 'incoming' },
          { name: 'Sent', value: 'outgoing' },
        ],
        default: 'incoming',
      },
      {
        displayName: 'Search',
        name: 'q',
        type: 'string',
        default: '',
        description: 'Only messages with all of these words; the last can be the start of a word',
      },
      {
        displayName: 'Status',
        name: 'status',
        type: 'options',
        options: [
          { name: 'Delivered', value: 'delivered' },
          { name: 'Failed', value: 'failed' },
          { name: 'Pending Approval', value: 'pending_approval' },
          { name: 'Queued', value: 'queued' },
          { name: 'Read', value: 'read' },
          { name: 'Scheduled', value: 'scheduled' },
          { name: 'Sent', value: 'sent' },
        ],
        default: 'failed',
      },
    ],
  },
];

export const messageProperties: INodeProperties[] = [
  operation,
  ...shownFor('message', [...SENDING, 'getAll'], [session]),
  ...shownFor('message', SENDING, [recipient]),
  ...shownFor('message', ['cancel', 'delete', 'edit', 'get', 'react'], [messageId]),
  ...shownFor('message', ['sendText', 'schedule', 'ask', 'edit'], [text]),
  ...shownFor(
    'message',
    ['schedule'],
    [{ ...sendAt, required: true, description: 'When to send the message, up to 366 days ahead' }],
  ),
  ...shownFor('message', ['sendText'], [textOptions]),
  ...shownFor('message', ['schedule'], [options([mentionAll, mentions, replyTo])]),
  ...shownFor('message', ['sendMedia'], media),
  ...shownFor('message', ['sendLocation'], location),
  ...shownFor('message', ['sendContact'], contact),
  ...shownFor('message', ['sendPoll'], poll),
  ...shownFor('message', ['sendTemplate'], templates),
  ...shownFor('message', ['ask'], asking),
  ...shownFor(
    'message',
    ['react'],
    [
      {
        displayName: 'Emoji',
        name: 'emoji',
        type: 'string',
        default: '👍',
        description: 'A single emoji. Removes the reaction if empty.',
      },
    ],
  ),
  ...shownFor(
    'message',
    ['delete'],
    [
      {
        displayName: 'Delete For',
        name: 'for',
        type: 'options',
        options: [
          { name: 'Everyone', value: 'everyone' },
          { name: 'Me', value: 'me', description: 'Only for the session' },
        ],
        default: 'everyone',
      },
    ],
  ),
  ...shownFor(
    'message',
    ['getAll'],
    [{ ...chat, required: false, description: 'Only messages of this chat' }, ...search],
  ),
];
