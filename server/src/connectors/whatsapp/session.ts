import type { AuthenticationCreds } from 'baileys';
import type { Dispatcher } from 'undici';
import type { Settings } from '../../config.ts';
import type { TargetPolicy } from '../../egress/target.ts';
import type { SessionHost, SessionStore } from '../contract/host.ts';
import type { BaileysLogger } from './link/baileysLog.ts';
import type { Link } from './link/link.ts';
import type { Baileys } from './link/load.ts';
import type { Requests } from './link/requests.ts';
import type { WebVersions } from './link/webVersion.ts';
import type { Self } from './people/self.ts';
import type { Reporter } from './reporter.ts';

type Setting = 'whatsappUrl' | 'whatsappMediaHost' | 'whatsappKeepAliveSeconds' | 'mediaMaxBytes';

/** The settings of all sessions. An account never sets `whatsappUrl`, because only TLS authenticates the server. */
export interface NetworkSettings extends Pick<Settings, Setting> {
  /** The addresses that a proxy may have. */
  readonly targets: TargetPolicy;
  readonly random: () => number;
  readonly versions: WebVersions;
}

/** The dependencies that all parts of a session share. */
export interface Session {
  readonly settings: NetworkSettings;
  readonly baileys: Baileys;
  readonly host: SessionHost;
  /** Log for Baileys, which limits equal lines of all sockets and messages together. */
  readonly baileysLog: BaileysLogger;
  /** The store of the host, until the connection ends (see `store.ts`). */
  readonly store: SessionStore;
  readonly creds: AuthenticationCreds;
  readonly self: Self;
  readonly link: Link;
  readonly requests: Requests;
  readonly reporter: Reporter;
  /** Fetches the files of messages, from the media host only (see `pinnedHosts.ts`). */
  readonly files: Dispatcher;
  /** Fetches pictures, history, and state that the devices of an account share, from WhatsApp's own hosts only. */
  readonly ownFiles: Dispatcher;
}
