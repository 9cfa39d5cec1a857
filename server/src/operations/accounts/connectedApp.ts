import { Type } from 'typebox';
import type { ApiKeyTable } from '../../db/schema.ts';
import { named, orNull, string } from '../../invoke/input/fields.ts';

/* An app that is connected by OAuth is an API key without a secret; its tokens stand for the key. */

const ConnectedApp = named('ConnectedApp', {
  clientId: string('Id of the app, which is the address of its description if it is a URL.'),
  name: orNull(Type.String(), 'Name that the app chose, which nobody has verified; null if it has none.'),
  url: orNull(Type.String(), 'Website that the app names; null if none.'),
  redirectHost: string('Host, or scheme of a native app, to which the person was sent back.'),
});

export interface App {
  readonly clientId: string;
  readonly name: string | null;
  readonly url: string | null;
  readonly redirectHost: string;
}

export const appOutput = { app: orNull(ConnectedApp, 'The connected app; null for a key.') };

export const noApp = { oauth_client_id: null, oauth_client: null } as const;

/** Columns of a key that stands for an app. No key has an empty hash, so only tokens can use it. */
export const appColumns = (app: App) => ({
  key_hash: '',
  oauth_client_id: app.clientId,
  oauth_client: JSON.stringify(app),
});

export function toApp({ oauth_client: column }: Pick<ApiKeyTable, 'oauth_client'>): App | null {
  return column === null ? null : JSON.parse(column);
}
