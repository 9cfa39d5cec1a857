import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, errorText, fieldError } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { CodeSnippets } from '../../components/codeSnippet.tsx';
import { Actions, Dialog, Question } from '../../components/dialog.tsx';
import { SelectField } from '../../components/field.tsx';
import { Lamp } from '../../components/lamp.tsx';
import { Card } from '../../components/layout.tsx';
import { Notice } from '../../components/notice.tsx';
import { Time } from '../../components/time.tsx';
import { useToast } from '../../components/toast.tsx';
import { words } from '../../strings/shared.ts';
import { webhookWords } from '../../strings/webhooks.ts';
import { KeepSecret } from './keepSecret.tsx';
import { newSecret, SecretField } from './secretField.tsx';
import { curlSnippet, receiverSnippets } from './snippets.ts';

interface Signed {
  readonly webhookId: string;
  readonly webhookUrl: string;
  readonly hasSecret: boolean;
}

/** The secret of a webhook: whether there is one, how it is replaced, and how a receiver checks what it signs. */
export function SigningCard({ webhookId, webhookUrl, hasSecret }: Signed) {
  const [open, setOpen] = useState<'replace' | 'remove'>();
  const [kept, setKept] = useState<string>();
  const [bothUntil, setBothUntil] = useState<string | null>(null);
  const queries = useQueryClient();
  const toast = useToast();

  async function remove() {
    await api.webhooks.endpoints.update({ webhookId, secret: null });
    await queries.invalidateQueries({ queryKey: ['webhooks'] });
    setBothUntil(null);
    toast(webhookWords.secretRemoved);
  }

  return (
    <Card
      title={webhookWords.signing}
      actions={
        <>
          {hasSecret && (
            <Button size="small" look="quiet" onClick={() => setOpen('remove')}>
              {webhookWords.removeSecret}
            </Button>
          )}
          <Button size="small" onClick={() => setOpen('replace')}>
            {hasSecret ? webhookWords.rotate : webhookWords.setSecret}
          </Button>
        </>
      }
    >
      <div className="grid grid-cols-1 gap-5">
        {hasSecret ? (
          <Lamp tone="good">{webhookWords.hasSecret}</Lamp>
        ) : (
          <Notice tone="warn">{webhookWords.hasNoSecret}</Notice>
        )}
        {bothUntil !== null && (
          <p className="text-sm text-ink-soft">
            {webhookWords.bothUntil} <Time at={bothUntil} />.
          </p>
        )}
        <div>
          <h3 className="text-sm font-medium">{webhookWords.verify}</h3>
          <p className="mb-2 text-sm text-ink-faint">{webhookWords.verifyHint}</p>
          <CodeSnippets label={webhookWords.verifySnippets} snippets={[...receiverSnippets, curlSnippet(webhookUrl)]} />
        </div>
      </div>
      <Dialog
        title={hasSecret ? webhookWords.rotate : webhookWords.setSecret}
        description={hasSecret ? webhookWords.rotateHint : undefined}
        open={open === 'replace'}
        onOpenChange={() => setOpen(undefined)}
      >
        <ReplaceForm
          webhookId={webhookId}
          hasSecret={hasSecret}
          onCancel={() => setOpen(undefined)}
          onReplaced={(secret, until) => {
            setOpen(undefined);
            setKept(secret);
            setBothUntil(until);
          }}
        />
      </Dialog>
      <Question
        title={webhookWords.removeSecretTitle}
        confirm={webhookWords.removeSecret}
        open={open === 'remove'}
        onOpenChange={() => setOpen(undefined)}
        onConfirm={remove}
      >
        {webhookWords.removeSecretHint}
      </Question>
      <KeepSecret secret={kept} onDone={() => setKept(undefined)} />
    </Card>
  );
}

function ReplaceForm({
  webhookId,
  hasSecret,
  onCancel,
  onReplaced,
}: Omit<Signed, 'webhookUrl'> & {
  readonly onCancel: () => void;
  readonly onReplaced: (secret: string, bothUntil: string | null) => void;
}) {
  const [secret, setSecret] = useState(newSecret);
  const [grace, setGrace] = useState<string>('86400');
  const queries = useQueryClient();
  const toast = useToast();
  const replace = useMutation({
    mutationFn: () => api.webhooks.endpoints.rotateSecret({ webhookId, secret, graceSeconds: Number(grace) }),
    onSuccess: ({ previousSecretValidUntil }) => {
      void queries.invalidateQueries({ queryKey: ['webhooks'] });
      toast(webhookWords.rotated);
      onReplaced(secret, previousSecretValidUntil);
    },
  });

  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        replace.mutate();
      }}
    >
      {replace.error !== null && <Notice tone="bad">{errorText(replace.error)}</Notice>}
      <SecretField
        label={webhookWords.newSecret}
        hint={webhookWords.secretHint}
        error={fieldError(replace.error, 'secret')}
        value={secret}
        onChange={setSecret}
      />
      {hasSecret && (
        <SelectField
          label={webhookWords.grace}
          options={webhookWords.graces}
          value={grace}
          onChange={(event) => setGrace(event.currentTarget.value)}
        />
      )}
      <Actions>
        <Button onClick={onCancel}>{words.cancel}</Button>
        <Button type="submit" look="primary" busy={replace.isPending}>
          {hasSecret ? webhookWords.rotate : webhookWords.setSecret}
        </Button>
      </Actions>
    </form>
  );
}
