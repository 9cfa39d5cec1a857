// The server's table of permissions and its rules, which import nothing.
import { covers, includes, permissions } from '../../../server/src/auth/permissions.ts';

/** Whether grants such as `*`, `messages:*` and `messages:read` include a permission. */
export function permits(grants: readonly string[], permission: string): boolean {
  return grants.some((grant) => covers(grant, permission));
}

/** The permissions that grants include, without those that others of them imply. */
export function expandGrants(grants: readonly string[]): string[] {
  return permissions.filter((one) => permits(grants, one) && !isImplied(grants, one));
}

/** Whether another granted permission implies this one, so that it cannot be removed alone. */
export function isImplied(grants: readonly string[], permission: string): boolean {
  return permissions.some((greater) => includes(greater, permission) && permits(grants, greater));
}

/** Adds a permission to grants, or removes it. */
export function withPermission(grants: readonly string[], permission: string, isOn: boolean): string[] {
  const others = expandGrants(grants).filter((one) => one !== permission);
  return isOn ? expandGrants([...others, permission]) : others;
}
