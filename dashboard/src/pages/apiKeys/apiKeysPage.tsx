import type { ApiKey } from '@switchboard/sdk/api';
import { EllipsisVertical, KeyRound } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { api } from '../../api.ts';
import { IconButton } from '../../components/button.tsx';
import type { Column } from '../../components/dataTable.tsx';
import { useIsWide } from '../../components/isWide.ts';
import { Lamp, Tag } from '../../components/lamp.tsx';
import { ListPage } from '../../components/listPage.tsx';
import { Menu, MenuItem, MenuLine } from '../../components/menu.tsx';
import { Time, useNow } from '../../components/time.tsx';
import { expandGrants } from '../../model/grants.ts';
import { usePaged } from '../../paged.ts';
import { apiKeyStrings } from '../../strings/apiKeys.ts';
import { KeyDialogs, type OpenKeyDialog } from './keyDialogs.tsx';

export function ApiKeysPage() {
  const keys = usePaged(['api_keys'], (page) => api.apiKeys.list(page));
  const [open, setOpen] = useState<OpenKeyDialog>();
  return (
    <ListPage
      strings={apiKeyStrings}
      icon={<KeyRound />}
      list={keys}
      columns={columnsFor((apiKey) => <KeyMenu apiKey={apiKey} onChoose={(action) => setOpen({ action, apiKey })} />)}
      rowKey={({ keyId }) => keyId}
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
      width: 'minmax(0, 1fr)',
      cell: (apiKey) => <Name apiKey={apiKey} />,
    },
    {
      id: 'prefix',
      header: apiKeyStrings.prefix,
      width: '15.5rem',
      wideOnly: true,
      cell: ({ prefix }) => <Tag>{prefix}</Tag>,
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

/** The name of a key, with its last use on narrow screens, which have no column for it. */
function Name({ apiKey: { name, lastUsedAt } }: { readonly apiKey: ApiKey }) {
  const isWide = useIsWide();
  return (
    <>
      <span className="block truncate">{name}</span>
      {!isWide && (
        <span className="block truncate text-xs text-ink-faint">
          {apiKeyStrings.lastUsed}: <Time at={lastUsedAt} as="relative" />
        </span>
      )}
    </>
  );
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
  return (
    <Menu
      trigger={
        <IconButton label={apiKeyStrings.actions(apiKey.name)}>
          <EllipsisVertical />
        </IconButton>
      }
    >
      <MenuItem onSelect={() => onChoose('edit')}>{apiKeyStrings.edit}</MenuItem>
      <MenuItem onSelect={() => onChoose('rotate')}>{apiKeyStrings.rotate}</MenuItem>
      <MenuLine />
      <MenuItem isDangerous onSelect={() => onChoose('revoke')}>
        {apiKeyStrings.revoke}
      </MenuItem>
    </Menu>
  );
}
