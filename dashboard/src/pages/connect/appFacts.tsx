import type { ConnectionRequest } from '@switchboard/sdk/api';
import { Notice } from '../../components/notice.tsx';
import { Facts } from '../../components/page/layout.tsx';
import { connectStrings } from './strings.ts';

export const appName = ({ name }: Pick<ConnectionRequest, 'name'>): string => name ?? connectStrings.unnamed;

/** The app that asks. Its words come from a stranger, so they are text, beside the addresses that are known. */
export function AppFacts({ request }: { readonly request: ConnectionRequest }) {
  const { name, url, clientId, redirectUri, redirectHost, isLocal, connection } = request;
  const describedAt = URL.parse(clientId)?.host;
  return (
    <div className="grid gap-4">
      <Facts
        facts={[
          ...(name === null ? [] : [[connectStrings.app, <Name key="name">{name}</Name>] as const]),
          [
            connectStrings.redirect,
            <span key="redirect">
              <strong className="block font-semibold">{redirectHost}</strong>
              <span className="text-xs text-ink-faint">{redirectUri}</span>
            </span>,
          ],
          ...(describedAt === undefined ? [] : [[connectStrings.description, describedAt] as const]),
          // Not a link: a person in the middle of a decision should not leave for the site of a stranger.
          ...(url === null ? [] : [[connectStrings.website, url] as const]),
        ]}
      />
      <Notice tone="warn">{isLocal ? connectStrings.local : connectStrings.remote(redirectHost)}</Notice>
      {connection !== null && <Notice tone="info">{connectStrings.connected}</Notice>}
    </div>
  );
}

function Name({ children }: { readonly children: string }) {
  return (
    <>
      <span className="block">{children}</span>
      <span className="text-xs text-ink-faint">{connectStrings.unverified}</span>
    </>
  );
}
