import type { Authenticator } from '../auth/authenticate.ts';
import type { KeyChanges } from '../auth/keyChanges.ts';
import type { LoginDevices } from '../auth/loginDevices.ts';
import type { LoginLimit } from '../auth/loginLimit.ts';
import type { PasswordRules } from '../auth/passwordRules.ts';
import type { PasswordHasher } from '../auth/passwords.ts';
import type { RequestLimits } from '../auth/requestLimits.ts';
import type { LoginTokens } from '../auth/tokens.ts';
import type { WaitingCalls } from '../auth/waitingCalls.ts';
import type { Clock } from '../clock.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Forward } from '../cluster/forward.ts';
import type { Settings } from '../config.ts';
import type { Database } from '../db/database.ts';
import type { OutgoingConnections } from '../egress/outgoing.ts';
import type { TargetPolicy } from '../egress/target.ts';
import type { AddFields } from '../events/addedFields.ts';
import type { NewId } from '../ids.ts';
import type { Deletions } from '../jobs/deletions.ts';
import type { Log } from '../log.ts';
import type { LinkPreviews } from '../media/linkPreviews.ts';
import type { MediaLinks } from '../media/links.ts';
import type { Media } from '../media/media.ts';
import type { Preparation } from '../media/preparation.ts';
import type { Previews } from '../media/previews.ts';
import type { MediaRemoval } from '../media/removal.ts';
import type { Metrics } from '../metrics.ts';
import type { OAuth } from '../oauth/oauth.ts';
import { namesOf } from '../objects.ts';
import type { Posts } from '../sending/posts.ts';
import type { Sender } from '../sending/sender.ts';
import type { FollowedPresences } from '../sessions/followedPresences.ts';
import type { LiveSessions } from '../sessions/liveSessions.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { SteadyClock } from '../steadyClock.ts';
import type { Deliver } from '../webhooks/delivery/deliver.ts';
import type { CallbackVerifier } from '../webhooks/endpoints/callbackVerifier.ts';
import type { SubscriptionKeeper } from '../webhooks/endpoints/subscriptionKeeper.ts';
import type { Engine } from '../webhooks/lanes/engine.ts';
import type { Emit } from '../webhooks/log/emit.ts';
import type { EventLog } from '../webhooks/log/eventLog.ts';
import type { Feed } from '../webhooks/log/feed.ts';

/** The services of every operation: settings, storage, time, and the sessions that its input refers to. */
export interface CommonServices {
  readonly settings: Settings;
  readonly database: Database;
  /** The time of day. */
  readonly clock: Clock;
  /** The clock for order and waiting. */
  readonly steady: SteadyClock;
  readonly newId: NewId;
  readonly log: Log;
  readonly sessions: Sessions;
  readonly liveSessions: LiveSessions;
}

/** The services that an operation declares with `uses`. */
interface DeclaredServices {
  readonly authenticator: Authenticator;
  readonly keyChanges: KeyChanges;
  readonly tokens: LoginTokens;
  readonly waitingCalls: WaitingCalls;
  readonly loginLimit: LoginLimit;
  readonly devices: LoginDevices;
  readonly passwords: PasswordHasher;
  readonly passwordRules: PasswordRules;
  /** Undefined if `MCP_OAUTH` is off. */
  readonly oauth: OAuth | undefined;

  readonly sender: Sender;
  readonly posts: Posts;
  readonly followedPresences: FollowedPresences;

  readonly media: Media;
  readonly links: MediaLinks;
  readonly previews: Previews;
  readonly linkPreviews: LinkPreviews;
  readonly preparation: Preparation;
  readonly removal: MediaRemoval;

  readonly emit: Emit;
  readonly eventLog: EventLog;
  /** For reads of some event types, which may scan all events of the account. */
  readonly filteredEventLog: EventLog;
  readonly addFields: AddFields;
  readonly feed: Feed;

  readonly engine: Engine;
  readonly deliver: Deliver;
  readonly targets: TargetPolicy;
  readonly outgoing: OutgoingConnections;
  /** For the callbacks of subscriptions. */
  readonly callbackVerifier: CallbackVerifier;
  readonly subscriptionKeeper: SubscriptionKeeper;

  readonly deletions: Deletions;
}

/** The services of routes and the invoker. No operation gets them. */
interface ServerServices {
  readonly cluster: Cluster;
  readonly forward: Forward;
  readonly metrics: Metrics;
  readonly requestLimits: RequestLimits;
}

export type DeclaredService = keyof DeclaredServices;

/** Everything that operations and routes use. Built once, by `app.ts`. */
export interface Services extends CommonServices, DeclaredServices, ServerServices {}

/** The services that every operation may use, and those with these names. */
export type ServicesWith<U extends DeclaredService> = CommonServices & Pick<DeclaredServices, U>;

const COMMON = {
  settings: true,
  database: true,
  clock: true,
  steady: true,
  newId: true,
  log: true,
  sessions: true,
  liveSessions: true,
} satisfies Record<keyof CommonServices, true>;

/** Returns the services of an operation, and no others. */
export function servicesFor<U extends DeclaredService>(services: Services, uses: readonly U[] = []): ServicesWith<U> {
  const names = [...namesOf(COMMON), ...uses];
  // These are the keys of the type.
  return Object.fromEntries(names.map((name) => [name, services[name]])) as unknown as ServicesWith<U>;
}
