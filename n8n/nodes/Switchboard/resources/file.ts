import type { IDataObject, INodeProperties } from 'n8n-workflow';
import { shownFor } from '../shared/fields.ts';
import { download, upload } from '../shared/files.ts';
import type { ItemCall, Operation } from '../shared/itemCall.ts';
import { path } from '../shared/transport.ts';

/* Received and uploaded files. */

export const fileProperties: INodeProperties[] = [
  {
    displayName: 'Operation',
    name: 'operation',
    type: 'options',
    noDataExpression: true,
    displayOptions: { show: { resource: ['file'] } },
    options: [
      {
        name: 'Download',
        value: 'download',
        action: 'Download a file',
        description: 'Get a file as binary data',
      },
      {
        name: 'Upload',
        value: 'upload',
        action: 'Upload a file',
        description: 'Store a file, to send it several times',
      },
    ],
    default: 'download',
  },
  ...shownFor(
    'file',
    ['download'],
    [
      {
        displayName: 'Find By',
        name: 'findBy',
        type: 'options',
        options: [
          { name: 'Media ID', value: 'media' },
          { name: 'Message ID', value: 'message', description: 'Also fetches a file that is still at the network' },
        ],
        default: 'media',
      },
      {
        displayName: 'Media ID',
        name: 'mediaId',
        type: 'string',
        default: '',
        required: true,
        placeholder: 'med_01JZ0000000000000000000000',
        displayOptions: { show: { findBy: ['media'] } },
      },
      {
        displayName: 'Message ID',
        name: 'messageId',
        type: 'string',
        default: '',
        required: true,
        placeholder: 'msg_01JZ0000000000000000000000',
        displayOptions: { show: { findBy: ['message'] } },
      },
      {
        displayName: 'Put Output File in Field',
        name: 'binaryProperty',
        type: 'string',
        default: 'data',
        required: true,
        hint: 'The name of the output field to put the file in',
      },
    ],
  ),
  ...shownFor(
    'file',
    ['upload'],
    [
      {
        displayName: 'Input Binary Field',
        name: 'binaryProperty',
        type: 'string',
        default: 'data',
        required: true,
        hint: 'The name of the input field that contains the file',
      },
    ],
  ),
];

async function mediaIdOf(item: ItemCall): Promise<string> {
  if (item.choice('findBy', 'Find By', ['media', 'message']) === 'media') return item.required('mediaId', 'Media ID');
  const id = item.required('messageId', 'Message ID');
  let message: IDataObject = await item.call({ path: path`/messages/${id}` });
  if (message['remoteMedia'] !== undefined) {
    message = await item.call({ method: 'POST', path: path`/messages/${id}/media`, timeoutMs: 300_000 });
  }
  const { mediaId } = (message['media'] ?? {}) as IDataObject;
  if (typeof mediaId !== 'string') throw item.error('The message has no file');
  return mediaId;
}

export const fileOperations: Readonly<Record<string, Operation>> = {
  download: async (item) => {
    const mediaId = await mediaIdOf(item);
    const { media, binary } = await download(item.execution, mediaId, { itemIndex: item.itemIndex });
    return { json: media, binary: { [item.text('binaryProperty') ?? 'data']: binary } };
  },
  upload: (item) => upload(item, item.text('binaryProperty') ?? 'data'),
};
