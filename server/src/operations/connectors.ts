import { Type } from 'typebox';
import { messageTypes } from '../connectors/connector.ts';
import { strictObject } from '../invoke/fields.ts';
import { defineOperation } from '../invoke/operation.ts';

const Connector = Type.Object(
  {
    name: Type.String({ description: 'Name to pass as `connector` when you create a session.' }),
    isDefault: Type.Boolean({ description: 'Whether new sessions use it if they name no connector.' }),
    options: Type.Object(
      {},
      {
        additionalProperties: true,
        description:
          "JSON Schema of a session's `options`. Options that are `writeOnly` are secrets, which are never returned.",
      },
    ),
    messageTypes: Type.Array(Type.Enum([...messageTypes]), {
      description: 'Types of messages that its sessions can send.',
    }),
    takesCallbacks: Type.Boolean({
      description: 'Whether the network calls this server; its sessions then have a `callbackUrl`.',
    }),
  },
  { title: 'Connector' },
);

export const listConnectors = defineOperation({
  id: 'connectors.list',
  method: 'GET',
  path: '/connectors',
  permission: 'sessions:read',
  effect: 'read',
  summary: 'List networks',
  description:
    "List the networks (connectors) that sessions can use, the default one first, with their options and message types. Also returns the server's size limit for files. The list is not paged.",
  input: strictObject({}),
  output: Type.Object({
    data: Type.Array(Connector, { description: 'All networks of this server.' }),
    mediaMaxBytes: Type.Integer({
      minimum: 1,
      description:
        'Largest file in bytes that can be uploaded or fetched from a `url`. A network can have a lower limit.',
    }),
  }),
  async run({ sessions, settings: { defaultConnector, mediaMaxBytes } }) {
    const data = [...sessions.connectors.values()].map(({ name, options, messageTypes: types, takesCallbacks }) => ({
      name,
      isDefault: name === defaultConnector,
      options,
      messageTypes: [...types],
      takesCallbacks: takesCallbacks === true,
    }));
    return { data: data.toSorted((one, other) => Number(other.isDefault) - Number(one.isDefault)), mediaMaxBytes };
  },
});
