import { type BinaryNode, jidDecode } from 'baileys';
import type { Connection } from '../connection.ts';
import { answerKeyQuery } from '../encryption/preKeys.ts';
import { confirm, type Network } from '../network.ts';
import { sendHistory } from '../phone/historySync.ts';
import { childOf, firstChild, stanza } from '../stanza.ts';
import type { Companion } from './account.ts';
import { answerStateQuery } from './appState.ts';
import { answerBusinessQuery, answerCatalogQuery } from './businesses.ts';
import { routeCall } from './calls.ts';
import { unlink } from './companions.ts';
import { answerGroupQuery } from './groups.ts';
import { answerLimitsQuery } from './limits.ts';
import { finishLink, nowS } from './linking.ts';
import { announcePending, sendPending } from './login.ts';
import { UPLOAD_TOKEN } from './mediaHost.ts';
import { routeMessage } from './messages.ts';
import { answerChannelQuery, answerPostsQuery, serverIdOf } from './newsletters.ts';
import { answerCodeQuery } from './pairingCode.ts';
import { announcePresence, routeTyping, subscribe } from './presence.ts';
import {
  answerBlocklistQuery,
  answerPictureQuery,
  answerPrivacyQuery,
  answerStatusQuery,
  answerTimerQuery,
} from './profiles.ts';
import { type AnswerQuery, answerQuery } from './queries.ts';
import { routeReceipt } from './receipts.ts';
import { answerUsync } from './usync.ts';

/** Queries of clients by namespace. Unknown namespaces get an empty result. */
const QUERIES: Readonly<Record<string, AnswerQuery>> = {
  abt: () => [stanza('props', { hash: 'tst' }, [])],
  blocklist: answerBlocklistQuery,
  encrypt: answerKeyQuery,
  md: ({ network, companion }) => {
    // After the response, because the connection ends with it.
    setImmediate(() => unlink(network, companion));
    return undefined;
  },
  passive: ({ network, connection, companion }) => {
    setImmediate(() => {
      announcePending(connection, companion);
      sendHistory(network, companion).catch((error: unknown) => network.troubles.push(error));
    });
    return undefined;
  },
  privacy: answerPrivacyQuery,
  status: answerStatusQuery,
  usync: answerUsync,
  disappearing_mode: answerTimerQuery,
  'w:biz': answerBusinessQuery,
  'w:biz:catalog': answerCatalogQuery,
  'w:g2': answerGroupQuery,
  newsletter: answerPostsQuery,
  'w:mex': (query) => answerChannelQuery(query) ?? answerLimitsQuery(query),
  'w:m': ({ network }) => [
    stanza('media_conn', { auth: UPLOAD_TOKEN, ttl: '3600' }, [stanza('host', { hostname: network.media.host })]),
  ],
  'w:profile:picture': answerPictureQuery,
  'w:sync:app:state': answerStateQuery,
};

/** Handles every stanza of a client after the handshake. */
export async function handleStanza(network: Network, connection: Connection, node: BinaryNode): Promise<void> {
  const { companion } = connection;
  if (companion === undefined) return handleLinking(network, connection, node);
  const author = { account: companion.account, device: companion.id };
  switch (node.tag) {
    case 'iq':
      return answerQuery(QUERIES, {
        network,
        connection,
        companion,
        account: companion.account,
        iq: node,
        ask: firstChild(node),
      });
    case 'message':
      return handleMessage(network, connection, companion, node);
    case 'receipt':
      network.counters.receiptsFromClients++;
      if (node.attrs['type'] === 'retry') network.counters.retriesFromClients++;
      else confirm(companion, 'message', node.attrs['id']);
      connection.send(
        stanza('ack', { class: 'receipt', id: node.attrs['id'], from: node.attrs['to'], type: node.attrs['type'] }),
      );
      return routeReceipt(network, author, node);
    case 'ack':
      return confirm(companion, node.attrs['class'] ?? '', node.attrs['id']);
    case 'call':
      return routeCall(network, connection, node);
    case 'chatstate':
      network.counters.typingFromClients++;
      return routeTyping(network, author, node);
    case 'presence':
      if (node.attrs['type'] === 'subscribe') subscribe(network, author, node);
      else if (node.attrs['type'] !== undefined) announcePresence(author.account, node.attrs['type'] === 'available');
      return;
    case 'ib':
      if (childOf(node, 'offline_batch') !== undefined) sendPending(connection, companion);
  }
}

/** A client without an account can only be linked. */
async function handleLinking(network: Network, connection: Connection, node: BinaryNode): Promise<void> {
  if (node.tag !== 'iq') return;
  const ask = firstChild(node);
  if (node.attrs['type'] === 'result') {
    if (finishLink(connection, node) === undefined) return;
    network.counters.links++;
    connection.end(stanza('stream:error', { code: '515' }));
    return;
  }
  const reply = (type: string, content?: BinaryNode[]) =>
    connection.send(stanza('iq', { from: node.attrs['to'], id: node.attrs['id'], type }, content));
  const error = network.faults.codeError;
  if (ask?.tag !== 'link_code_companion_reg') reply('result');
  else if (error !== undefined) reply('error', [stanza('error', { code: String(error), text: 'refused' })]);
  else reply('result', answerCodeQuery(network, connection, ask));
}

function handleMessage(network: Network, connection: Connection, companion: Companion, node: BinaryNode): void {
  const { faults, counters } = network;
  const { id, to } = node.attrs;
  const { number } = companion.account;
  for (const watch of network.watchers) watch(number, node);
  const ack = (error?: number) =>
    stanza('ack', {
      class: 'message',
      id,
      from: to,
      t: String(nowS()),
      error: error?.toString(),
      server_id: serverIdOf(network, node),
      refresh_lid: faults.markedLids.has(jidDecode(to)?.user ?? '') ? 'true' : undefined,
    });
  const refused =
    faults.takeMessageError(number) ??
    routeMessage(network, { account: companion.account, device: companion.id }, node);
  if (refused === undefined) counters.messagesFromClients++;
  faults.acknowledge(connection, number, ack(refused));
}
