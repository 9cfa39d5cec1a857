/**
 * The interface between Switchboard and a connector, which links it to a messaging network.
 *
 * ```ts
 * import { AppError, type Connector, type ConnectorTools } from '@switchboard/connector-kit';
 *
 * export function createConnector({ clock, log }: ConnectorTools): Connector { … }
 * ```
 */

export type { Clock } from '../../server/src/clock.ts';
export type * from '../../server/src/connectors/contract/account.ts';
export type * from '../../server/src/connectors/contract/business.ts';
export type * from '../../server/src/connectors/contract/callbacks.ts';
export * from '../../server/src/connectors/contract/calls.ts';
export { type Capability, capabilities } from '../../server/src/connectors/contract/capabilities.ts';
export type * from '../../server/src/connectors/contract/channels.ts';
export type * from '../../server/src/connectors/contract/chatActions.ts';
export type * from '../../server/src/connectors/contract/connection.ts';
export * from '../../server/src/connectors/contract/connector.ts';
export * from '../../server/src/connectors/contract/content.ts';
export * from '../../server/src/connectors/contract/contentParts.ts';
export type * from '../../server/src/connectors/contract/events.ts';
export type * from '../../server/src/connectors/contract/groupActions.ts';
export type * from '../../server/src/connectors/contract/groups.ts';
export * from '../../server/src/connectors/contract/history.ts';
export type * from '../../server/src/connectors/contract/host.ts';
export type * from '../../server/src/connectors/contract/media.ts';
export type * from '../../server/src/connectors/contract/messageKey.ts';
export type * from '../../server/src/connectors/contract/networkMedia.ts';
export type * from '../../server/src/connectors/contract/outgoing.ts';
export * from '../../server/src/connectors/contract/people.ts';
export * from '../../server/src/connectors/contract/presence.ts';
export type * from '../../server/src/connectors/contract/profiles.ts';
export * from '../../server/src/connectors/contract/standing.ts';
export type * from '../../server/src/connectors/contract/status.ts';
export { AppError, type ErrorCode, errors, type FieldError, invalidField } from '../../server/src/errors.ts';
export type { GroupChange, MessageType } from '../../server/src/events/networkTypes.ts';
