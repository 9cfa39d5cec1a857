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
export { type Capability, capabilities } from '../../server/src/connectors/capabilities.ts';
export * from '../../server/src/connectors/connector.ts';
export * from '../../server/src/connectors/history.ts';
export type * from '../../server/src/connectors/media.ts';
export * from '../../server/src/connectors/standing.ts';
export { AppError, type ErrorCode, errors, type FieldError, invalidField } from '../../server/src/errors.ts';
export type { GroupChange } from '../../server/src/events/networkTypes.ts';
