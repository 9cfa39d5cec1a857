import { createHmac } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { createWhatsappCloud } from '../../server/src/connectors/whatsapp-cloud/whatsappCloud.ts';
import { createTargetPolicy } from '../../server/src/egress/target.ts';
import { callbackBody, type Report } from '../../server/test/support/fakeGraph/callbacks.ts';
import { startFakeGraphs } from '../../server/test/support/fakeGraph/fakeGraph.ts';
import { type FakeNetwork, type TestSession, testConnector } from '../src/testing.ts';

/* A connector of the server passes the suite that third parties get. */

const SOMEBODY = '4915112345678';
/** More than any case makes. */
const ALL_REQUESTS = 100;

let graphs: Awaited<ReturnType<typeof startFakeGraphs>>;
before(async () => {
  graphs = await startFakeGraphs();
});
after(() => graphs.close());

const targets = createTargetPolicy({ host: '127.0.0.1', allowedCidrs: [] });

describe('the connector whatsapp-cloud', () => {
  testConnector(
    { describe, it },
    {
      createConnector: () =>
        createWhatsappCloud({ baseUrl: new URL(graphs.url), version: 'v26.0', maxFileBytes: 1_000_000, targets }),
      start,
      gaps: {
        nobody: 'the Cloud API tells only by a status who is on WhatsApp',
        sendingOnce: 'the Cloud API takes no id for a message',
      },
    },
  );
});

function start(): FakeNetwork {
  const graph = graphs.add();
  graph.confirm(false);
  const { appSecret, phoneNumberId } = graph.options;

  async function report(session: TestSession, ...reports: Report[]): Promise<boolean> {
    const body = callbackBody({ url: '', appSecret, phoneNumberId, displayNumber: '+1 555-010-0100' }, reports);
    const signature = createHmac('sha256', appSecret).update(body).digest('hex');
    const headers = { 'content-type': 'application/json', 'x-hub-signature-256': `sha256=${signature}` };
    return (await session.callBack({ headers, body })).status < 300;
  }

  return {
    options: graph.options,
    somebody: SOMEBODY,
    received: () => graph.sent.flatMap(({ body }) => body.text?.body ?? []),
    write: (session, { id, text }) =>
      report(session, {
        contacts: [{ profile: { name: 'Grace' }, wa_id: SOMEBODY }],
        messages: [{ from: SOMEBODY, id: `wamid.${id}`, timestamp: graph.now(), type: 'text', text: { body: text } }],
      }),
    async confirm(session, networkId, status) {
      const sent = graph.sent.find(({ id, body }) => [id, body.biz_opaque_callback_data].includes(networkId));
      if (sent === undefined) throw new Error(`the network has no ${networkId}`);
      await report(session, { statuses: [graph.statusOf(sent, status)] });
    },
    refuse: () => graph.failNext(...Array(ALL_REQUESTS).fill({ code: 131_026 })),
    hang: () => graph.failNext(...Array(ALL_REQUESTS).fill('slow')),
    cut: () => graph.setDown(true),
    restore: () => graph.setDown(false),
    stop: graph.release,
  };
}
