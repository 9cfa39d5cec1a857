import { proto } from 'baileys';

/** The chats, messages and names that a phone knows. */
export interface History {
  /** By the address of the chat, with its messages, the newest first. */
  readonly chats: Map<string, { readonly chat: proto.IConversation; readonly messages: proto.IWebMessageInfo[] }>;
  /** Names that people chose, by address. */
  readonly names: Map<string, string>;
  /** Chats that clients have asked for older messages of, as they named them. */
  readonly asked: string[];
  /** How many messages one part has. */
  messagesPerPart: number;
}

export const createHistory = (): History => ({ chats: new Map(), names: new Map(), asked: [], messagesPerPart: 1000 });

/** Whether a client asks for the whole history when it is linked. */
export function wantsFullHistory({ devicePairingData }: proto.ClientPayload): boolean {
  const props = devicePairingData?.deviceProps;
  return props ? proto.DeviceProps.decode(props).requireFullSync === true : false;
}

/** Finds a message of the history by its id. */
export function findWritten({ chats }: History, id: string): proto.IMessage | undefined {
  const all = [...chats.values()].flatMap(({ messages }) => messages);
  return all.find(({ key }) => key?.id === id)?.message ?? undefined;
}
