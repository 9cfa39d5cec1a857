import type { ApiKey } from '@switchboard/sdk/api';
import { useQueryClient } from '@tanstack/react-query';
import { EllipsisVertical, KeyRound, Plus } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { api } from '../../api.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { type Column, DataTable } from '../../components/dataTable.tsx';
import { Dialog, Question } from '../../components/dialog.tsx';
import { useIsWide } from '../../components/isWide.ts';
import { Lamp, Tag } from '../../components/lamp.tsx';
import { Card, Page } from '../../components/layout.tsx';
import { Menu, MenuItem, MenuLine } from '../../components/menu.tsx';
import { Empty, Loaded } from '../../components/states.tsx';
import { Time, useNow } from '../../components/time.tsx';
import { useToast } from '../../components/toast.tsx';
import { expandGrants } from '../../model/grants.ts';
import { usePaged } from '../../paged.ts';
import { apiKeyWords } from '../../strings/apiKeys.ts';
import { words } from '../../strings/shared.ts';
import { KeepKey } from './keepKey.tsx';
import { KeyForm } from './keyForm.tsx';

/** What is being done, and with which key. */
type Doing = { readonly what: 'create' } | { readonly what: 'edit' | 'rotate' | 'revoke'; readonly apiKey: ApiKey };

const NEW_KEY = { name: '', permissions: ['*'], expiresAt: null };

export function ApiKeysPage() {
  const keys = usePaged(['api_keys'], (page) => api.apiKeys.list(page));
  const [doing, setDoing] = useState<Doing>();
  const [shown, setShown] = useState<string>();
  const queries = useQueryClient();
  const toast = useToast();
  const stop = () => setDoing(undefined);
  const chosen = doing !== undefined && doing.what !== 'create' ? doing.apiKey : undefined;

  /** Lists the keys anew, as one of them was just changed. */
  function changed(text: string) {
    toast(text);
    stop();
    return queries.invalidateQueries({ queryKey: ['api_keys'] });
  }

  const create = (
    <Button look="primary" icon={<Plus className="size-4" />} onClick={() => setDoing({ what: 'create' })}>
      {apiKeyWords.create}
    </Button>
  );

  return (
    <Page title={apiKeyWords.title} lead={apiKeyWords.lead} actions={keys.rows.length > 0 && create}>
      <Card flush>
        <Loaded query={keys}>
          {() => (
            <DataTable
              label={apiKeyWords.list}
              columns={columnsFor((apiKey) => (
                <KeyMenu apiKey={apiKey} onChoose={(what) => setDoing({ what, apiKey })} />
              ))}
              rows={keys.rows}
              rowKey={({ keyId }) => keyId}
              more={keys.more}
              empty={
                <Empty icon={<KeyRound />} title={apiKeyWords.empty} action={create}>
                  {apiKeyWords.emptyHint}
                </Empty>
              }
            />
          )}
        </Loaded>
      </Card>
      <Dialog title={apiKeyWords.createTitle} open={doing?.what === 'create'} onOpenChange={stop} width="wide">
        <KeyForm
          settings={NEW_KEY}
          submit={apiKeyWords.create}
          onCancel={stop}
          onSubmit={async (settings) => {
            const { key } = await api.apiKeys.create(settings);
            setShown(key);
            await changed(apiKeyWords.created);
          }}
        />
      </Dialog>
      <Dialog title={apiKeyWords.editTitle} open={doing?.what === 'edit'} onOpenChange={stop} width="wide">
        {chosen !== undefined && (
          <KeyForm
            settings={chosen}
            submit={words.save}
            onCancel={stop}
            onSubmit={async (settings) => {
              await api.apiKeys.update({ keyId: chosen.keyId, ...settings });
              await changed(words.saved);
            }}
          />
        )}
      </Dialog>
      <Question
        title={apiKeyWords.rotateTitle(chosen?.name ?? '')}
        confirm={apiKeyWords.rotate}
        open={doing?.what === 'rotate'}
        onOpenChange={stop}
        onConfirm={async () => {
          const { key } = await api.apiKeys.rotate({ keyId: chosen?.keyId ?? '' });
          setShown(key);
          await changed(apiKeyWords.rotated);
        }}
      >
        {apiKeyWords.rotateHint}
      </Question>
      <Question
        title={apiKeyWords.revokeTitle(chosen?.name ?? '')}
        confirm={apiKeyWords.revoke}
        open={doing?.what === 'revoke'}
        onOpenChange={stop}
        onConfirm={async () => {
          await api.apiKeys.revoke({ keyId: chosen?.keyId ?? '' });
          await changed(apiKeyWords.revoked);
        }}
      >
        {apiKeyWords.revokeHint}
      </Question>
      <KeepKey apiKey={shown} onDone={() => setShown(undefined)} />
    </Page>
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
      header: apiKeyWords.begins,
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
      cell: ({ lastUsedAt }) => <LastUsed at={lastUsedAt} />,
    },
    {
      id: 'expiry',
      header: apiKeyWords.expiry,
      width: '6rem',
      cell: ({ expiresAt }) => (expiresAt === null ? words.never : <Expiry at={expiresAt} />),
    },
    { id: 'menu', header: apiKeyWords.menu, width: '3.5rem', cell: menu },
  ];
}

function summary(grants: readonly string[]): string {
  if (grants.includes('*')) return apiKeyWords.everything;
  return apiKeyWords.permissionCount(expandGrants(grants).length);
}

/** The name; on a narrow screen with the last use, which has no column there. */
function Name({ apiKey: { name, lastUsedAt } }: { readonly apiKey: ApiKey }) {
  const isWide = useIsWide();
  return (
    <>
      <span className="block truncate">{name}</span>
      {!isWide && (
        <span className="block truncate text-xs text-ink-faint">
          {apiKeyWords.lastUsed}: <LastUsed at={lastUsedAt} />
        </span>
      )}
    </>
  );
}

function LastUsed({ at }: { readonly at: string | null }) {
  return at === null ? words.never : <Time at={at} as="relative" />;
}

function Expiry({ at }: { readonly at: string }) {
  return Date.parse(at) <= useNow() ? <Lamp tone="off">{apiKeyWords.expired}</Lamp> : <Time at={at} as="relative" />;
}

function KeyMenu({
  apiKey,
  onChoose,
}: {
  readonly apiKey: ApiKey;
  readonly onChoose: (what: 'edit' | 'rotate' | 'revoke') => void;
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
