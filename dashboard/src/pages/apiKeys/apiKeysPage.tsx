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
import { apiKeyWords } from '../../strings/apiKeys.ts';
import { KeyDialogs, type OpenKeyDialog } from './keyDialogs.tsx';

export function ApiKeysPage() {
  const keys = usePaged(['api_keys'], (page) => api.apiKeys.list(page));
  const [open, setOpen] = useState<OpenKeyDialog>();
  return (
    <ListPage
      strings={apiKeyWords}
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
      header: apiKeyWords.name,
      width: 'minmax(0, 1fr)',
      cell: (apiKey) => <Name apiKey={apiKey} />,
    },
    {
      id: 'prefix',
      header: apiKeyWords.prefix,
      width: '15.5rem',
      wideOnly: true,
      cell: ({ prefix }) => <Tag>{prefix}</Tag>,
    },
    {
      id: 'permissions',
      header: apiKeyWords.permissions,
      width: '8.5rem',
      wideOnly: true,
      cell: ({ permissions }) => <span title={permissions.join(', ')}>{summary(permissions)}</span>,
    },
    {
      id: 'lastUsed',
      header: apiKeyWords.lastUsed,
      width: '6rem',
      wideOnly: true,
      cell: ({ lastUsedAt }) => <Time at={lastUsedAt} as="relative" />,
    },
    {
      id: 'expiry',
      header: apiKeyWords.expiry,
      width: '6rem',
      cell: ({ expiresAt }) => <Expiry at={expiresAt} />,
    },
    { id: 'menu', header: apiKeyWords.menu, width: '3.5rem', cell: menu },
  ];
}

function summary(grants: readonly string[]): string {
  if (grants.includes('*')) return apiKeyWords.everything;
  return apiKeyWords.permissionCount(expandGrants(grants).length);
}

/** The name of a key, with its last use on narrow screens, which have no column for it. */
function Name({ apiKey: { name, lastUsedAt } }: { readonly apiKey: ApiKey }) {
  const isWide = useIsWide();
  return (
    <>
      <span className="block truncate">{name}</span>
      {!isWide && (
        <span className="block truncate text-xs text-ink-faint">
          {apiKeyWords.lastUsed}: <Time at={lastUsedAt} as="relative" />
        </span>
      )}
    </>
  );
}

function Expiry({ at }: { readonly at: string | null }) {
  const isExpired = useNow() >= Date.parse(at ?? '');
  return isExpired ? <Lamp tone="off">{apiKeyWords.expired}</Lamp> : <Time at={at} as="relative" />;
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
        <IconButton label={apiKeyWords.actions(apiKey.name)}>
          <EllipsisVertical />
        </IconButton>
      }
    >
      <MenuItem onSelect={() => onChoose('edit')}>{apiKeyWords.edit}</MenuItem>
      <MenuItem onSelect={() => onChoose('rotate')}>{apiKeyWords.rotate}</MenuItem>
      <MenuLine />
      <MenuItem isDangerous onSelect={() => onChoose('revoke')}>
        {apiKeyWords.revoke}
      </MenuItem>
    </Menu>
  );
}
