import assert from 'node:assert/strict';
import { startFakeGraph } from '../support/fakeGraph/fakeGraph.ts';
import { startFakeWhatsapp } from '../support/fakeWhatsapp/index.ts';
import type { Call, TestServer } from '../support/server.ts';

/* The surroundings of a page's commands: networks on this machine, and the people who use phones. */

interface Moment {
  /** The commands that have just run, and what they have printed. */
  readonly text: string;
  readonly printed: string;
  /** Calls the API with the key of the page. */
  readonly call: Call;
  readonly server: TestServer;
}

export interface Scene {
  /** Settings of the server. */
  readonly env?: Readonly<Record<string, string>>;
  /** Variables that a reader has, such as secrets of another company. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Whether the page itself shows how to get an account and a key. */
  readonly isFirst?: boolean;
  /** Does what the text asks of a person. Called once the page has a key. */
  after?(moment: Moment): Promise<void>;
  close?(): Promise<void>;
}

const scenes: Readonly<Record<string, () => Promise<Scene>>> = {
  'README.md': async () => ({ isFirst: true }),
  'docs/getting-started.md': async () => ({ ...(await withPhones()), isFirst: true }),
  'docs/whatsapp.md': withPhones,
  'docs/whatsapp-cloud.md': withGraph,
};

export const sceneOf = (file: string): Promise<Scene> => scenes[file]?.() ?? Promise.resolve({});

/** A WhatsApp network. Phones link the session whose code was printed. */
async function withPhones(): Promise<Scene> {
  const whatsapp = await startFakeWhatsapp();
  whatsapp.trustMedia();
  const owners = ['15550001000', '15550001001', '15550001002', '15550001003'].map((number) => whatsapp.phone(number));
  whatsapp.phone('491707654321', 'Ada');
  return {
    env: whatsapp.env,
    async after({ text, printed, call }) {
      const { body } = await call('GET', '/sessions');
      const waiting = body.data.filter(({ status }: { status: string }) => status === 'awaiting_pairing');
      const [, code] = /^([0-9A-Z]{4}-[0-9A-Z]{4})$/m.exec(printed) ?? [];
      if (code !== undefined) await whatsapp.phone('15550001234').enterCode(code.replace('-', ''));
      else if (/\/qr\b/.test(text))
        for (const { sessionId } of waiting) {
          const owner = owners.shift();
          assert.ok(owner, 'the page has more sessions than phones');
          await owner.scan((await call('GET', `/sessions/${sessionId}/qr`)).body.qr);
        }
    },
    async close() {
      await whatsapp.close();
      assert.deepEqual(whatsapp.troubles, []);
    },
  };
}

/** An app at Meta, which calls back at the session that was created. */
async function withGraph(): Promise<Scene> {
  const graph = await startFakeGraph();
  graph.catalog.add('sencha-100');
  const { phoneNumberId, token, appSecret, verifyToken } = graph.options;
  return {
    env: { WHATSAPP_CLOUD_URL: graph.url },
    variables: {
      PHONE_NUMBER_ID: phoneNumberId,
      META_TOKEN: token,
      APP_SECRET: appSecret,
      VERIFY_TOKEN: verifyToken,
    },
    async after({ call, server }) {
      const { body } = await call('GET', '/sessions');
      for (const { callbackUrl } of body.data) if (callbackUrl) graph.callBackAt(new URL(callbackUrl, server.url).href);
    },
    close: () => graph.close(),
  };
}
