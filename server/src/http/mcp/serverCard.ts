import { isIPv4 } from 'node:net';
import { API_PREFIX } from '../../version.ts';
import { identityOf, NAME, PROTOCOL_VERSIONS } from './identity.ts';

/*
 * The documents that a client reads before it connects, without a credential: the server card (SEP-2127) and the AI
 * Catalog that leads to it. They contain nothing that a stranger may not know.
 */

export const CARD_TYPE = 'application/mcp-server-card+json';
export const CATALOG_TYPE = 'application/ai-catalog+json';

/** The specification reserves this place, below the endpoint. */
export const CARD_PATH = `${API_PREFIX}/mcp/server-card`;

/** Limit of the specification for a name, which ends with that of the product. */
const MAX_NAME_LENGTH = 200;

interface CardOptions {
  readonly publicUrl: URL;
  /** Whether a client without a key can sign in. */
  readonly hasOAuth: boolean;
}

export function serverCard({ publicUrl, hasOAuth }: CardOptions) {
  return {
    $schema: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json',
    ...identityOf(publicUrl),
    name: nameOf(publicUrl),
    remotes: [
      {
        type: 'streamable-http',
        url: new URL(`${API_PREFIX}/mcp`, publicUrl).href,
        headers: [
          {
            name: 'Authorization',
            description: hasOAuth ? 'An API key. Leave it out to sign in with OAuth.' : 'An API key of this server.',
            isRequired: !hasOAuth,
            isSecret: true,
            value: 'Bearer {api_key}',
            variables: {
              api_key: {
                description: 'Created in the dashboard, under API keys.',
                isRequired: !hasOAuth,
                isSecret: true,
                placeholder: 'sb_…',
              },
            },
          },
        ],
        supportedProtocolVersions: PROTOCOL_VERSIONS,
      },
    ],
  };
}

/** Lists the server card as the only entry. */
export function aiCatalog(publicUrl: URL) {
  return {
    specVersion: '1.0',
    entries: [
      {
        identifier: `urn:air:${hostOf(publicUrl)}:mcp:${NAME}`,
        type: CARD_TYPE,
        url: new URL(CARD_PATH, publicUrl).href,
      },
    ],
  };
}

/** The name in reverse DNS notation, such as `com.example.chat/switchboard`. */
function nameOf(publicUrl: URL): string {
  const host = hostOf(publicUrl);
  const namespace = isIPv4(host) ? host : host.split('.').toReversed().join('.');
  return `${namespace.slice(0, MAX_NAME_LENGTH - NAME.length - 1)}/${NAME}`;
}

/** The host without characters that a name may not have, such as those of IPv6 addresses. */
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$|\.$/g, '').replaceAll(/[^a-z0-9.-]/g, '-');
