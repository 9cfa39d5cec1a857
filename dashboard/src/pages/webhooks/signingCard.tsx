import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api, errorText, fieldError } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { ConfirmButton } from '../../components/dialog/confirmDialog.tsx';
import { Dialog } from '../../components/dialog/dialog.tsx';
import { OneTimeSecret } from '../../components/dialog/oneTimeSecret.tsx';
import { SelectField } from '../../components/form/field.tsx';
import { Form } from '../../components/form/form.tsx';
import { Lamp } from '../../components/lamp.tsx';
import { Notice } from '../../components/notice.tsx';
import { Card } from '../../components/page/layout.tsx';
import { CodeSnippets } from '../../components/schema/codeSnippet.tsx';
import { Time } from '../../components/text/time.tsx';
import { useToast } from '../../components/toast.tsx';
import { useRefresh } from '../../model/actions.ts';
import { newSecret, SecretField } from './secretField.tsx';
import { curlSnippet, receiverSnippets } from './snippets.ts';
import { webhookStrings } from './strings.ts';

interface Signed {
  readonly webhookId: string;
  readonly webhookUrl: string;
  readonly hasSecret: boolean;
  /** Until when the secret can be read, if the server made it. */
  readonly secretReadableUntil: string | null;
  /** Whether it receives HTTP requests, for which there are examples. */
  readonly isHttp: boolean;
}

/** The secret of a webhook, with examples of receivers that verify its signatures. */
export function SigningCard({ webhookId, webhookUrl, hasSecret, secretReadableUntil, isHttp }: Signed) {
  const [isReplacing, setReplacing] = useState(false);
  const [shown, setShown] = useState<string>();
  const [revealed, setRevealed] = useState<string>();
  const [bothUntil, setBothUntil] = useState<string | null>(null);

  return (
    <Card
      title={webhookStrings.signing}
      actions={
        <>
          {hasSecret && <RemoveButton webhookId={webhookId} onRemoved={() => setBothUntil(null)} />}
          <Button size="small" onClick={() => setReplacing(true)}>
            {hasSecret ? webhookStrings.rotate : webhookStrings.setSecret}
          </Button>
        </>
      }
    >
      <div className="grid grid-cols-1 gap-5">
        {hasSecret ? (
          <Lamp tone="good">{webhookStrings.hasSecret}</Lamp>
        ) : (
          <Notice tone="warn">{webhookStrings.hasNoSecret}</Notice>
        )}
        {secretReadableUntil !== null && (
          <MadeSecret webhookId={webhookId} until={secretReadableUntil} onRevealed={setRevealed} />
        )}
        {bothUntil !== null && (
          <p className="text-sm text-ink-soft">
            {webhookStrings.bothUntil} <Time at={bothUntil} />.
          </p>
        )}
        {isHttp && <Examples webhookUrl={webhookUrl} />}
      </div>
      <Dialog
        title={hasSecret ? webhookStrings.rotate : webhookStrings.setSecret}
        description={hasSecret ? webhookStrings.rotateHint : undefined}
        open={isReplacing}
        onOpenChange={setReplacing}
      >
        <ReplaceForm
          webhookId={webhookId}
          hasSecret={hasSecret}
          onCancel={() => setReplacing(false)}
          onReplaced={(secret, until) => {
            setReplacing(false);
            setShown(secret);
            setBothUntil(until);
          }}
        />
      </Dialog>
      <OneTimeSecret strings={webhookStrings} secret={shown} onDone={() => setShown(undefined)} />
      <OneTimeSecret strings={revealedStrings} secret={revealed} onDone={() => setRevealed(undefined)} />
    </Card>
  );
}

interface RemoveButtonProps {
  readonly webhookId: string;
  readonly onRemoved: () => void;
}

function RemoveButton({ webhookId, onRemoved }: RemoveButtonProps) {
  const refresh = useRefresh();
  const toast = useToast();

  async function remove() {
    await api.webhooks.endpoints.update({ webhookId, secret: null });
    await refresh('webhooks');
    onRemoved();
    toast(webhookStrings.secretRemoved);
  }

  return (
    <ConfirmButton
      look="quiet"
      size="small"
      title={webhookStrings.removeSecretTitle}
      confirm={webhookStrings.removeSecret}
      onConfirm={remove}
    >
      {webhookStrings.removeSecretHint}
    </ConfirmButton>
  );
}

interface MadeSecretProps {
  readonly webhookId: string;
  readonly until: string;
  readonly onRevealed: (secret: string) => void;
}

/** Shows a secret that the server made. */
function MadeSecret({ webhookId, until, onRevealed }: MadeSecretProps) {
  const toast = useToast();
  const reveal = useMutation({
    mutationFn: () => api.webhooks.endpoints.revealSecret({ webhookId }),
    onSuccess: ({ secret }) => onRevealed(secret),
    onError: (error) => toast(errorText(error), 'bad'),
  });

  return (
    <Notice tone="info">
      <p>
        {webhookStrings.madeByServer} <Time at={until} />.
      </p>
      <Button className="mt-2" size="small" busy={reveal.isPending} onClick={() => reveal.mutate()}>
        {webhookStrings.showSecret}
      </Button>
    </Notice>
  );
}

function Examples({ webhookUrl }: Pick<Signed, 'webhookUrl'>) {
  return (
    <div>
      <h3 className="text-sm font-medium">{webhookStrings.verify}</h3>
      <p className="mb-2 text-sm text-ink-faint">{webhookStrings.verifyHint}</p>
      <CodeSnippets label={webhookStrings.verifySnippets} snippets={[...receiverSnippets, curlSnippet(webhookUrl)]} />
    </div>
  );
}

/** For a secret that can be read again. */
const revealedStrings = {
  ...webhookStrings,
  secretTitle: webhookStrings.revealedTitle,
  secretDescription: webhookStrings.revealedDescription,
  secretSaved: webhookStrings.closeSecret,
};

function ReplaceForm({
  webhookId,
  hasSecret,
  onCancel,
  onReplaced,
}: Pick<Signed, 'webhookId' | 'hasSecret'> & {
  readonly onCancel: () => void;
  readonly onReplaced: (secret: string, bothUntil: string | null) => void;
}) {
  const [secret, setSecret] = useState(newSecret);
  const [grace, setGrace] = useState<string>('86400');
  const refresh = useRefresh();
  const toast = useToast();
  const replace = useMutation({
    mutationFn: () => api.webhooks.endpoints.rotateSecret({ webhookId, secret, graceSeconds: Number(grace) }),
    onSuccess: ({ previousSecretValidUntil }) => {
      void refresh('webhooks');
      toast(webhookStrings.rotated);
      onReplaced(secret, previousSecretValidUntil);
    },
  });

  return (
    <Form
      submit={hasSecret ? webhookStrings.rotate : webhookStrings.setSecret}
      error={replace.error}
      fields={['secret']}
      busy={replace.isPending}
      onCancel={onCancel}
      onSubmit={() => replace.mutate()}
    >
      <SecretField
        label={webhookStrings.newSecret}
        hint={webhookStrings.secretHint}
        error={fieldError(replace.error, 'secret')}
        value={secret}
        onChange={setSecret}
      />
      {hasSecret && (
        <SelectField
          label={webhookStrings.grace}
          options={webhookStrings.graces}
          value={grace}
          onChange={(event) => setGrace(event.currentTarget.value)}
        />
      )}
    </Form>
  );
}
