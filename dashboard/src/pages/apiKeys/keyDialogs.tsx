import type { ApiKey } from '@switchboard/sdk/api';
import { useState } from 'react';
import { api } from '../../api.ts';
import { ConfirmDialog } from '../../components/confirmDialog.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { OneTimeSecret } from '../../components/oneTimeSecret.tsx';
import { useToast } from '../../components/toast.tsx';
import { useRefresh } from '../../model/actions.ts';
import { apiKeyWords } from '../../strings/apiKeys.ts';
import { words } from '../../strings/shared.ts';
import { KeyForm } from './keyForm.tsx';

/** The open dialog, and the key that it is about. */
export type OpenKeyDialog =
  | { readonly action: 'create' }
  | { readonly action: 'edit' | 'rotate' | 'revoke'; readonly apiKey: ApiKey };

interface KeyDialogsProps {
  readonly open: OpenKeyDialog | undefined;
  readonly onClose: () => void;
}

const NEW_KEY = { name: '', permissions: ['*'], expiresAt: null };

/** The dialogs that create, edit, rotate and revoke a key. */
export function KeyDialogs({ open, onClose }: KeyDialogsProps) {
  const [secret, setSecret] = useState<string>();
  const refresh = useRefresh();
  const toast = useToast();
  const apiKey = open !== undefined && open.action !== 'create' ? open.apiKey : undefined;
  const { keyId = '', name = '' } = apiKey ?? {};

  async function finish(message: string, newSecret?: string) {
    if (newSecret !== undefined) setSecret(newSecret);
    toast(message);
    onClose();
    await refresh('api_keys');
  }

  return (
    <>
      <Dialog title={apiKeyWords.createTitle} open={open?.action === 'create'} onOpenChange={onClose} width="wide">
        <KeyForm
          settings={NEW_KEY}
          submit={apiKeyWords.create}
          onCancel={onClose}
          onSubmit={async (settings) => finish(apiKeyWords.created, (await api.apiKeys.create(settings)).key)}
        />
      </Dialog>
      <Dialog title={apiKeyWords.editTitle} open={open?.action === 'edit'} onOpenChange={onClose} width="wide">
        {apiKey !== undefined && (
          <KeyForm
            settings={apiKey}
            submit={words.save}
            onCancel={onClose}
            onSubmit={async (settings) => {
              await api.apiKeys.update({ keyId, ...settings });
              await finish(words.saved);
            }}
          />
        )}
      </Dialog>
      <ConfirmDialog
        title={apiKeyWords.rotateTitle(name)}
        confirm={apiKeyWords.rotate}
        open={open?.action === 'rotate'}
        onOpenChange={onClose}
        onConfirm={async () => finish(apiKeyWords.rotated, (await api.apiKeys.rotate({ keyId })).key)}
      >
        {apiKeyWords.rotateHint}
      </ConfirmDialog>
      <ConfirmDialog
        title={apiKeyWords.revokeTitle(name)}
        confirm={apiKeyWords.revoke}
        open={open?.action === 'revoke'}
        onOpenChange={onClose}
        onConfirm={async () => {
          await api.apiKeys.revoke({ keyId });
          await finish(apiKeyWords.revoked);
        }}
      >
        {apiKeyWords.revokeHint}
      </ConfirmDialog>
      <OneTimeSecret strings={apiKeyWords} secret={secret} onDone={() => setSecret(undefined)} />
    </>
  );
}
