import type { Generated } from 'kysely';

/** The sandbox network. */
export interface SandboxTables {
  /** A number that is registered with a sandbox network. */
  sandbox_numbers: {
    /** An address; see `addressOf` in `sandbox/store.ts`. Group ids and invite codes are addresses too. */
    number: string;
    session_id: string;
    /** JSON of name, about and picture; the picture is stored as the hash of its content. */
    profile: string | null;
  };
  /** An event for a session of a sandbox network, kept until the session's owner has dispatched it. */
  sandbox_mailbox: {
    mail_id: Generated<number>;
    session_id: string;
    /** JSON of the event; media are stored as hashes of their content. */
    event: string;
    /** The sender of a direct message, and when it was sent, in steady time. */
    direct_from: string | null;
    sent_at: number | null;
    /** The network's message id, if the event is a message. */
    message_id: string | null;
    /** The session that gets a receipt once no mailbox contains the message any longer. */
    receipt_to: string | null;
    /** The message that this receipt confirms. The receipt is due once no mailbox contains that message. */
    confirms: string | null;
    created_at: number;
  };
  sandbox_groups: {
    network_id: string;
    invite_code: string | null;
    /** JSON of the group's current state. */
    state: string;
  };
  sandbox_channels: {
    network_id: string;
    invite_code: string;
    /** Address of the number that owns it. */
    owner: string;
    /** JSON of the channel with its followers and newest posts. */
    state: string;
  };
}
