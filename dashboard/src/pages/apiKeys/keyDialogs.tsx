import type { ApiKey } from '@switchboard/sdk/api';
import { useState } from 'react';
import { api } from '../../api.ts';
import { noLimits } from '../../components/apiKey/limitFields.tsx';
import { ConfirmDialog } from '../../components/dialog/confirmDialog.tsx';
import { Dialog } from '../../components/dialog/dialog.tsx';
import { OneTimeSecret } from '../../components/dialog/oneTimeSecret.tsx';
import { CheckField } from '../../components/form/field.tsx';
import { useToast } from '../../components/toast.tsx';
import { useRefresh } from '../../model/actions.ts';
import { apiKeyStrings } from '../../strings/apiKeys.ts';
import { sharedStrings } from '../../strings/shared.ts';
import { KeyForm } from './keyForm.tsx';

/** The open dialog, and the key that it is about. */
export type OpenKeyDialog =
  | { readonly action: 'create' }
  | { readonly action: 'edit' | 'rotate' | 'revoke'; readonly apiKey: ApiKey };

interface KeyDialogsProps {
  readonly open: OpenKeyDialog | undefined;
  readonly onClose: () => void;
}

const NEW_KEY = { name: '', permissions: ['*'], expiresAt: null, ...noLimits };

/** The dialogs that create, edit, rotate and revoke a key. */
export function KeyDialogs({ open, onClose }: KeyDialogsProps) {
  const [secret, setSecret] = useState<string>();
  const [removesCreated, setRemovesCreated] = useState(false);
  const refresh = useRefresh();
  const toast = useToast();
  const apiKey = open !== undefined && open.action !== 'create' ? open.apiKey : undefined;
  const { keyId = '', name = '' } = apiKey ?? {};
  const ending = apiKey?.app ? apiKeyStrings.ofApp : apiKeyStrings.ofKey;

  async function finish(message: string, newSecret?: string) {
    if (newSecret !== undefined) setSecret(newSecret);
    toast(message);
    onClose();
    await refresh('api_keys');
  }

  return (
    <>
      <Dialog title={apiKeyStrings.createTitle} open={open?.action === 'create'} onOpenChange={onClose} width="wide">
        <KeyForm
          settings={NEW_KEY}
          submit={apiKeyStrings.create}
          onCancel={onClose}
          onSubmit={async (settings) => finish(apiKeyStrings.created, (await api.apiKeys.create(settings)).key)}
        />
      </Dialog>
      <Dialog title={apiKeyStrings.editTitle} open={open?.action === 'edit'} onOpenChange={onClose} width="wide">
        {apiKey !== undefined && (
          <KeyForm
            settings={apiKey}
            submit={sharedStrings.save}
            onCancel={onClose}
            onSubmit={async (settings) => {
              await api.apiKeys.update({ keyId, ...settings });
              await finish(sharedStrings.saved);
            }}
          />
        )}
      </Dialog>
      <ConfirmDialog
        title={apiKeyStrings.rotateTitle(name)}
        confirm={apiKeyStrings.rotate}
        open={open?.action === 'rotate'}
        onOpenChange={onClose}
        onConfirm={async () => finish(apiKeyStrings.rotated, (await api.apiKeys.rotate({ keyId })).key)}
      >
        {apiKeyStrings.rotateHint}
      </ConfirmDialog>
      <ConfirmDialog
        title={ending.title(name)}
        confirm={ending.confirm}
        open={open?.action === 'revoke'}
        onOpenChange={onClose}
        onConfirm={async () => {
          await api.apiKeys.revoke({ keyId, ...(removesCreated && { created: 'remove' as const }) });
          setRemovesCreated(false);
          await finish(ending.done);
        }}
      >
        <p>{ending.hint}</p>
        <div className="mt-3">
          <CheckField
            label={apiKeyStrings.removeCreated}
            hint={apiKeyStrings.removeCreatedHint}
            checked={removesCreated}
            onChange={(event) => setRemovesCreated(event.currentTarget.checked)}
          />
        </div>
      </ConfirmDialog>
      <OneTimeSecret strings={apiKeyStrings} secret={secret} onDone={() => setSecret(undefined)} />
    </>
  );
}
