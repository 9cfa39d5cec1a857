import { type Database, deleteInSlices, type Row, type Statement } from './database/database.ts';

/** An inbox that `init` has set up. */
export interface InboxRow {
  readonly sessionId: string;
  readonly inboxId: number;
  /** Identifier of the inbox in the public API of Chatwoot. */
  readonly identifier: string;
  /** Part of the URL that Chatwoot calls, for versions that do not sign. */
  readonly token: string;
  readonly chatwootSecret: string | undefined;
  readonly webhookId: string;
  readonly webhookSecret: string;
}

/** A chat of a session, and its contact and conversation in Chatwoot. */
export interface ChatRow {
  readonly sessionId: string;
  readonly chatId: string;
  readonly contactId: number;
  /** Id of the contact in the inbox. */
  readonly sourceId: string;
  readonly conversationId: number | undefined;
  /** Name that the bridge gave the contact. An agent may have changed it in Chatwoot. */
  readonly name: string | undefined;
}

/** A message that is on both sides. A Chatwoot message with several files is several messages of WhatsApp. */
export interface LinkRow {
  readonly messageId: string;
  readonly sessionId: string;
  readonly chatId: string;
  readonly conversationId: number;
  readonly chatwootId: number;
  /** `in` was created in Chatwoot by the bridge, `out` by an agent. */
  readonly direction: 'in' | 'out';
  readonly part: string;
  /** Digest of the text that was sent, which recognizes an edit. */
  readonly digest: string | undefined;
  readonly status: string;
}

/** The rows of the bridge. Methods that end in `Statement` return a part of a transaction. */
export class State {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async inbox(sessionId: string): Promise<InboxRow | undefined> {
    const [row] = await this.#database.all('SELECT * FROM inboxes WHERE session_id = ?', sessionId);
    return row && inboxOf(row);
  }

  /** Returns all inboxes that were set up, even if the settings no longer list their session. */
  async inboxes(): Promise<readonly InboxRow[]> {
    return (await this.#database.all('SELECT * FROM inboxes ORDER BY session_id')).map(inboxOf);
  }

  async saveInbox(inbox: InboxRow): Promise<void> {
    await this.#database.batch([
      ['DELETE FROM inboxes WHERE session_id = ?', inbox.sessionId],
      [
        'INSERT INTO inboxes VALUES (?, ?, ?, ?, ?, ?, ?)',
        inbox.sessionId,
        inbox.inboxId,
        inbox.identifier,
        inbox.token,
        inbox.chatwootSecret ?? null,
        inbox.webhookId,
        inbox.webhookSecret,
      ],
    ]);
  }

  async chat(sessionId: string, chatId: string): Promise<ChatRow | undefined> {
    const [row] = await this.#database.all(
      'SELECT * FROM chats WHERE session_id = ? AND chat_id = ?',
      sessionId,
      chatId,
    );
    return row && chatOf(row);
  }

  async chatOfConversation(sessionId: string, conversationId: number): Promise<ChatRow | undefined> {
    const [row] = await this.#database.all(
      'SELECT * FROM chats WHERE session_id = ? AND conversation_id = ?',
      sessionId,
      conversationId,
    );
    return row && chatOf(row);
  }

  async saveChat(chat: ChatRow): Promise<void> {
    await this.#database.batch([
      [
        `INSERT INTO chats (session_id, chat_id, contact_id, source_id, conversation_id, name)
          VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (session_id, chat_id) DO UPDATE SET contact_id = excluded.contact_id,
          source_id = excluded.source_id, conversation_id = excluded.conversation_id, name = excluded.name`,
        chat.sessionId,
        chat.chatId,
        chat.contactId,
        chat.sourceId,
        chat.conversationId ?? null,
        chat.name ?? null,
      ],
    ]);
  }

  /**
   * A contact has another number: its chat continues under it. With `kept`, it was merged into that contact of
   * Chatwoot. Both changes are one transaction, so that a crash leaves no chat with a contact that is gone.
   */
  async moveChat({ sessionId, chatId: from, contactId }: ChatRow, to: string, kept: number | undefined): Promise<void> {
    await this.#database.batch([
      ['DELETE FROM chats WHERE session_id = ? AND chat_id = ?', sessionId, to],
      ['UPDATE chats SET chat_id = ? WHERE session_id = ? AND chat_id = ?', to, sessionId, from],
      ['UPDATE links SET chat_id = ? WHERE session_id = ? AND chat_id = ?', to, sessionId, from],
      ...(kept === undefined
        ? []
        : [['UPDATE chats SET contact_id = ? WHERE contact_id = ?', kept, contactId] as const]),
    ]);
  }

  /** Remembers the name that the bridge gave the contact. */
  async setName(sessionId: string, chatId: string, name: string): Promise<void> {
    await this.#database.batch([
      ['UPDATE chats SET name = ? WHERE session_id = ? AND chat_id = ?', name, sessionId, chatId],
    ]);
  }

  /** The conversation was deleted in Chatwoot. A newer one of the chat stays. */
  async dropConversation({ sessionId, chatId }: ChatRow, conversationId: number): Promise<void> {
    await this.#database.batch([
      [
        'UPDATE chats SET conversation_id = NULL WHERE session_id = ? AND chat_id = ? AND conversation_id = ?',
        sessionId,
        chatId,
        conversationId,
      ],
    ]);
  }

  async link(messageId: string): Promise<LinkRow | undefined> {
    const [row] = await this.#database.all('SELECT * FROM links WHERE message_id = ?', messageId);
    return row && linkOf(row);
  }

  /** Returns the parts of a Chatwoot message in sending order. */
  async linksOf(chatwootId: number): Promise<LinkRow[]> {
    const rows = await this.#database.all(
      'SELECT * FROM links WHERE chatwoot_id = ? ORDER BY created_at, message_id',
      chatwootId,
    );
    return rows.map(linkOf);
  }

  linkStatement(link: LinkRow): Statement {
    return [
      `INSERT INTO links (message_id, session_id, chat_id, conversation_id, chatwoot_id, direction, part, digest, status,
        created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (message_id) DO UPDATE SET
        chatwoot_id = excluded.chatwoot_id, conversation_id = excluded.conversation_id`,
      link.messageId,
      link.sessionId,
      link.chatId,
      link.conversationId,
      link.chatwootId,
      link.direction,
      link.part,
      link.digest ?? null,
      link.status,
      Date.now(),
    ];
  }

  async saveLink(link: LinkRow): Promise<void> {
    await this.#database.batch([this.linkStatement(link)]);
  }

  statusStatement(messageId: string, status: string): Statement {
    return ['UPDATE links SET status = ? WHERE message_id = ?', status, messageId];
  }

  digestStatement(messageId: string, digest: string): Statement {
    return ['UPDATE links SET digest = ? WHERE message_id = ?', digest, messageId];
  }

  /** Remembers a change that the bridge is about to make, so that the event about it is recognized. */
  async expectEcho(key: string): Promise<void> {
    await this.#database.batch([
      ['INSERT INTO echoes (key, created_at) VALUES (?, ?) ON CONFLICT (key) DO NOTHING', key, Date.now()],
    ]);
  }

  async isEcho(key: string): Promise<boolean> {
    return (await this.#database.all('SELECT 1 AS one FROM echoes WHERE key = ?', key)).length > 0;
  }

  /**
   * Counts how often a message of an agent has failed, once Chatwoot has confirmed that it shows the failure. An update
   * without an error after that means that the agent tries the message again.
   */
  async triesOf(chatwootId: number): Promise<number> {
    if (!(await this.isEcho(`reported:${chatwootId}`))) return 0;
    const [row] = await this.#database.all('SELECT count(*) AS n FROM failures WHERE chatwoot_id = ?', chatwootId);
    return Number(row?.['n'] ?? 0);
  }

  failureStatements(chatwootId: number, cause: string | number): Statement[] {
    return [
      ['DELETE FROM echoes WHERE key = ?', `reported:${chatwootId}`],
      [
        'INSERT INTO failures (chatwoot_id, cause, created_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
        chatwootId,
        String(cause),
        Date.now(),
      ],
    ];
  }

  /** Chats whose presence a session follows, the longest first. */
  async followedChats(sessionId: string): Promise<string[]> {
    const rows = await this.#database.all(
      'SELECT chat_id FROM chats WHERE session_id = ? AND followed_at IS NOT NULL ORDER BY followed_at',
      sessionId,
    );
    return rows.map((row) => text(row, 'chat_id'));
  }

  async setFollowed(sessionId: string, chatId: string, followedAt: number | null): Promise<void> {
    await this.#database.batch([
      ['UPDATE chats SET followed_at = ? WHERE session_id = ? AND chat_id = ?', followedAt, sessionId, chatId],
    ]);
  }

  /** Deletes old rows, a limited number in each transaction. */
  async forget(echoesBefore: number, linksBefore: number): Promise<void> {
    const old = (table: string, key: string) =>
      `DELETE FROM ${table} WHERE ${key} IN (SELECT ${key} FROM ${table} WHERE created_at < ? LIMIT ?)`;
    await deleteInSlices(this.#database, old('echoes', 'key'), echoesBefore);
    // All failures of a message or none, because their number is part of the key of the next try.
    await deleteInSlices(
      this.#database,
      `DELETE FROM failures WHERE chatwoot_id IN
        (SELECT chatwoot_id FROM failures GROUP BY chatwoot_id HAVING max(created_at) < ? LIMIT ?)`,
      echoesBefore,
    );
    await deleteInSlices(this.#database, old('links', 'message_id'), linksBefore);
  }
}

function inboxOf(row: Row): InboxRow {
  return {
    sessionId: text(row, 'session_id'),
    inboxId: Number(row['inbox_id']),
    identifier: text(row, 'identifier'),
    token: text(row, 'token'),
    chatwootSecret: optional(row, 'chatwoot_secret'),
    webhookId: text(row, 'webhook_id'),
    webhookSecret: text(row, 'webhook_secret'),
  };
}

function chatOf(row: Row): ChatRow {
  return {
    sessionId: text(row, 'session_id'),
    chatId: text(row, 'chat_id'),
    contactId: Number(row['contact_id']),
    sourceId: text(row, 'source_id'),
    conversationId: row['conversation_id'] === null ? undefined : Number(row['conversation_id']),
    name: optional(row, 'name'),
  };
}

function linkOf(row: Row): LinkRow {
  return {
    messageId: text(row, 'message_id'),
    sessionId: text(row, 'session_id'),
    chatId: text(row, 'chat_id'),
    conversationId: Number(row['conversation_id']),
    chatwootId: Number(row['chatwoot_id']),
    direction: row['direction'] === 'in' ? 'in' : 'out',
    part: text(row, 'part'),
    digest: optional(row, 'digest'),
    status: text(row, 'status'),
  };
}

const text = (row: Row, column: string) => String(row[column]);
const optional = (row: Row, column: string) => (row[column] === null ? undefined : String(row[column]));
