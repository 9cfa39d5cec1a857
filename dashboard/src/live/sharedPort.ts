import { DASHBOARD_HEADER } from '../dashboardHeader.ts';
import workerUrl from './worker.ts?sharedworker&url';

/** A connection to the hub of the account. */
export interface HubPort {
  readonly port: MessagePort;
  readonly close: () => void;
}

/** Opens a connection to the worker that all pages of the account share. */
export function openSharedPort(accountId: string, onFailure: () => void): HubPort {
  const worker = new SharedWorker(trusted(workerUrl), { type: 'module', name: accountId });
  worker.onerror = onFailure;
  return { port: worker.port, close: () => worker.port.close() };
}

/** Opens a connection to a hub in this page, for browsers without shared workers, such as some mobile browsers. */
export async function openOwnPort(accountId: string): Promise<HubPort> {
  const { LiveHub } = await import('./hub.ts');
  const hub = new LiveHub(accountId, { baseUrl: location.origin, headers: DASHBOARD_HEADER });
  const { port1, port2 } = new MessageChannel();
  hub.serve(port1);
  return {
    port: port2,
    close() {
      port2.close();
      hub.stop();
    },
  };
}

/** The part of https://w3c.github.io/trusted-types/ that is needed here. Some browsers lack it. */
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL: (url: string) => string },
  ): {
    createScriptURL(url: string): string;
  };
}

/** The content security policy of the page allows only this policy, which lets only the worker pass. */
const policy = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes?.createPolicy('live-worker', {
  createScriptURL(url) {
    if (url !== workerUrl) throw new TypeError(`${url} is not the worker for events`);
    return url;
  },
});

function trusted(url: string): string {
  return policy?.createScriptURL(url) ?? url;
}
