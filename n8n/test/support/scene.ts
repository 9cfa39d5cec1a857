import { after, before } from 'node:test';
import {
  type Call,
  connectSession,
  newNumber,
  startServer,
  type TestServer,
} from '../../../server/test/support/server.ts';
import type { Credential } from './contexts.ts';

export interface Scene {
  readonly server: TestServer;
  readonly call: Call;
  readonly credential: Credential;
  readonly sessionId: string;
  /** A phone number that is not a session. */
  readonly friend: string;
  /** Plays the other side of the session. */
  simulate(action: object): Promise<void>;
}

/** Starts a server with an account, a key and a connected sandbox session, for all tests of a suite. */
export function newScene(): () => Scene {
  let scene: Scene | undefined;
  before(async () => {
    const server = await startServer();
    const { call } = await server.account();
    const { body } = await call('POST', '/api-keys/create', { name: 'n8n' });
    const sessionId = await connectSession(call);
    scene = {
      server,
      call,
      credential: { baseUrl: `${server.url}/`, apiKey: body.key },
      sessionId,
      friend: newNumber(),
      async simulate(action) {
        const simulated = await call('POST', `/sessions/${sessionId}/simulate`, action);
        if (simulated.status !== 200) throw new Error(JSON.stringify(simulated.body));
      },
    };
  });
  after(async () => scene?.server.stop());
  return () => {
    if (scene === undefined) throw new Error('The scene starts before the tests');
    return scene;
  };
}

/** Uploads a file. @returns its id */
export async function uploadedTo({ baseUrl, apiKey }: Credential, file: Buffer): Promise<string> {
  const response = await fetch(`${baseUrl}api/v1/media`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/octet-stream' },
    body: new Uint8Array(file),
  });
  return ((await response.json()) as { mediaId: string }).mediaId;
}
