import { Type } from 'typebox';
import { capabilityNames } from '../../connectors/contract/capabilities.ts';
import { messageTypes } from '../../connectors/contract/content.ts';
import { boolean, integer, list, named, object, oneOf, openObject, orNull, string } from '../../invoke/input/fields.ts';
import { defineOperation } from '../../invoke/operation.ts';

const Connector = named('Connector', {
  name: string('Name to pass as `connector` when you create a session.'),
  isDefault: boolean('Whether new sessions use it if they name no connector.'),
  options: openObject(
    "JSON Schema of a session's `options`. Options that are `writeOnly` are secrets, which are never returned.",
  ),
  messageTypes: list(oneOf(messageTypes), 'Types of messages that its sessions can send.'),
  capabilities: orNull(
    Type.Array(oneOf(capabilityNames)),
    'Features of its sessions besides sending; null if the connector does not declare them.',
  ),
  takesCallbacks: boolean('Whether the network calls this server; its sessions then have a `callbackUrl`.'),
});

export const listConnectors = defineOperation({
  id: 'connectors.list',
  route: 'GET /connectors',
  permission: 'sessions:read',
  scope: 'none',
  effect: 'read',
  summary: 'List networks',
  description:
    "List the networks (connectors) that sessions can use, the default one first, with their options and message types. Also returns the server's size limit for files. The list is not paged.",
  input: {},
  output: object({
    data: list(Connector, 'All networks of this server.'),
    mediaMaxBytes: integer(
      'Largest file in bytes that can be uploaded or fetched from a `url`. A network can have a lower limit.',
      { minimum: 1 },
    ),
  }),
  async run({ sessions, settings: { defaultConnector, mediaMaxBytes } }) {
    const data = [...sessions.connectors.values()].map(
      ({ name, options, messageTypes: types, capabilities, takesCallbacks }) => ({
        name,
        isDefault: name === defaultConnector,
        options,
        messageTypes: messageTypes.filter((type) => types.includes(type)),
        capabilities: capabilities === undefined ? null : [...capabilities],
        takesCallbacks: takesCallbacks === true,
      }),
    );
    return { data: data.toSorted((one, other) => Number(other.isDefault) - Number(one.isDefault)), mediaMaxBytes };
  },
});
