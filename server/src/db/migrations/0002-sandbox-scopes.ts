import type { Migration } from './migration.ts';

/**
 * Gives each account a sandbox network of its own. What sessions of an account have on the network of all is copied to
 * the network of the account, under addresses that begin with the account. The network of all stays as it is: nodes of
 * the version before go on with it, and so does `SANDBOX_SHARED`.
 */
export const sandboxScopes: Migration = {
  version: 2,
  name: 'sandbox scopes',
  statements: () => [
    // A session takes what waits for it under every address that it has.
    `create index sandbox_numbers_session on sandbox_numbers (session_id)`,
    `insert into sandbox_numbers (number, session_id)
      select s.account_id || '/' || n.number, n.session_id
      from sandbox_numbers n join sessions s on s.session_id = n.session_id`,
    `insert into sandbox_profiles (number, session_id, state)
      select s.account_id || '/' || p.number, p.session_id, p.state
      from sandbox_profiles p join sessions s on s.session_id = p.session_id`,
    `insert into sandbox_groups (network_id, invite_code, state)
      select distinct g.account_id || '/' || n.network_id, g.account_id || '/' || n.invite_code, n.state
      from sandbox_groups n join groups g on g.network_id = n.network_id
      where g.left_at is null`,
  ],
};
