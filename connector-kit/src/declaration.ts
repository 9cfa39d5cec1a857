import assert from 'node:assert/strict';
import { capabilityNames, capabilityOf } from '../../server/src/connectors/contract/capabilities.ts';
import type { Connection } from '../../server/src/connectors/contract/connection.ts';
import type { Connector } from '../../server/src/connectors/contract/connector.ts';
import { messageTypes } from '../../server/src/connectors/contract/content.ts';

/* Checks the declaration of a connector, and the members of its connections. */

export function assertDeclaration({
  name,
  options,
  messageTypes: types,
  capabilities: can = [],
  open,
}: Connector): void {
  assert.match(name, /^[a-z][a-z0-9-]{0,49}$/, '`name` has lower-case letters, digits and dashes');
  assert.equal(typeof open, 'function', '`open` is a function');
  assert.ok(types.length > 0, '`messageTypes` is not empty');
  const known: readonly string[] = messageTypes;
  for (const type of types) assert.ok(known.includes(type), `\`messageTypes\` has the unknown type ${type}`);
  for (const each of can)
    assert.ok(capabilityNames.includes(each), `\`capabilities\` has the unknown capability ${each}`);
  assert.equal(options.type, 'object', '`options` is a JSON Schema of the type `object`');
  const { properties, required = [] } = options;
  for (const each of required) assert.ok(Object.hasOwn(properties, each), `the required option ${each} is defined`);
  for (const [option, schema] of Object.entries(properties)) assertOption(option, schema);
}

const TYPES = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'];

function assertOption(name: string, schema: { type?: unknown; pattern?: unknown; writeOnly?: unknown }): void {
  const { type, pattern, writeOnly } = schema;
  const alternatives = ['enum', 'const', 'anyOf', 'oneOf', '$ref'].some((keyword) => keyword in schema);
  const named = [type].flat();
  assert.ok(alternatives || named.every((each) => TYPES.includes(String(each))), `the option ${name} has a type`);
  if (typeof pattern === 'string')
    assert.doesNotThrow(() => new RegExp(pattern, 'u'), `the pattern of ${name} is valid`);
  assert.ok(['boolean', 'undefined'].includes(typeof writeOnly), `\`writeOnly\` of the option ${name} is a boolean`);
}

/** Checks that options are as the schema says: names and basic types. */
export function assertOptions({ options: schema }: Connector, given: Readonly<Record<string, unknown>>): void {
  const { properties, required = [], additionalProperties } = schema;
  for (const each of required) assert.ok(Object.hasOwn(given, each), `the fake network sets the option ${each}`);
  for (const [name, value] of Object.entries(given)) {
    const option: { type?: unknown } | undefined = properties[name];
    assert.ok(option !== undefined || additionalProperties !== false, `the connector has the option ${name}`);
    const expected = [option?.type].flat().map((type) => (type === 'integer' ? 'number' : type));
    const type = Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value;
    assert.ok(expected.includes(undefined) || expected.includes(type), `the option ${name} is of its type`);
  }
}

const methods = [
  'send',
  'close',
  'logout',
  'takeCallback',
  'markRead',
  'setTyping',
  'react',
  'edit',
  'vote',
  'remove',
  'retry',
  'numberOf',
  'checkNumbers',
  'setBlocked',
  'saveContact',
  'preflight',
  'requestPairingCode',
  'simulate',
  'requestHistory',
  'openRemoteFile',
  'star',
  'removeForMe',
  'pin',
  'setDisappearing',
  'previewInvite',
  'removeAsAdmin',
  'linkedDevices',
  'lookUpPeople',
  'setPresence',
  'followPresence',
  'rejectCall',
] as const satisfies readonly (keyof Connection)[];
const needed: readonly string[] = ['send', 'close', 'logout'];
const actions = {
  groups: [
    'create',
    'setSubject',
    'setDescription',
    'setSettings',
    'setPicture',
    'updateParticipants',
    'invite',
    'renewInvite',
    'join',
    'leave',
  ],
  profiles: ['read', 'update'],
  chats: ['update', 'clear', 'remove'],
  labels: ['put', 'remove', 'setOnChat', 'setOnMessage'],
  joinRequests: ['list', 'decide'],
  communities: ['create', 'groups', 'link', 'unlink'],
  privacy: ['read', 'update'],
  business: ['profile', 'catalog', 'collections'],
  templates: ['list', 'get', 'create', 'update', 'remove'],
  status: ['post', 'remove', 'markViewed'],
  channels: ['list', 'find', 'follow', 'unfollow', 'setMuted', 'create', 'post', 'posts', 'react'],
} as const satisfies { [K in keyof Connection]?: readonly (keyof NonNullable<Connection[K]>)[] };

// The keys of an object literal are known.
const groupsOfActions = Object.keys(actions) as (keyof typeof actions)[];

export function assertMembers(connection: Connection, { takesCallbacks, capabilities: declared }: Connector): void {
  for (const name of methods) {
    const isMissing = connection[name] === undefined && !needed.includes(name);
    assert.ok(isMissing || typeof connection[name] === 'function', `\`${name}\` of the connection is a function`);
  }
  for (const [part, names] of Object.entries(actions)) {
    const members: Readonly<Record<string, unknown>> | undefined = connection[part as keyof typeof actions] as never;
    if (members === undefined) continue;
    // Callers get `not_supported` only where the whole part is missing.
    for (const name of names) assert.equal(typeof members[name], 'function', `\`${part}.${name}\` is a function`);
  }
  for (const part of [...methods, ...groupsOfActions]) {
    const name = capabilityOf(part);
    if (name !== undefined && declared?.includes(name))
      assert.ok(connection[part], `the connection has \`${part}\`, because \`capabilities\` has ${name}`);
  }
  if (declared?.includes('own_profile'))
    assert.ok(connection.profiles?.readOwn, 'the profiles have `readOwn`, because `capabilities` has own_profile');
  if (declared?.includes('group_delete'))
    assert.ok(connection.groups?.remove, 'the groups have `remove`, because `capabilities` has group_delete');
  const has = connection.takeCallback !== undefined;
  assert.equal(has, takesCallbacks === true, '`takesCallbacks` is set exactly if connections have `takeCallback`');
  assertSpelling(connection);
}

/** A member with a typing error would be missing without anybody noticing. */
function assertSpelling(connection: Connection): void {
  const known = [...methods, ...groupsOfActions, 'attempt'];
  const plain = (name: string) => name.toLowerCase().replaceAll('_', '');
  for (const name of Object.keys(connection)) {
    const meant = known.find((each) => plain(each) === plain(name));
    assert.ok(meant === undefined || meant === name, `\`${name}\` is spelled \`${meant}\``);
  }
}
