import { DASHBOARD_HEADER } from '../dashboardHeader.ts';
import { LiveHub } from './hub.ts';

// The name of the worker is the account, so pages of another account have another worker.
const hub = new LiveHub(self.name, { baseUrl: location.origin, headers: DASHBOARD_HEADER });

// A shared worker gets one event for each page.
addEventListener('connect', (event) => {
  const [port] = event instanceof MessageEvent ? event.ports : [];
  if (port !== undefined) hub.serve(port);
});
