import type { ApiKey } from '@switchboard/sdk/api';
import { useNavigate } from '@tanstack/react-router';
import { EllipsisVertical, KeyRound } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { api } from '../../api.ts';
import { IconButton } from '../../components/button.tsx';
import { classes } from '../../components/classes.ts';
import { Lamp, Tag } from '../../components/lamp.tsx';
import { Menu, MenuItem, MenuLine } from '../../components/menu.tsx';
import type { Column } from '../../components/page/dataTable.tsx';
import { useIsWide } from '../../components/page/isWide.ts';
import { ListPage } from '../../components/page/listPage.tsx';
import { Time, useNow } from '../../components/text/time.tsx';
import { expandGrants } from '../../model/grants.ts';
import { usePaged } from '../../paged.ts';
import { apiKeyStrings } from '../../strings/apiKeys.ts';
import { KeyDialogs, type OpenKeyDialog } from './keyDialogs.tsx';

/** For a name and two lines about it, or four on narrow screens. */
const ROW_HEIGHTS = { wide: 68, narrow: 92 };

export function ApiKeysPage() {
  const keys = usePaged(['api_keys'], (page) => api.apiKeys.list(page));
  const [open, setOpen] = useState<OpenKeyDialog>();
  const isWide = useIsWide();
  return (
    <ListPage
      strings={apiKeyStrings}
      icon={<KeyRound />}
      list={keys}
      columns={columnsFor((apiKey) => <KeyMenu apiKey={apiKey} onChoose={(action) => setOpen({ action, apiKey })} />)}
      rowKey={({ keyId }) => keyId}
      rowHeight={isWide ? ROW_HEIGHTS.wide : ROW_HEIGHTS.narrow}
      onCreate={() => setOpen({ action: 'create' })}
    >
      <KeyDialogs open={open} onClose={() => setOpen(undefined)} />
    </ListPage>
  );
}

function columnsFor(menu: (apiKey: ApiKey) => ReactNode): readonly Column<ApiKey>[] {
  return [
    {
      id: 'name',
      header: apiKeyStrings.name,
      // Shares what is left with the prefix, which matters less.
      width: 'minmax(0, 3fr)',
      cell: (apiKey) => <Name apiKey={apiKey} />,
    },
    {
      id: 'prefix',
      header: apiKeyStrings.prefix,
      width: 'minmax(0, 4fr)',
      wideOnly: true,
      cell: ({ prefix, app }) => (app === null ? <Tag>{prefix}</Tag> : <Tag>{apiKeyStrings.app}</Tag>),
    },
    {
      id: 'permissions',
      header: apiKeyStrings.permissions,
      width: '8.5rem',
      wideOnly: true,
      cell: ({ permissions }) => <span title={permissions.join(', ')}>{summary(permissions)}</span>,
    },
    {
      id: 'lastUsed',
      header: apiKeyStrings.lastUsed,
      width: '6rem',
      wideOnly: true,
      cell: ({ lastUsedAt }) => <Time at={lastUsedAt} as="relative" />,
    },
    {
      id: 'expiry',
      header: apiKeyStrings.expiry,
      width: '6rem',
      cell: ({ expiresAt }) => <Expiry at={expiresAt} />,
    },
    { id: 'menu', header: apiKeyStrings.menu, width: '3.5rem', cell: menu },
  ];
}

function summary(grants: readonly string[]): string {
  if (grants.includes('*')) return apiKeyStrings.everything;
  return apiKeyStrings.permissionCount(expandGrants(grants).length);
}

/** The name of a key, with its limits, and with its last use on narrow screens, which have no column for it. */
function Name({ apiKey }: { readonly apiKey: ApiKey }) {
  const isWide = useIsWide();
  const limits = limitsOf(apiKey).join('. ');
  const { app } = apiKey;
  return (
    <>
      <span className="block truncate">{apiKey.name}</span>
      {app !== null && (
        <span className="block truncate text-xs text-ink-faint">{apiKeyStrings.appAt(app.redirectHost)}</span>
      )}
      {(limits !== '' || !isWide) && (
        <span
          className={classes(
            'text-xs whitespace-normal text-ink-faint',
            app === null ? 'line-clamp-3 wide:line-clamp-2' : 'line-clamp-2 wide:line-clamp-1',
          )}
          title={detailsOf(apiKey)}
        >
          {!isWide && (
            <span className="block truncate">
              {apiKeyStrings.lastUsed}: <Time at={apiKey.lastUsedAt} as="relative" />
            </span>
          )}
          {limits}
        </span>
      )}
    </>
  );
}

/** The limits of a key in brief, as sentences; none for a key without limits. */
function limitsOf(apiKey: ApiKey): string[] {
  const { sessionIds, allowedIps, allowedRecipients, sendQuota, confirm, requiresApproval } = apiKey;
  const reach = [
    sessionIds === null ? [] : apiKeyStrings.sessionCount(sessionIds.length),
    allowedIps === null ? [] : apiKeyStrings.networkCount(allowedIps.length),
    allowedRecipients === null ? [] : apiKeyStrings.recipientCount(allowedRecipients.length),
    sendQuota === null ? [] : apiKeyStrings.perDay(sendQuota),
  ].flat();
  return [
    reach.length === 0 ? [] : apiKeyStrings.limited(reach),
    confirm === null ? [] : apiKeyStrings.asksBefore(confirm),
    requiresApproval ? apiKeyStrings.needsApproval : [],
  ].flat();
}

/** The entries of the limits, which the brief form only counts. */
function detailsOf({ sessionIds, allowedIps, allowedRecipients }: ApiKey): string | undefined {
  return [sessionIds, allowedIps, allowedRecipients].flatMap((entries) => entries ?? []).join(', ') || undefined;
}

function Expiry({ at }: { readonly at: string | null }) {
  const isExpired = useNow() >= Date.parse(at ?? '');
  return isExpired ? <Lamp tone="off">{apiKeyStrings.expired}</Lamp> : <Time at={at} as="relative" />;
}

function KeyMenu({
  apiKey,
  onChoose,
}: {
  readonly apiKey: ApiKey;
  readonly onChoose: (action: 'edit' | 'rotate' | 'revoke') => void;
}) {
  const { keyId } = apiKey;
  const navigate = useNavigate();
  return (
    <Menu
      trigger={
        <IconButton label={apiKeyStrings.actions(apiKey.name)}>
          <EllipsisVertical />
        </IconButton>
      }
    >
      <MenuItem onSelect={() => onChoose('edit')}>{apiKeyStrings.edit}</MenuItem>
      {apiKey.app === null && <MenuItem onSelect={() => onChoose('rotate')}>{apiKeyStrings.rotate}</MenuItem>}
      <MenuItem onSelect={() => void navigate({ to: '/keys/$keyId', params: { keyId } })}>
        {apiKeyStrings.activity}
      </MenuItem>
      <MenuLine />
      <MenuItem isDangerous onSelect={() => onChoose('revoke')}>
        {apiKey.app === null ? apiKeyStrings.revoke : apiKeyStrings.disconnect}
      </MenuItem>
    </Menu>
  );
}
