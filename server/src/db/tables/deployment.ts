/** Nodes, unfinished deletions, secrets and the clock: data of the deployment rather than of an account. */
export interface DeploymentTables {
  /**
   * A process of the deployment. `lease_owner` refers to it. Its leases are valid as long as this row exists: a
   * transaction of a node whose row is gone changes nothing.
   */
  nodes: {
    node_id: string;
    /** Incremented when it rejoins after an eviction. */
    epoch: number;
    /** The data folder. Only one process can use it, so another row with the same folder belongs to a dead one. */
    instance: string;
    /** The URL for requests of other nodes; null until it listens. */
    url: string | null;
    version: string;
    /** 1 if it accepts sessions and webhooks, 0 if it only answers requests. */
    carries: number;
    /** Fingerprint of the secret that it signs login tokens with; null if its version does not report one. */
    jwt_fingerprint: string | null;
    /** Identifies its media store; null if unknown, or if its version does not report one. */
    file_store: string | null;
    joined_at: number;
    /** By the clock of the database; renewed every few seconds. */
    expires_at: number;
  };
  /** Deletions that take many transactions and are not complete. */
  deletions: {
    /** Id of the session or webhook; for a chat, `sessionId/chatId`. */
    resource_id: string;
    account_id: string;
    kind: DeletionKind;
    /** JSON; the handler of the kind owns its shape. */
    details: string;
    created_at: number;
    /** Time until which a node works on it, or until which it waits after a failure, by the database's clock. */
    worked_until: number;
  };
  secrets: {
    name: string;
    value: string;
  };
  /** One row; see `steadyTime.ts`. */
  steady_time: {
    ms: number;
    /** When it was written, by the database's clock; 0 if the database is not shared. */
    at: number;
  };
}

export type DeletionKind = 'session' | 'chat' | 'webhook' | 'placeholder' | 'queue' | 'label' | 'api_key';
