import { permissionWords } from '../strings/apiKeys.ts';

/** Every permission there is, as `resource:action`. */
export const allPermissions: readonly string[] = Object.entries(permissionWords).flatMap(([resource, actions]) =>
  Object.keys(actions).map((action) => `${resource}:${action}`),
);

/** Whether grants such as `*`, `messages:*` and `messages:read` permit something. */
export function permits(grants: readonly string[], permission: string): boolean {
  return grants.some((grant) => grant === '*' || grant === permission || grant === `${permission.split(':')[0]}:*`);
}

/** Grants with one permission more or less. What stands for several of its resource is spelled out by it. */
export function withPermission(grants: readonly string[], permission: string, isOn: boolean): string[] {
  const resource = permission.split(':')[0] ?? '';
  const isOfResource = (grant: string) => grant.startsWith(`${resource}:`);
  const others = grants.filter((grant) => !isOfResource(grant));
  const own = allPermissions
    .filter(isOfResource)
    .filter((one) => (one === permission ? isOn : permits(grants.filter(isOfResource), one)));
  return [...others, ...own];
}
