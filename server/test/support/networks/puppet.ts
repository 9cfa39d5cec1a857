import { Type } from 'typebox';
import type { Connection, Connector, OutgoingMessage, SessionHost } from '../../../src/connectors/connector.ts';

export const PUPPET_NUMBER = '4930123456';

/**
 * A network that does just what a test says. A server loads it by `CONNECTORS` with the path of this file, and shares it
 * with the tests of its process.
 */
export const puppet: {
  /** What the network does with a message. */
  send: Connection['send'];
  /** What happens before a connection is opened. */
  opening: () => Promise<void>;
  /** What happens after a connection is closed. */
  closing: () => Promise<void>;
  /** How many connections are open. */
  open: number;
  /** What a connection was opened with last. */
  host: SessionHost | undefined;
  /** Whose the next connection is. */
  phoneNumber: string;
} = {
  send: async () => ({ timestamp: Date.now() }),
  opening: async () => {},
  closing: async () => {},
  open: 0,
  host: undefined,
  phoneNumber: PUPPET_NUMBER,
};

export function createConnector(): Connector {
  return {
    name: 'puppet',
    options: Type.Object({}),
    messageTypes: ['text'],
    async open(host) {
      puppet.host = host;
      await puppet.opening();
      await host.onEvent({ type: 'connected', phoneNumber: puppet.phoneNumber });
      puppet.open++;
      return {
        send: (message: OutgoingMessage) => puppet.send(message),
        async close() {
          puppet.open--;
          await puppet.closing();
        },
        async logout() {
          puppet.open--;
        },
      };
    },
  };
}
