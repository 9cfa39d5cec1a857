import assert from 'node:assert/strict';
import { eventually } from '../eventually.ts';
import { picture, upload } from '../media/media.ts';
import { type Call, connectSession, type TestServer } from '../server.ts';
import { CHAT, type Side } from './operationInputs.ts';

/** Creates a session with one of everything. The account needs a webhook for `message.sent`. */
export async function createSide(
  server: TestServer,
  { call, token }: { call: Call; token: string },
  name: string,
): Promise<Side> {
  const sessionId = await connectSession(call);
  const send = async (path: string, fields: object) => {
    const { status, body } = await call('POST', path, { sessionId, ...fields });
    assert.equal(status, 201, JSON.stringify(body));
    return body;
  };
  const { messageId } = await send('/messages/send', { to: CHAT, message: `text of ${name}` });
  const { mediaId } = (await upload(server, token, picture())).body;
  await send('/messages/send-media', { to: CHAT, type: 'image', mediaId });
  await call('POST', `/sessions/${sessionId}/simulate`, { action: 'incoming', from: CHAT, message: `to ${name}` });
  const bulk = { sessionId, to: [CHAT], message: `all of ${name}` };
  const { batchId } = (await call('POST', '/messages/send-bulk', bulk)).body;
  const { groupId } = await send('/groups', { subject: `group of ${name}`, phoneNumbers: [CHAT] });
  const { statusId } = await send('/status', { message: `status of ${name}`, phoneNumbers: [CHAT] });
  const { channelId } = await send('/channels', { name: `channel of ${name}` });
  const { templateId } = await send(`/sessions/${sessionId}/templates`, {
    name: `template_of_${name}`,
    language: 'en',
    category: 'utility',
    components: [{ type: 'BODY', text: 'Hello' }],
  });
  const [delivery] = (await call('GET', `/webhooks/deliveries?messageId=${messageId}`)).body.data;
  // Once nothing is on its way, nothing of the session changes by itself.
  await eventually(
    () => call('GET', `/messages?sessionId=${sessionId}`),
    ({ body }) =>
      body.data.some(({ direction }: { direction: string }) => direction === 'incoming') &&
      body.data.every(({ status }: { status: string }) => status === 'delivered'),
  );
  await eventually(
    () => call('GET', `/batches/${batchId}`),
    ({ body }) => body.status === 'completed',
  );
  return {
    sessionId,
    messageId,
    batchId,
    groupId,
    mediaId,
    deliveryId: delivery.deliveryId,
    statusId,
    channelId,
    templateId,
  };
}
