import { Type } from 'typebox';
import type { Settings } from '../../config.ts';
import type { Connector } from '../contract/connector.ts';
import { historyOptions } from '../historyOptions.ts';
import { whatsappMediaRules } from '../mediaRules.ts';
import { WARM_UP } from '../sendBudget.ts';
import { callsOption, channelsOption, statusesOption } from '../socialOptions.ts';
import { whatsappCapabilities, whatsappMessageTypes } from './capabilities.ts';
import { checkProxy, PROXY_PATTERN } from './link/proxyUrl.ts';
import { WebVersions } from './link/webVersion.ts';
import { toWireId } from './outbound/messageIds.ts';
import { jidOfChat } from './people/addresses.ts';
import { storedPerson } from './people/storedPeople.ts';
import type { NetworkSettings } from './session.ts';

const PAUSE_MS = 1500;
const NEW_CHATS_PER_DAY = 50;

/** WhatsApp as a linked device, with the client Baileys. */
export function createWhatsapp({
  whatsappVersion,
  ...others
}: Omit<NetworkSettings, 'versions'> & Pick<Settings, 'whatsappVersion'>): Connector {
  const settings: NetworkSettings = { ...others, versions: new WebVersions(whatsappVersion, others.whatsappUrl) };
  return {
    name: 'whatsapp',
    reportsTogether: true,
    options: Type.Object(
      {
        proxy: Type.Optional(
          Type.String({
            pattern: PROXY_PATTERN,
            maxLength: 500,
            writeOnly: true,
            description:
              'URL of a proxy: http://, https:// or socks5://, with a name and password if it requires them. Its address must be public, like that of a webhook.',
          }),
        ),
        pauseMs: Type.Optional(
          Type.Integer({
            minimum: 0,
            maximum: 60_000,
            description: `Milliseconds between two messages, on average. Default: ${PAUSE_MS}. Numbers that send without pauses get banned.`,
          }),
        ),
        ...historyOptions,
        newChatsPerDay: Type.Optional(
          Type.Integer({
            minimum: 0,
            maximum: 10_000,
            description: `How many chats the session may start in 24 hours. Default: ${NEW_CHATS_PER_DAY}.`,
          }),
        ),
        warmUp: Type.Optional(Type.Boolean({ description: WARM_UP })),
        calls: callsOption,
        statuses: statusesOption,
        channels: channelsOption,
      },
      { additionalProperties: false },
    ),
    addressOf: jidOfChat,
    messageIdOf: toWireId,
    personOf: storedPerson,
    messageTypes: whatsappMessageTypes,
    capabilities: whatsappCapabilities,
    mediaRules: whatsappMediaRules,
    checkOptions({ proxy }) {
      if (typeof proxy === 'string') checkProxy(proxy, settings.targets);
    },
    async open(host) {
      const { proxy, pauseMs = PAUSE_MS, newChatsPerDay = NEW_CHATS_PER_DAY, warmUp } = host.options;
      // Validated against the schema above when they were set.
      const pacing = { pauseMs: Number(pauseMs), newChatsPerDay: Number(newChatsPerDay), warmUp: warmUp === true };
      const { openConnection } = await import('./connection.ts'); // loads a client that other networks do not need
      return openConnection(host, settings, pacing, typeof proxy === 'string' ? proxy : undefined);
    },
  };
}
