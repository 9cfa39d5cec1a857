import { permissionWords } from '../strings/apiKeys.ts';

/** Every permission there is, as `resource:action`. */
export const allPermissions: readonly string[] = Object.entries(permissionWords).flatMap(([resource, actions]) =>
  Object.keys(actions).map((action) => `${resource}:${action}`),
);

/** An action that includes another one of the same resource. */
const included: Readonly<Record<string, string>> = { metadata: 'read', operate: 'write' };

/** Whether grants such as `*`, `messages:*` and `messages:read` permit something. */
export function permits(grants: readonly string[], permission: string): boolean {
  const [resource] = permission.split(':');
  const permitting = ['*', `${resource}:*`, permission, impliedBy(permission)];
  return grants.some((grant) => permitting.includes(grant));
}

/** The permissions that grants stand for, but for those that others include. */
export function expandGrants(grants: readonly string[]): string[] {
  return allPermissions.filter((one) => permits(grants, one) && !isImplied(grants, one));
}

/** Whether grants permit something by a greater permission, so that it cannot be taken away alone. */
export function isImplied(grants: readonly string[], permission: string): boolean {
  const greater = impliedBy(permission);
  return greater !== undefined && permits(grants, greater);
}

/** Grants with one permission more or less, each spelled out. */
export function withPermission(grants: readonly string[], permission: string, isOn: boolean): string[] {
  const others = expandGrants(grants).filter((one) => one !== permission);
  return isOn ? expandGrants([...others, permission]) : others;
}

function impliedBy(permission: string): string | undefined {
  const [resource, action = ''] = permission.split(':');
  const greater = included[action];
  return greater && `${resource}:${greater}`;
}
