import { Type } from 'typebox';
import type { Connection } from '../../../src/connectors/contract/connection.ts';
import type { Connector } from '../../../src/connectors/contract/connector.ts';
import type { SessionHost } from '../../../src/connectors/contract/host.ts';
import type { OutgoingMessage } from '../../../src/connectors/contract/outgoing.ts';
import { callsOption } from '../../../src/connectors/socialOptions.ts';

export const PUPPET_NUMBER = '4930123456';

/**
 * A network whose behavior a test sets. A server loads it by `CONNECTORS` with the path of this file, and shares it
 * with the tests of its process.
 */
export const puppet: {
  /** How the network handles a message. */
  send: Connection['send'];
  /** Runs before a connection is opened. */
  opening: () => Promise<void>;
  /** Runs after a connection is closed. */
  closing: () => Promise<void>;
  /** The number of open connections. */
  open: number;
  /** The host of the last connection. */
  host: SessionHost | undefined;
  /** The number of the next connection. */
  phoneNumber: string;
  /** Optional parts of the next connections. */
  parts: Partial<Connection>;
  /** Whether the next servers take it for a network that reports without waiting. */
  reportsTogether: boolean;
} = {
  send: async () => ({ timestamp: Date.now() }),
  opening: async () => {},
  closing: async () => {},
  open: 0,
  host: undefined,
  phoneNumber: PUPPET_NUMBER,
  parts: {},
  reportsTogether: false,
};

export function createConnector(): Connector {
  return {
    name: 'puppet',
    options: Type.Object({ calls: callsOption }),
    messageTypes: ['text'],
    reportsTogether: puppet.reportsTogether,
    async open(host) {
      puppet.host = host;
      await puppet.opening();
      await host.onEvent({ type: 'connected', phoneNumber: puppet.phoneNumber });
      puppet.open++;
      return {
        ...puppet.parts,
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
