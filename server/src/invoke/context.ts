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
import type { AddFields } from '../events/addedFields.ts';
import type { NewId } from '../ids.ts';
import type { Deletions } from '../jobs/deletions.ts';
import type { Log } from '../log.ts';
import type { LinkPreviews } from '../media/linkPreviews.ts';
import type { Media } from '../media/media.ts';
import type { Preparation } from '../media/preparation.ts';
import type { Previews } from '../media/previews.ts';
import type { MediaRemoval } from '../media/removal.ts';
import type { Metrics } from '../metrics.ts';
import type { OAuth } from '../oauth/oauth.ts';
import type { OutgoingConnections } from '../outgoing.ts';
import type { Posts } from '../sending/posts.ts';
import type { Sender } from '../sending/sender.ts';
import type { FollowedPresences } from '../sessions/followedPresences.ts';
import type { LiveSessions } from '../sessions/liveSessions.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { SteadyClock } from '../steadyClock.ts';
import type { TargetPolicy } from '../target.ts';
import type { Deliver } from '../webhooks/delivery/deliver.ts';
import type { CallbackVerifier } from '../webhooks/endpoints/callbackVerifier.ts';
import type { SubscriptionKeeper } from '../webhooks/endpoints/subscriptionKeeper.ts';
import type { Engine } from '../webhooks/lanes/engine.ts';
import type { Emit } from '../webhooks/log/emit.ts';
import type { EventLog } from '../webhooks/log/eventLog.ts';
import type { Feed } from '../webhooks/log/feed.ts';

/** The dependencies of operations. Built once, by `app.ts`. */
export interface Services {
  readonly settings: Settings;
  readonly database: Database;
  /** The time of day. */
  readonly clock: Clock;
  /** The clock for order and waiting. */
  readonly steady: SteadyClock;
  readonly newId: NewId;
  readonly cluster: Cluster;
  readonly forward: Forward;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly authenticator: Authenticator;
  readonly keyChanges: KeyChanges;
  readonly tokens: LoginTokens;
  readonly requestLimits: RequestLimits;
  readonly waitingCalls: WaitingCalls;
  readonly loginLimit: LoginLimit;
  readonly devices: LoginDevices;
  readonly passwords: PasswordHasher;
  readonly passwordRules: PasswordRules;
  /** Undefined if `MCP_OAUTH` is off. */
  readonly oauth: OAuth | undefined;
  readonly sessions: Sessions;
  readonly liveSessions: LiveSessions;
  readonly sender: Sender;
  readonly posts: Posts;
  readonly followedPresences: FollowedPresences;
  readonly media: Media;
  readonly previews: Previews;
  readonly linkPreviews: LinkPreviews;
  readonly preparation: Preparation;
  readonly removal: MediaRemoval;
  readonly deletions: Deletions;
  readonly emit: Emit;
  readonly eventLog: EventLog;
  /** For reads of some event types, which may scan all events of the account. */
  readonly filteredEventLog: EventLog;
  readonly addFields: AddFields;
  readonly feed: Feed;
  readonly webhooks: {
    readonly engine: Engine;
    readonly deliver: Deliver;
    readonly targets: TargetPolicy;
    readonly outgoing: OutgoingConnections;
    /** For the callbacks of subscriptions. */
    readonly verifier: CallbackVerifier;
    readonly keeper: SubscriptionKeeper;
  };
}
