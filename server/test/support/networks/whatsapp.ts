import assert from 'node:assert/strict';
import type { FakeNetwork, NetworkUnderTest, Site } from '../../conformance/connector.ts';
import { eventually } from '../eventually.ts';
import { startFakeWhatsapp } from '../fakeWhatsapp/index.ts';
import { wireIdOf } from './wireId.ts';

export const whatsappUnderTest: NetworkUnderTest = {
  connector: 'whatsapp',
  gaps: {
    template: 'texts that are approved before belong to the Cloud API',
    interactive: 'WhatsApp shows buttons and lists of the Cloud API alone',
  },

  async start(): Promise<FakeNetwork> {
    const whatsapp = await startFakeWhatsapp();
    whatsapp.trustMedia();
    const me = whatsapp.phone('15551000001', 'Me');
    const bob = whatsapp.phone('15551000002', 'Bob');
    // Tests confirm delivery themselves.
    bob.confirmsDelivery = false;
    const statusOf = async ({ call, sessionId }: Site) => (await call('GET', `/sessions/${sessionId}`)).body.status;
    const passUntil = (site: Site, isMet: (status: string) => boolean) =>
      eventually(async () => {
        // Reconnects wait by the clock of the server, which stands still.
        await site.clock.advance(1000);
        return statusOf(site);
      }, isMet);
    return {
      env: whatsapp.env,
      session: { options: { pauseMs: 0 } },
      somebody: bob.number,
      async link({ call, sessionId }) {
        const { body } = await call('GET', `/sessions/${sessionId}/qr`);
        await me.scan(body.qr);
      },
      arrived: async () =>
        bob.messages.all.flatMap(({ message }) => message.extendedTextMessage?.text ?? message.conversation ?? []),
      async write(_, { text, answers, times = 1, from }) {
        const sender = from === undefined ? bob : whatsapp.phone(from, 'Guest');
        const contextInfo = answers === undefined ? {} : { stanzaId: wireIdOf(answers), participant: me.lidJid };
        const id = await sender.send(me.number, { extendedTextMessage: { text, contextInfo } });
        for (let time = 1; time < times; time++)
          await sender.send(me.number, { extendedTextMessage: { text, contextInfo } }, { id });
      },
      async confirm(_, messageId, status) {
        assert.notEqual(status, 'failed', 'phones cannot report failures');
        const id = wireIdOf(messageId);
        await bob.messages.waitFor((message) => message.id === id);
        if (status === 'read') bob.read(me.number, id);
        else bob.confirmDelivery(me.number, id);
        // The session confirms a receipt once it is stored.
        await eventually(
          async () => me.haveConfirmed(id),
          (isHeard) => isHeard,
        );
      },
      async cut(site) {
        whatsapp.faults.refuseSockets(true);
        whatsapp.faults.drop(me.number);
        await eventually(
          () => statusOf(site),
          (status) => status !== 'connected',
        );
      },
      async mend(site) {
        whatsapp.faults.refuseSockets(false);
        await passUntil(site, (status) => status === 'connected');
      },
      close: whatsapp.close,
    };
  },
};
