import { join } from 'node:path';
import pg from 'pg';
import type { Home } from '../databases/databases.ts';
import { type ServerProcess, spawnServer } from './process.ts';

/** A node at a fixed place in a deployment. Its process can stop and restart. */
export interface Node {
  /** Of the last start. */
  readonly url: string;
  readonly process: ServerProcess;
  /** Its id in the database. */
  readonly nodeId: string;
  start(): Promise<void>;
}

/** Starts `count` servers, each as a process with its own data folder, on the database and media folder of a home. */
export async function spawnNodes(home: Home, count: number, env: Record<string, string> = {}): Promise<Node[]> {
  const nodes = Array.from({ length: count }, (_, place) => nodeAt(home, place, env));
  for (const node of nodes) await node.start();
  return nodes;
}

function nodeAt(home: Home, place: number, env: Record<string, string>): Node {
  const own = { ...home, dataDir: join(home.dataDir, `node-${place}`) };
  let running: ServerProcess | undefined;
  let nodeId = '';
  return {
    get url() {
      return running?.url ?? '';
    },
    get process() {
      if (running === undefined) throw new Error('the node was never started');
      return running;
    },
    get nodeId() {
      return nodeId;
    },
    async start() {
      running = await spawnServer(own, { MEDIA_DIR: join(home.dataDir, 'media'), ...env });
      const [row] = await queryOf(home)<{ node_id: string }>(
        `select node_id from nodes where url = '${running.url}/' or url = '${running.url}'`,
      );
      if (row === undefined) throw new Error(`no node says that it is at ${running.url}`);
      nodeId = row.node_id;
    },
  };
}

/** Returns a function that queries the database of a home directly. */
export const queryOf =
  ({ databaseUrl }: Home) =>
  async <R>(text: string): Promise<R[]> => {
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    try {
      return (await client.query(text)).rows as R[];
    } finally {
      await client.end();
    }
  };

/**
 * Lets the database record every write that only the owner of a session or webhook may make: events of a session and
 * delivery attempts. Two concurrent owners would show.
 * @returns a function that returns the violations
 */
export async function watchForTwoOwners(home: Home): Promise<() => Promise<string[]>> {
  const ask = queryOf(home);
  await ask(`
    create table violations (what text not null);
    create function note_event() returns trigger as $$
      declare holder text;
      begin
        select lease_owner into holder from sessions where session_id = (new.body::json #>> '{data,sessionId}');
        if 'switchboard ' || coalesce(holder, 'nobody') <> current_setting('application_name') then
          insert into violations values (current_setting('application_name') || ' wrote ' || new.kind ||
            ' of a session that ' || coalesce(holder, 'nobody') || ' has');
        end if;
        return new;
      end $$ language plpgsql;
    create trigger note_event before insert on events for each row execute function note_event();
    create function note_attempt() returns trigger as $$
      declare holder text;
      begin
        select lease_owner into holder from webhooks join receivers using (webhook_id) where seq = new.webhook;
        if 'switchboard ' || coalesce(holder, 'nobody') <> current_setting('application_name') then
          insert into violations values (current_setting('application_name') || ' delivered for a webhook that ' ||
            coalesce(holder, 'nobody') || ' has');
        end if;
        return new;
      end $$ language plpgsql;
    create trigger note_attempt before update of last_started_at on deliveries for each row execute function note_attempt();`);
  return async () => (await ask<{ what: string }>('select what from violations')).map(({ what }) => what);
}
