import { permissionWords } from '../strings/apiKeys.ts';

/** All permissions, as `resource:action`. */
export const allPermissions: readonly string[] = Object.entries(permissionWords).flatMap(([resource, actions]) =>
  Object.keys(actions).map((action) => `${resource}:${action}`),
);

/** Actions that are implied by another action of the same resource. */
const included: Readonly<Record<string, string>> = { metadata: 'read', operate: 'write' };

/** Whether grants such as `*`, `messages:*` and `messages:read` include a permission. */
export function permits(grants: readonly string[], permission: string): boolean {
  const [resource] = permission.split(':');
  const permitting = ['*', `${resource}:*`, permission, impliedBy(permission)];
  return grants.some((grant) => permitting.includes(grant));
}

/** The permissions that grants include, without those that others of them imply. */
export function expandGrants(grants: readonly string[]): string[] {
  return allPermissions.filter((one) => permits(grants, one) && !isImplied(grants, one));
}

/** Whether another granted permission implies this one, so that it cannot be removed alone. */
export function isImplied(grants: readonly string[], permission: string): boolean {
  const greater = impliedBy(permission);
  return greater !== undefined && permits(grants, greater);
}

/** Adds a permission to grants, or removes it. */
export function withPermission(grants: readonly string[], permission: string, isOn: boolean): string[] {
  const others = expandGrants(grants).filter((one) => one !== permission);
  return isOn ? expandGrants([...others, permission]) : others;
}

function impliedBy(permission: string): string | undefined {
  const [resource, action = ''] = permission.split(':');
  const greater = included[action];
  return greater && `${resource}:${greater}`;
}
