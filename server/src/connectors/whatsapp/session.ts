import type { AuthenticationCreds } from 'baileys';
import type { Dispatcher } from 'undici';
import type { TargetPolicy } from '../../target.ts';
import type { SessionHost, SessionStore } from '../connector.ts';
import type { Link } from './link/link.ts';
import type { Baileys } from './link/load.ts';
import type { Requests } from './link/requests.ts';
import type { Self } from './people/self.ts';
import type { Reporter } from './reporter.ts';

/** The settings of all sessions. */
export interface NetworkSettings {
  /**
   * The server's URL; undefined for WhatsApp's own. Never set by an account, because only TLS authenticates the server.
   */
  readonly url: string | undefined;
  /** The client version that is reported; undefined for that of Baileys. */
  readonly version: readonly [number, number, number] | undefined;
  /** The host of files, with a port if it is not 443. */
  readonly mediaHost: string;
  /** Largest file of a message. */
  readonly maxFileBytes: number;
  /** The addresses that a proxy may have. */
  readonly targets: TargetPolicy;
  readonly keepAliveMs: number;
  readonly random: () => number;
}

/** The dependencies that all parts of a session share. */
export interface Session {
  readonly settings: NetworkSettings;
  readonly baileys: Baileys;
  readonly host: SessionHost;
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
