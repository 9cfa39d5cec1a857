import type { proto, SignalDataSet, WASocket } from 'baileys';

/*
 * Tokens that allow to write to people, and to see their profiles. The phone passes them on with its chats. Baileys
 * would store them if it read the history itself.
 */

/** Lists the addresses that have a token, under the key that Baileys uses. */
const INDEX = '__index';

export interface Token {
  /** The LID, under which Baileys looks for it, or the address if that is unknown. */
  readonly jid: string;
  readonly token: Uint8Array;
  readonly timestamp: number;
  readonly senderTimestamp: number | undefined;
}

export function tokenOf(
  { id, tcToken, tcTokenTimestamp, tcTokenSenderTimestamp }: proto.IConversation,
  lidOf: (jid: string) => string | undefined,
): Token | undefined {
  const timestamp = Number(tcTokenTimestamp ?? 0);
  if (!id || !tcToken?.length || timestamp <= 0) return undefined;
  return {
    jid: lidOf(id) ?? id,
    token: tcToken,
    timestamp,
    senderTimestamp: tcTokenSenderTimestamp ? Number(tcTokenSenderTimestamp) : undefined,
  };
}

/** Stores those that are newer than the stored ones. */
export async function storeTokens({ authState: { keys } }: WASocket, tokens: readonly Token[]): Promise<void> {
  if (tokens.length === 0) return;
  const stored = await keys.get('tctoken', [INDEX, ...tokens.map(({ jid }) => jid)]);
  const newer = tokens.filter(({ jid, timestamp }) => Number(stored[jid]?.timestamp ?? 0) < timestamp);
  if (newer.length === 0) return;
  const listed = readIndex(stored[INDEX]?.token);
  const entries = newer.map(({ jid, token, timestamp, senderTimestamp }) => [
    jid,
    {
      ...stored[jid],
      token: Buffer.from(token),
      timestamp: String(timestamp),
      ...(senderTimestamp !== undefined && { senderTimestamp }),
    },
  ]);
  const index = JSON.stringify([...new Set([...listed, ...newer.map(({ jid }) => jid)])]);
  const tctoken: SignalDataSet['tctoken'] = { ...Object.fromEntries(entries), [INDEX]: { token: Buffer.from(index) } };
  await keys.set({ tctoken });
}

function readIndex(token: Uint8Array | undefined): string[] {
  if (!token?.length) return [];
  try {
    const list: unknown = JSON.parse(Buffer.from(token).toString());
    return Array.isArray(list) ? list.filter((jid) => typeof jid === 'string') : [];
  } catch {
    return [];
  }
}
