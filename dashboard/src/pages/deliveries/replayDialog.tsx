import type { WebhookEndpoint } from '@switchboard/sdk/api';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api, errorText } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { Actions, Dialog } from '../../components/dialog.tsx';
import { EventTypeField } from '../../components/eventTypeField.tsx';
import { CheckField, SelectField, TextField } from '../../components/field.tsx';
import { LocalTimeField } from '../../components/localTime.tsx';
import { Notice } from '../../components/notice.tsx';
import { duration } from '../../components/time.tsx';
import { useToast } from '../../components/toast.tsx';
import { deliveryWords } from '../../strings/deliveries.ts';
import { type EventType, eventTypes } from '../../strings/events.ts';
import { words } from '../../strings/shared.ts';
import type { DeliveryFilters } from './filters.ts';
import { shortUrl } from './webhookNames.ts';

const DAY_MS = 24 * 3_600_000;
/** What has not ended cannot be sent again. */
const replayable = ['failed', 'expired', 'delivered', 'cancelled'] as const;
type Replayable = (typeof replayable)[number];

interface ReplayProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly webhooks: readonly WebhookEndpoint[];
  /** Told what was replayed, as a filter of the log. */
  readonly onReplayed: (filters: DeliveryFilters) => void;
}

/** Sends a span of time again: it is counted first, and goes out only after a second look. */
export function ReplayDialog({ open, onOpenChange, webhooks, onReplayed }: ReplayProps) {
  return (
    <Dialog
      title={deliveryWords.replayTitle}
      description={deliveryWords.replayLead}
      open={open}
      onOpenChange={onOpenChange}
      width="wide"
    >
      <ReplayForm
        webhooks={webhooks}
        onCancel={() => onOpenChange(false)}
        onReplayed={(filters) => {
          onOpenChange(false);
          onReplayed(filters);
        }}
      />
    </Dialog>
  );
}

function ReplayForm({
  webhooks,
  onCancel,
  onReplayed,
}: Pick<ReplayProps, 'webhooks' | 'onReplayed'> & { readonly onCancel: () => void }) {
  const [from, setFrom] = useState<string | undefined>(() => new Date(Date.now() - DAY_MS).toISOString());
  const [to, setTo] = useState<string | undefined>(() => new Date(Date.now() + 60_000).toISOString());
  const [kinds, setKinds] = useState<readonly EventType[]>(eventTypes);
  const [states, setStates] = useState<readonly Replayable[]>(['failed', 'expired']);
  const [webhookId, setWebhookId] = useState('');
  const [perSecond, setPerSecond] = useState('100');
  const toast = useToast();
  const input = {
    from: from ?? '',
    to: to ?? '',
    kinds: [...kinds],
    states: [...states],
    perSecond: Number(perSecond),
    ...(webhookId !== '' && { webhookId }),
  };
  // The count is of exactly this: any change of the form makes it the count of something else.
  const asked = JSON.stringify(input);
  const count = useMutation({
    mutationFn: async () => ({ asked, ...(await api.webhooks.replay({ ...input, dryRun: true })) }),
  });
  const replay = useMutation({
    mutationFn: () => api.webhooks.replay(input),
    onSuccess: ({ replayed }) => {
      toast(deliveryWords.replayed(replayed));
      onReplayed({
        after: from,
        before: to,
        ...(webhookId !== '' && { webhookId }),
        ...(kinds.length === 1 && { event: kinds[0] }),
      });
    },
  });
  const counted = count.data?.asked === asked ? count.data.matched : undefined;
  const spanError = from !== undefined && to !== undefined && from >= to ? deliveryWords.wrongSpan : undefined;
  const error = replay.error ?? count.error;

  return (
    <form
      className="grid gap-5"
      onSubmit={(event) => {
        event.preventDefault();
        if (counted === undefined) count.mutate();
        else replay.mutate();
      }}
    >
      <div className="grid gap-4 wide:grid-cols-2">
        <LocalTimeField label={deliveryWords.after} required value={from} onChange={setFrom} />
        <LocalTimeField label={deliveryWords.before} required value={to} onChange={setTo} error={spanError} />
        <SelectField
          label={deliveryWords.webhook}
          options={[
            ['', deliveryWords.any],
            ...webhooks.map((webhook) => [webhook.webhookId, shortUrl(webhook.webhookUrl)] as const),
          ]}
          value={webhookId}
          onChange={(event) => setWebhookId(event.currentTarget.value)}
        />
        <TextField
          label={deliveryWords.perSecond}
          hint={deliveryWords.perSecondHint}
          type="number"
          min={1}
          max={10_000}
          required
          value={perSecond}
          onChange={(event) => setPerSecond(event.currentTarget.value)}
        />
      </div>
      <fieldset>
        <legend className="mb-2 text-sm font-medium">{deliveryWords.replayStates}</legend>
        <div className="flex flex-wrap gap-x-6 gap-y-2">
          {replayable.map((state) => (
            <CheckField
              key={state}
              label={deliveryWords.states[state]}
              checked={states.includes(state)}
              onChange={({ currentTarget: { checked } }) =>
                setStates(replayable.filter((one) => (one === state ? checked : states.includes(one))))
              }
            />
          ))}
        </div>
      </fieldset>
      <EventTypeField label={deliveryWords.replayKinds} value={kinds} onChange={setKinds} />
      <div aria-live="polite" className="empty:hidden">
        {error !== null && <Notice tone="bad">{errorText(error)}</Notice>}
        {error === null && counted !== undefined && (
          <Notice tone={counted === 0 ? 'info' : 'warn'}>
            {deliveryWords.counted(counted)}{' '}
            {counted > 0 && deliveryWords.lasts(duration((counted / Number(perSecond)) * 1000))}
          </Notice>
        )}
      </div>
      <Actions>
        <Button onClick={onCancel}>{words.cancel}</Button>
        <Button
          type="submit"
          look={counted === undefined ? 'secondary' : 'primary'}
          busy={count.isPending || replay.isPending}
          disabled={states.length === 0 || kinds.length === 0 || spanError !== undefined || counted === 0}
        >
          {counted === undefined ? deliveryWords.count : deliveryWords.replayNow(counted)}
        </Button>
      </Actions>
    </form>
  );
}
