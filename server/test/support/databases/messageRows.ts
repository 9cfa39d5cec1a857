import { sql } from 'kysely';
import type { Tx } from '../../../src/db/commit.ts';

interface Texts {
  readonly accountId: string;
  readonly seqs: readonly number[];
  readonly body: string;
  readonly content?: string | null;
}

/** Inserts messages with these numbers, as if the database had drawn them, without anything that belongs to them. */
export async function insertTexts({ kysely, dialect }: Tx, { accountId, seqs, body, content = null }: Texts) {
  const override = sql.raw(dialect.hasConcurrentWriters ? 'overriding system value' : '');
  const rows = seqs.map((seq) => {
    const id = `msg_${String(seq).padStart(9, '0')}`;
    return sql`(${seq}, ${accountId}, ${id}, 'ses_1', '491707000001', ${id}, 'incoming', 'text', '491707000001',
      '491707000002', ${body}, ${content}, 'delivered', ${seq}, ${seq})`;
  });
  await sql`
    insert into messages (seq, account_id, message_id, session_id, chat_id, network_id, direction, type, from_number,
      to_id, body, content, status, timestamp, created_at) ${override} values ${sql.join(rows)}`.execute(kysely);
}
