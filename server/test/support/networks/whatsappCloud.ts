import assert from 'node:assert/strict';
import type { FakeNetwork, NetworkUnderTest, Site } from '../../conformance/connector.ts';
import { eventually } from '../eventually.ts';
import { startFakeGraph } from '../fakeGraph/fakeGraph.ts';

const SOMEBODY = '4915112345678';

export const whatsappCloudUnderTest: NetworkUnderTest = {
  connector: 'whatsapp-cloud',
  gaps: {
    poll: 'the Cloud API has no polls',
    event: 'the Cloud API has no events',
    edit: 'the Cloud API cannot change what was sent',
    remove: 'the Cloud API cannot take back what was sent',
    checkNumbers: 'the Cloud API tells only by sending who is on WhatsApp',
    addMembers: 'people join groups of the Cloud API with an invite link',
    requestPairingCode: 'there is no device to link',
    readProfile: 'the Cloud API shows no profiles of others',
    removePicture: 'the Cloud API can replace a picture, and not remove it',
  },

  async start(): Promise<FakeNetwork> {
    const graph = await startFakeGraph();
    graph.confirm(false);
    const sentAs = (messageId: string) => {
      const sent = graph.sent.find(({ body }) => body.biz_opaque_callback_data === messageId);
      return sent ?? assert.fail(`the network has no ${messageId}`);
    };
    const isConnected = async ({ call, sessionId }: Site) =>
      (await call('GET', `/sessions/${sessionId}`)).body.status === 'connected';
    const passUntilConnected = (site: Site, wanted: boolean) =>
      eventually(
        async () => {
          await site.clock.advance(30_000);
          return isConnected(site);
        },
        (is) => is === wanted,
      );
    return {
      env: { WHATSAPP_CLOUD_URL: graph.url },
      session: { options: graph.options },
      somebody: SOMEBODY,
      attach: ({ server, callbackUrl }) => graph.callBackAt(`${server.url}${callbackUrl}`),
      arrived: async () => graph.sent.flatMap(({ body }) => body.text?.body ?? []),
      async write(_, { text, answers, times = 1, from = SOMEBODY }) {
        const id = graph.newId();
        const context = answers !== undefined && { context: { id: sentAs(answers).id } };
        for (let time = 0; time < times; time++)
          await graph.incoming(from, { type: 'text', text: { body: text }, ...context }, { id });
      },
      async confirm(_, messageId, status) {
        const more = status === 'failed' ? graph.failure(131026, 'Message undeliverable') : {};
        assert.equal(await graph.post({ statuses: [graph.statusOf(sentAs(messageId), status, more)] }), 200);
      },
      async cut(site) {
        graph.setDown(true);
        await passUntilConnected(site, false);
      },
      async mend(site) {
        graph.setDown(false);
        await passUntilConnected(site, true);
      },
      close: graph.close,
    };
  },
};
