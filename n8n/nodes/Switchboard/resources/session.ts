import type { INodeProperties } from 'n8n-workflow';
import { limit, returnAll, session, shownFor } from '../shared/fields.ts';
import type { Operation } from '../shared/itemCall.ts';
import { fetchApi, path } from '../shared/transport.ts';

/* Sessions. */

export const sessionProperties: INodeProperties[] = [
  {
    displayName: 'Operation',
    name: 'operation',
    type: 'options',
    noDataExpression: true,
    displayOptions: { show: { resource: ['session'] } },
    options: [
      { name: 'Get', value: 'get', action: 'Get a session', description: 'Get a session with its status' },
      { name: 'Get Many', value: 'getAll', action: 'Get many sessions', description: 'List sessions' },
      {
        name: 'Get QR Code',
        value: 'getQr',
        action: 'Get the QR code of a session',
        description: 'Get the QR code to scan with the phone',
      },
    ],
    default: 'getAll',
  },
  ...shownFor('session', ['get', 'getQr'], [{ ...session, required: true, description: 'Session to look up' }]),
  ...shownFor(
    'session',
    ['getQr'],
    [
      {
        displayName: 'Put Output File in Field',
        name: 'binaryProperty',
        type: 'string',
        default: 'data',
        required: true,
        hint: 'The name of the output field to put the image in',
      },
    ],
  ),
  ...shownFor('session', ['getAll'], [returnAll, limit]),
];

export const sessionOperations: Readonly<Record<string, Operation>> = {
  get: (item) => item.call({ path: path`/sessions/${item.required('sessionId', 'Session')}` }),
  getAll: (item) => item.listAll('/sessions', {}),
  getQr: async (item) => {
    const { execution, itemIndex } = item;
    const route = path`/sessions/${item.required('sessionId', 'Session')}/qr`;
    const qr = await item.call({ path: route });
    const { body } = await fetchApi<ArrayBuffer>(execution, {
      path: route,
      headers: { Accept: 'image/png' },
      encoding: 'arraybuffer',
      itemIndex,
    });
    const binary = await execution.helpers.prepareBinaryData(Buffer.from(body), 'qr.png', 'image/png');
    return { json: qr, binary: { [item.text('binaryProperty') ?? 'data']: binary } };
  },
};
