import { Type } from 'typebox';
import { messageTypes } from '../connectors/connector.ts';
import { defineOperation } from '../invoke/operation.ts';

const Connector = Type.Object(
  {
    name: Type.String({ description: 'What `connector` of a session says.' }),
    isDefault: Type.Boolean({ description: 'Whether sessions live on it that name none.' }),
    options: Type.Object(
      {},
      {
        additionalProperties: true,
        description: "JSON Schema of a session's `options`. Those that are `writeOnly` are never returned.",
      },
    ),
    messageTypes: Type.Array(Type.Enum([...messageTypes]), { description: 'The kinds of messages it can send.' }),
    takesCallbacks: Type.Boolean({
      description: 'Whether the network calls this server: its sessions have a `callbackUrl`.',
    }),
  },
  { title: 'Connector' },
);

export const listConnectors = defineOperation({
  id: 'connectors.list',
  method: 'GET',
  path: '/connectors',
  credential: 'any',
  permission: 'sessions:read',
  effect: 'read',
  tool: false,
  summary: 'List the networks that a session can live on',
  description: 'The default one first. All of them: there are few. With them, how large a file the server takes.',
  input: Type.Object({}, { additionalProperties: false }),
  output: Type.Object({
    data: Type.Array(Connector),
    mediaMaxBytes: Type.Integer({
      minimum: 1,
      description: 'How large a file may be that is uploaded, or fetched from a `url`. A network may take less.',
    }),
  }),
  errors: [],
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
