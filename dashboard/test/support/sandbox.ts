import { type Call, connectSession } from '../../../server/test/support/server.ts';

export const FRIEND = '491700000007';

/** Connects a session, and returns functions that play its other side. */
export async function openSandbox(call: Call) {
  const sessionId = await connectSession(call);
  return {
    sessionId,
    simulate: (action: object) => call('POST', `/sessions/${sessionId}/simulate`, action),
    write: (message: string, from = FRIEND) =>
      call('POST', `/sessions/${sessionId}/simulate`, { action: 'incoming', from, message }),
    messages: async (query = '') => (await call('GET', `/messages?sessionId=${sessionId}${query}`)).body.data,
  };
}

/** Sends messages to a session. */
export async function writeIn(call: Call, sessionId: string, ...messages: string[]): Promise<void> {
  for (const message of messages)
    await call('POST', `/sessions/${sessionId}/simulate`, { action: 'incoming', from: FRIEND, message });
}
