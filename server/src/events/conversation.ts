/* The conversation of an event: `sessionId` or `sessionId/chatId`. Events about a webhook have its id. */

/** The length of a session's id. */
export const SESSION_ID_LENGTH = 'ses_01JD3V0Z5W8QK4T0N9R2X7C6BA'.length;

/** The conversation of an event that is known only by its `data`, for those who keep the order of deliveries. */
export function conversationOf({
  sessionId = '',
  chatId,
  groupId,
  channelId,
}: Readonly<Record<string, unknown>>): string {
  return `${sessionId}/${chatId ?? groupId ?? channelId ?? ''}`;
}

export function sessionOf(conversation: string): string {
  return conversation.slice(0, SESSION_ID_LENGTH);
}

/** The chat of a conversation; empty if it has none. */
export function chatOf(conversation: string): string {
  return conversation.slice(SESSION_ID_LENGTH + 1);
}
