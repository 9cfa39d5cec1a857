import type { Connector } from '../contract/connector.ts';
import { cloudMediaRules } from '../mediaRules.ts';
import { cloudCapabilities, cloudMessageTypes } from './capabilities.ts';
import type { GraphSettings } from './graph.ts';
import { CloudOptions } from './options.ts';
import { nameUser, storedPerson } from './storedPeople.ts';

/** WhatsApp through Meta's Cloud API (https://developers.facebook.com/docs/whatsapp/cloud-api). */
export function createWhatsappCloud(settings: GraphSettings): Connector {
  return {
    name: 'whatsapp-cloud',
    options: CloudOptions,
    messageTypes: cloudMessageTypes,
    capabilities: cloudCapabilities,
    mediaRules: cloudMediaRules,
    takesCallbacks: true,
    isForBusinesses: true,
    personOf: storedPerson,
    nameUser,
    async takeOfflineCallback(request, session) {
      const { takeOfflineCallback } = await import('./inbound/offline.ts');
      return takeOfflineCallback(request, session);
    },
    async open(host) {
      const { CloudConnection } = await import('./connection.ts'); // loads an HTTP client that other networks do not need
      const connection = new CloudConnection(host, settings);
      await connection.open();
      return connection;
    },
  };
}
