import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { AppTokens } from '../auth/appTokens.ts';
import { Authenticator } from '../auth/authenticate.ts';
import { type KeyChanges, prunesKeyFiles } from '../auth/keyChanges.ts';
import { LoginDevices } from '../auth/loginDevices.ts';
import { LoginLimit } from '../auth/loginLimit.ts';
import { PasswordRules } from '../auth/passwordRules.ts';
import { PasswordHasher } from '../auth/passwords.ts';
import { RequestLimits } from '../auth/requestLimits.ts';
import { fingerprintOf } from '../auth/serverSecret.ts';
import { LoginTokens } from '../auth/tokens.ts';
import { WaitingCalls } from '../auth/waitingCalls.ts';
import { type Cluster, SingleNode } from '../cluster/cluster.ts';
import { type Forward, NodeClient } from '../cluster/forward.ts';
import { instanceOf, noteRun } from '../cluster/instance.ts';
import { ClusterNode } from '../cluster/node.ts';
import { NodeSignatures } from '../cluster/nodeSignature.ts';
import type { Settings } from '../config.ts';
import { OutgoingConnections, outgoingLimit, readOpenFiles } from '../egress/outgoing.ts';
import { occurrenceOf } from '../http/mcp/occurrence.ts';
import { prunesConfirmations } from '../invoke/confirmations.ts';
import { prunesToolCalls } from '../invoke/toolCalls.ts';
import { Deletions } from '../jobs/deletions.ts';
import type { Log } from '../log.ts';
import { Converter } from '../media/conversion/converter.ts';
import { createUseFetched } from '../media/fetch.ts';
import { LinkPreviews, PREVIEW_IMAGE_BYTES, PREVIEW_MS } from '../media/linkPreviews.ts';
import { MediaLinks } from '../media/links.ts';
import { Media } from '../media/media.ts';
import { openStore } from '../media/openStore.ts';
import { Preparation } from '../media/preparation.ts';
import { Previews } from '../media/previews.ts';
import { MediaRemoval } from '../media/removal.ts';
import type { ContentStore } from '../media/store.ts';
import { StoredBytes } from '../media/storedBytes.ts';
import { UnusedContents } from '../media/unusedContents.ts';
import { createAddFields } from '../messages/addFields.ts';
import { prunesStatuses } from '../messages/broadcasts/statuses.ts';
import { chatDeletion } from '../messages/chats/chatRemoval.ts';
import { labelDeletion } from '../messages/chats/labels.ts';
import { createInbox } from '../messages/inbox.ts';
import { prunesEarlyChanges } from '../messages/messages/earlyChanges.ts';
import { prunesReceipts } from '../messages/messages/groupReceipts.ts';
import { queueDeletion } from '../messages/messages/queueFailure.ts';
import { prunesRemovedPlaceholders } from '../messages/messages/removedPlaceholders.ts';
import { NetworkNumbers } from '../messages/people/networkNumbers.ts';
import { OAuth } from '../oauth/oauth.ts';
import { prunesOAuthRecords } from '../oauth/records.ts';
import { createKeyRefusal, createMayTextCallers } from '../operations/accounts/keyAccess.ts';
import { createWithFiles } from '../operations/webhooks/deliveredFiles.ts';
import { createFindAccess, createShowOccurrence } from '../operations/webhooks/subscriberAccess.ts';
import { DatabaseSandboxStore } from '../sandbox/databaseStore.ts';
import { Sandbox } from '../sandbox/sandbox.ts';
import { CallRejection } from '../sending/callRejection.ts';
import { Posts } from '../sending/posts.ts';
import { Sender } from '../sending/sender.ts';
import { FollowedPresences } from '../sessions/followedPresences.ts';
import { LiveSessions } from '../sessions/liveSessions.ts';
import type { People } from '../sessions/people.ts';
import type { SessionConnectors } from '../sessions/sessionConnectors.ts';
import { Sessions } from '../sessions/sessions.ts';
import { API_PREFIX } from '../version.ts';
import { AnyDeliver } from '../webhooks/delivery/anyDeliver.ts';
import { HttpDeliver } from '../webhooks/delivery/deliver.ts';
import { Flights } from '../webhooks/delivery/flights.ts';
import { MarkedDeliver } from '../webhooks/delivery/markedDeliver.ts';
import { CallbackVerifier } from '../webhooks/endpoints/callbackVerifier.ts';
import { webhookDeletion } from '../webhooks/endpoints/removal.ts';
import { SubscriptionKeeper } from '../webhooks/endpoints/subscriptionKeeper.ts';
import { Engine } from '../webhooks/lanes/engine.ts';
import { createEmit, type Emit } from '../webhooks/log/emit.ts';
import { EventLog } from '../webhooks/log/eventLog.ts';
import { Feed } from '../webhooks/log/feed.ts';
import { LogEpochs } from '../webhooks/log/logEpochs.ts';
import { SeenPosition } from '../webhooks/log/seenPosition.ts';
import { Retention } from '../webhooks/retention/retention.ts';
import type { Foundation } from './foundation.ts';

/** Deadline for fetching a file from a URL, for which a caller waits. */
const FETCH_TIMEOUT_MS = 60_000;
/** Sockets to message brokers, of all accounts. */
const MAX_BROKER_SOCKETS = 500;

/** The handlers of sessions are added by `Sessions`. */
function createDeletions(foundation: Foundation, emit: Emit): Deletions {
  const { database, clock } = foundation;
  const deletions = new Deletions(foundation);
  const isStopped = () => deletions.isStopped;
  deletions.handle('chat', chatDeletion({ emit, clock }, database.commit, isStopped));
  deletions.handle('label', labelDeletion({ emit, clock }, database, isStopped));
  deletions.handle('webhook', webhookDeletion(database, clock, isStopped));
  deletions.handle('queue', queueDeletion({ emit, clock }, database.commit, isStopped));
  return deletions;
}

export function openContentStore({ settings, clock }: Foundation): Promise<ContentStore> {
  return openStore(settings, clock);
}

export async function openCluster(foundation: Foundation, store: ContentStore): Promise<Cluster> {
  const { settings, database, nodeId, secret, log } = foundation;
  if (database.shared === undefined) return new SingleNode(nodeId, database);
  return new ClusterNode({
    ...foundation,
    shared: database.shared,
    acceptsWork: settings.nodeRole === 'all',
    ...noteRun(settings.dataDir, nodeId),
    jwtFingerprint: fingerprintOf(secret),
    fileStore: await identityOf(store, log),
    leaseMs: settings.leaseSeconds * 1000,
  });
}

export function createNodeRequests({ secret, nodeId, steady, tracing }: Foundation) {
  const signatures = new NodeSignatures(secret, nodeId, steady);
  const client = new NodeClient(signatures);
  const forward: Forward = tracing?.forward(client) ?? client;
  return { signatures, forward };
}

export function createAuth(foundation: Foundation, { signals }: Cluster) {
  const { settings, database, clock, steady, secret, children } = foundation;
  const tokens = new LoginTokens(secret, clock);
  const at = oauthAddresses(settings);
  const authenticator = new Authenticator({
    database,
    tokens,
    clock,
    legacyForms: settings.queryKeyAuth,
    failuresPerMinute: settings.loginRateLimit * 10,
    appTokens: at && new AppTokens(database, at.resource),
    announce: (accountId) => signals.send('credentials', accountId),
  });
  signals.on('credentials', (accountId) => authenticator.forget(accountId));
  signals.on('gap', () => authenticator.forget());
  const requestsPerMinute = { perCredential: settings.rateLimit, perAccount: settings.accountRateLimit };
  const loginRates = { loginsPerMinute: settings.loginRateLimit, registrationsPerHour: settings.registrationRateLimit };
  return {
    tokens,
    authenticator,
    requestLimits: new RequestLimits(requestsPerMinute, steady),
    waitingCalls: new WaitingCalls(settings.maxWaitingCalls),
    loginLimit: new LoginLimit(database, loginRates, steady),
    passwords: new PasswordHasher({ health: children.of('passwords') }),
    passwordRules: new PasswordRules(),
    devices: new LoginDevices(secret),
  };
}

export function createOAuth(foundation: Foundation, keyChanges: KeyChanges): OAuth | undefined {
  const at = oauthAddresses(foundation.settings);
  return at && new OAuth({ ...foundation, ...at, keyChanges });
}

/** Undefined if OAuth is off. `readSettings` requires PUBLIC_URL with MCP_OAUTH. */
function oauthAddresses({ mcpOauth, publicUrl }: Settings) {
  if (!mcpOauth || publicUrl === undefined) return undefined;
  return { issuer: publicUrl.origin, resource: `${publicUrl.origin}${API_PREFIX}/mcp` };
}

/** Called only when there are events, because sessions and files are created after the delivery of events. */
interface OfLaterParts {
  readonly connectorsOf: SessionConnectors['of'];
  readonly userIdsOf: People['userIdsOf'];
  readonly filesOf: () => { media: Media; links: MediaLinks };
}

export function createDelivery(foundation: Foundation, cluster: Cluster, later: OfLaterParts) {
  const { connectorsOf, userIdsOf, filesOf } = later;
  const { settings, database, clock, random, tracing } = foundation;
  const openFiles = readOpenFiles(settings.outgoingConnections);
  const maxSockets = outgoingLimit(settings.outgoingConnections, openFiles);
  const outgoing = new OutgoingConnections(maxSockets);
  const options = { policy: foundation.targets, timeoutMs: settings.webhookTimeoutMs, clock };
  const http = new HttpDeliver({ ...options, maxSockets });
  const any = new AnyDeliver(http, async () => {
    const { BrokerDeliver } = await import('../webhooks/delivery/brokers/brokerDeliver.ts');
    return new BrokerDeliver({ ...options, maxSockets: Math.min(MAX_BROKER_SOCKETS, maxSockets), http });
  });
  const deliver = tracing?.deliver(any) ?? any;
  const addFields = createAddFields({ reader: database.reader, log: foundation.log, connectorsOf });
  const logEpochs = new LogEpochs({ ...foundation, seenPosition: new SeenPosition(settings.dataDir) });
  const eventLog = new EventLog(database.reader, logEpochs);
  const showOccurrence = createShowOccurrence({
    reader: database.reader,
    clock,
    eventLog,
    occurrenceOf,
    onRefused: (accountId, keyId) => subscriptionKeeper.reviewLater(accountId, keyId),
  });
  const flights = new Flights({ ...foundation, instance: randomUUID() });
  const engine: Engine = new Engine({
    ...foundation,
    flights,
    addFields,
    showOccurrence,
    withFiles: createWithFiles({ reader: database.reader, clock, log: foundation.log, files: filesOf }),
    emit: (tx, emission) => emit(tx, emission),
    cluster,
    deliver: new MarkedDeliver(deliver, flights),
    outgoing,
    retry: { stepsMs: settings.webhookRetrySeconds.map((seconds) => seconds * 1000), random },
    breaker: { openMs: settings.breakerOpenSeconds * 1000, random },
  });
  const callbackVerifier = new CallbackVerifier(deliver, outgoing, clock);
  const findAccess = createFindAccess(database.reader, clock);
  const feed = new Feed(clock);
  cluster.signals.on('account', (accountId) => feed.announce(accountId));
  const networkNumbers = new NetworkNumbers(clock.now);
  const emit: Emit = createEmit({
    ...foundation,
    userIdsOf: (tx, sessionId, digits) => userIdsOf(sessionId, digits, tx),
    note: (tx, accountId, data) => networkNumbers.note(tx, accountId, data),
    wake: (webhookId, stored) => engine.wake(webhookId, stored),
    announce: (accountId) => {
      feed.announce(accountId);
      cluster.signals.send('account', accountId);
    },
    trace: () => tracing?.current() ?? null,
  });
  const deletions = createDeletions(foundation, emit);
  const subscriptionKeeper = new SubscriptionKeeper({
    ...foundation,
    engine,
    deletions,
    verifier: callbackVerifier,
    findAccess,
  });
  const retention = new Retention({
    ...foundation,
    eventDays: settings.eventRetentionDays,
    heldDays: settings.heldRetentionDays,
    prunesToolCalls,
    others: otherCleanings(foundation),
  });
  return {
    openFiles,
    maxSockets,
    outgoing,
    deliver,
    engine,
    callbackVerifier,
    subscriptionKeeper,
    deletions,
    logEpochs,
    eventLog,
    filteredEventLog: new EventLog(database.longReader, logEpochs),
    addFields,
    feed,
    emit,
    networkNumbers,
    retention,
  };
}

function otherCleanings({ clock, steady }: Foundation) {
  return [
    prunesKeyFiles,
    prunesConfirmations(clock),
    prunesOAuthRecords(clock),
    prunesStatuses(clock),
    prunesReceipts(clock, steady),
    prunesEarlyChanges(clock),
    prunesRemovedPlaceholders(clock),
  ];
}

export function createFiles(foundation: Foundation, store: ContentStore, outgoing: OutgoingConnections) {
  const { settings, targets: policy, clock } = foundation;
  const { mediaMaxBytes: maxBytes, publicUrl } = settings;
  const fetching = createUseFetched({ policy, maxBytes, timeoutMs: FETCH_TIMEOUT_MS, clock });
  const incoming = incomingDir(settings);
  const contents = new UnusedContents({ ...foundation, store });
  const storedBytes = new StoredBytes({ ...foundation, maxBytes: settings.maxMediaBytes });
  const media = new Media({
    ...foundation,
    store,
    contents,
    storedBytes,
    incoming,
    fetching,
    outgoing,
    maxBytes,
    publicUrl,
  });
  const converter = new Converter({
    health: foundation.children.of('media_conversion'),
    budgetMs: settings.mediaConversionSeconds === 0 ? Number.POSITIVE_INFINITY : settings.mediaConversionSeconds * 1000,
  });
  const preparation = new Preparation({ ...foundation, media, converter });
  const removal = new MediaRemoval({
    ...foundation,
    contents,
    storedBytes,
    retentionDays: settings.mediaRetentionDays,
  });
  const timed = { policy, timeoutMs: PREVIEW_MS, clock };
  const linkPreviews = new LinkPreviews({
    fetching: createUseFetched({ ...timed, maxBytes: Number.POSITIVE_INFINITY }), // only its beginning is read
    fetchingImage: createUseFetched({ ...timed, maxBytes: PREVIEW_IMAGE_BYTES, field: 'linkPreview.image' }),
    outgoing,
    health: foundation.children.of('link_previews'),
    log: foundation.log,
  });
  const links = new MediaLinks({ ...foundation, publicUrl });
  return { media, links, previews: new Previews(media), converter, preparation, removal, linkPreviews };
}

export function createMessaging(
  foundation: Foundation,
  cluster: Cluster,
  media: Media,
  {
    emit,
    deletions,
    auth,
  }: { emit: Emit; deletions: Deletions; auth: Pick<ReturnType<typeof createAuth>, 'authenticator'> },
) {
  const { settings, database, clock, steady, log, tracing } = foundation;
  const sandbox = new Sandbox({
    store: new DatabaseSandboxStore({ database, media, clock }),
    wakeOwner: (sessionId) => cluster.signals.send('mailbox', sessionId),
    clock,
    steady,
    log,
  });
  cluster.signals.on('mailbox', (sessionId) => sandbox.mailboxes.wake(sessionId));
  cluster.signals.on('gap', () => void sandbox.mailboxes.poll());
  const stored = createInbox({
    ...foundation,
    deletions,
    media,
    emit,
    trace: () => tracing?.current() ?? null,
    keysChanged: (accountId) => auth.authenticator.changed(accountId),
  });
  const inbox = tracing?.inbox(stored) ?? stored;
  const liveSessions = new LiveSessions({ database, cluster, clock });
  const keyRefusal = createKeyRefusal(database.reader, clock, (...person) => sessions.people.userIdsOf(...person));
  const common = { ...foundation, cluster, inbox, media, live: liveSessions, keyRefusal };
  const sender = new Sender({
    ...common,
    maxScheduled: settings.maxScheduledMessages,
    maxPendingApprovals: settings.maxPendingApprovals,
  });
  const sessions = new Sessions({
    ...common,
    connectors: [sandbox, ...foundation.connectors],
    publicUrl: settings.publicUrl,
    deletions,
    // One network for all accounts, or one for each.
    scopeOf: settings.sandboxShared ? () => '' : (accountId) => accountId,
  });
  const callRejection = new CallRejection({
    ...common,
    sender,
    mayTextCallers: createMayTextCallers(database.reader, clock),
  });
  const posts = new Posts(common);
  const followedPresences = new FollowedPresences(common);
  return { sandbox, liveSessions, sender, sessions, callRejection, posts, followedPresences };
}

/** Returns null if the store cannot be identified, which must not keep the server from starting. */
async function identityOf(store: ContentStore, log: Log): Promise<string | null> {
  try {
    return await store.identity();
  } catch (error) {
    log.warn({ err: error }, 'failed to identify the media store; cannot tell whether the nodes share their files');
    return null;
  }
}

/** On the same file system as the contents. Nodes that share it have a folder each. */
const incomingDir = ({ mediaDir: shared, dataDir }: Settings) =>
  shared === undefined ? join(dataDir, 'media', 'incoming') : join(shared, 'incoming', instanceOf(dataDir));
